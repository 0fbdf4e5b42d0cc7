// SPDX-License-Identifier: GPL-2.0-only
/* /dev/uwb-far: where the far side is. */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "far.h"

struct note {
	struct list_head list;
	struct uwb_far_record record;
	u8 bytes[];
};

void far_tell(const struct uwb_far_record *record, const u8 *bytes)
{
	struct note *note = kmalloc(sizeof(*note) + record->length, GFP_ATOMIC);
	unsigned long flags;

	if (!note)
		return;
	note->record = *record;
	if (record->length)
		memcpy(note->bytes, bytes, record->length);
	spin_lock_irqsave(&far->lock, flags);
	if (far->is_open)
		list_add_tail(&note->list, &far->notes);
	else
		kfree(note);
	spin_unlock_irqrestore(&far->lock, flags);
	wake_up_interruptible(&far->readers);
}

/* Without a far side nobody drives the line: zeros. */
void far_ask(const struct uwb_far_record *record, const u8 *bytes, u32 wanted)
{
	reinit_completion(&far->answered);
	memset(far->answer, 0, wanted);
	far->wanted_length = wanted;
	WRITE_ONCE(far->wanted, true);
	far_tell(record, bytes);
	if (READ_ONCE(far->is_open))
		wait_for_completion_timeout(&far->answered, HZ);
	WRITE_ONCE(far->wanted, false);
}

static int far_open(struct inode *inode, struct file *file)
{
	unsigned long flags;
	int error = 0;

	spin_lock_irqsave(&far->lock, flags);
	if (far->is_open)
		error = -EBUSY;
	far->is_open = true;
	spin_unlock_irqrestore(&far->lock, flags);
	return error;
}

static int far_release(struct inode *inode, struct file *file)
{
	struct note *note, *next;
	unsigned long flags;

	spin_lock_irqsave(&far->lock, flags);
	far->is_open = false;
	list_for_each_entry_safe(note, next, &far->notes, list) {
		list_del(&note->list);
		kfree(note);
	}
	spin_unlock_irqrestore(&far->lock, flags);
	complete(&far->answered);
	return 0;
}

static ssize_t far_read(struct file *file, char __user *buffer, size_t count, loff_t *position)
{
	struct note *note;
	unsigned long flags;
	ssize_t length;

	if (!(file->f_flags & O_NONBLOCK) &&
	    wait_event_interruptible(far->readers, !list_empty(&far->notes)))
		return -ERESTARTSYS;
	spin_lock_irqsave(&far->lock, flags);
	note = list_first_entry_or_null(&far->notes, struct note, list);
	if (note)
		list_del(&note->list);
	spin_unlock_irqrestore(&far->lock, flags);
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

static ssize_t far_write(struct file *file, const char __user *buffer, size_t count, loff_t *position)
{
	struct uwb_far_record record;

	if (count < sizeof(record))
		return -EINVAL;
	if (copy_from_user(&record, buffer, sizeof(record)))
		return -EFAULT;
	if (record.length != count - sizeof(record) || record.length > UWB_FAR_MOST)
		return -EINVAL;
	if (record.kind == UWB_FAR_DRIVE && record.line < UWB_FAR_LINES) {
		far_drive(record.line, record.level);
		return count;
	}
	if (record.kind == UWB_FAR_OFFER || record.kind == UWB_FAR_STATE) {
		u8 *bytes = memdup_user(buffer + sizeof(record), record.length);
		int error;

		if (IS_ERR(bytes))
			return PTR_ERR(bytes);
		error = far_vendor_takes(&record, bytes);
		kfree(bytes);
		return error ? error : count;
	}
	if (record.kind != UWB_FAR_ANSWER || !READ_ONCE(far->wanted))
		return -EINVAL;
	if (copy_from_user(far->answer, buffer + sizeof(record), min(record.length, far->wanted_length)))
		return -EFAULT;
	complete(&far->answered);
	return count;
}

static __poll_t far_poll(struct file *file, poll_table *table)
{
	poll_wait(file, &far->readers, table);
	return EPOLLOUT | (list_empty(&far->notes) ? 0 : EPOLLIN);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = far_open,
	.release = far_release,
	.read = far_read,
	.write = far_write,
	.poll = far_poll,
};
static struct miscdevice node = { MISC_DYNAMIC_MINOR, "uwb-far", &operations };

int far_add_node(void)
{
	return misc_register(&node);
}

void far_remove_node(void)
{
	misc_deregister(&node);
}
