// SPDX-License-Identifier: GPL-2.0-only
/* /dev/uwb-bench: the chip model's end. */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "bench.h"

struct note {
	struct list_head list;
	struct uwb_bench_record record;
	u8 bytes[];
};

void bench_tell(const struct uwb_bench_record *record, const u8 *bytes)
{
	struct note *note = kmalloc(sizeof(*note) + record->length, GFP_ATOMIC);
	unsigned long flags;

	if (!note)
		return;
	note->record = *record;
	if (record->length)
		memcpy(note->bytes, bytes, record->length);
	spin_lock_irqsave(&bench->lock, flags);
	if (bench->is_open)
		list_add_tail(&note->list, &bench->notes);
	else
		kfree(note);
	spin_unlock_irqrestore(&bench->lock, flags);
	wake_up_interruptible(&bench->readers);
}

/* Without a chip model nothing drives MISO: zeros. */
void bench_ask(const struct uwb_bench_record *record, const u8 *bytes, u32 wanted)
{
	reinit_completion(&bench->answered);
	memset(bench->answer, 0, wanted);
	bench->wanted_length = wanted;
	WRITE_ONCE(bench->wanted, true);
	bench_tell(record, bytes);
	if (READ_ONCE(bench->is_open))
		wait_for_completion_timeout(&bench->answered, HZ);
	WRITE_ONCE(bench->wanted, false);
}

static int bench_open(struct inode *inode, struct file *file)
{
	unsigned long flags;
	int error = 0;

	spin_lock_irqsave(&bench->lock, flags);
	if (bench->is_open)
		error = -EBUSY;
	bench->is_open = true;
	spin_unlock_irqrestore(&bench->lock, flags);
	return error;
}

static int bench_release(struct inode *inode, struct file *file)
{
	struct note *note, *next;
	unsigned long flags;

	spin_lock_irqsave(&bench->lock, flags);
	bench->is_open = false;
	list_for_each_entry_safe(note, next, &bench->notes, list) {
		list_del(&note->list);
		kfree(note);
	}
	spin_unlock_irqrestore(&bench->lock, flags);
	complete(&bench->answered);
	return 0;
}

static ssize_t bench_read(struct file *file, char __user *buffer, size_t count, loff_t *position)
{
	struct note *note;
	unsigned long flags;
	ssize_t length;

	if (!(file->f_flags & O_NONBLOCK) &&
	    wait_event_interruptible(bench->readers, !list_empty(&bench->notes)))
		return -ERESTARTSYS;
	spin_lock_irqsave(&bench->lock, flags);
	note = list_first_entry_or_null(&bench->notes, struct note, list);
	if (note)
		list_del(&note->list);
	spin_unlock_irqrestore(&bench->lock, flags);
	if (!note)
		return -EAGAIN;
	length = sizeof(note->record) + note->record.length;
	if (count < length)
		length = -EMSGSIZE;
	else if (copy_to_user(buffer, &note->record, length))
		length = -EFAULT;
	kfree(note);
	return length;
}

static ssize_t bench_write(struct file *file, const char __user *buffer, size_t count, loff_t *position)
{
	struct uwb_bench_record record;

	if (count < sizeof(record))
		return -EINVAL;
	if (copy_from_user(&record, buffer, sizeof(record)))
		return -EFAULT;
	if (record.length != count - sizeof(record) || record.length > UWB_BENCH_MOST)
		return -EINVAL;
	if (record.kind == UWB_BENCH_DRIVE && record.line < UWB_BENCH_LINES) {
		bench_drive(record.line, record.level);
		return count;
	}
	if (record.kind == UWB_BENCH_OFFER || record.kind == UWB_BENCH_STATE) {
		u8 *bytes = memdup_user(buffer + sizeof(record), record.length);
		int error;

		if (IS_ERR(bytes))
			return PTR_ERR(bytes);
		error = bench_vendor_takes(&record, bytes);
		kfree(bytes);
		return error ? error : count;
	}
	if (record.kind != UWB_BENCH_ANSWER || !READ_ONCE(bench->wanted))
		return -EINVAL;
	if (copy_from_user(bench->answer, buffer + sizeof(record), min(record.length, bench->wanted_length)))
		return -EFAULT;
	complete(&bench->answered);
	return count;
}

static __poll_t bench_poll(struct file *file, poll_table *table)
{
	poll_wait(file, &bench->readers, table);
	return EPOLLOUT | (list_empty(&bench->notes) ? 0 : EPOLLIN);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = bench_open,
	.release = bench_release,
	.read = bench_read,
	.write = bench_write,
	.poll = bench_poll,
};
static struct miscdevice node = { MISC_DYNAMIC_MINOR, "uwb-bench", &operations };

int bench_add_node(void)
{
	return misc_register(&node);
}

void bench_remove_node(void)
{
	misc_deregister(&node);
}
