// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/uci0 as Qorvo's driver behaves: one packet for each read, which is kept when it does not fit;
 * a write waits until the chip has it; poll for input only; one opener.
 */
#include <linux/delay.h>

#include "bench_vendor.h"

enum { OFF = 1, READY = 8 };

static unsigned long openers;

static int open_one(struct inode *inode, struct file *file)
{
	return test_and_set_bit(0, &openers) ? -EBUSY : 0;
}

static int release(struct inode *inode, struct file *file)
{
	clear_bit(0, &openers);
	return 0;
}

static ssize_t read_packet(struct file *file, char __user *buffer, size_t count, loff_t *position)
{
	struct packet *packet;
	bool too_long;
	ssize_t length;

	if (!(file->f_flags & O_NONBLOCK) &&
	    wait_event_interruptible(bench_vendor.readers, bench_has_packet()))
		return -ERESTARTSYS;
	packet = bench_next_packet(count, &too_long);
	if (!packet)
		return too_long ? -EMSGSIZE : -EAGAIN;
	length = copy_to_user(buffer, packet->bytes, packet->length) ? -EFAULT : packet->length;
	kfree(packet);
	return length;
}

static ssize_t write_packet(struct file *file, const char __user *buffer, size_t count,
			    loff_t *position)
{
	return bench_tell_written(buffer, count, true);
}

static __poll_t poll(struct file *file, poll_table *table)
{
	poll_wait(file, &bench_vendor.readers, table);
	return bench_has_packet() ? EPOLLIN | EPOLLRDNORM : 0;
}

static void power(bool on)
{
	bench_forget_packets();
	WRITE_ONCE(bench_vendor.state, on ? READY : OFF);
	bench_tell_control(4, on);
}

static long control(struct file *file, unsigned int request, unsigned long value)
{
	unsigned int __user *place = (unsigned int __user *)value;
	unsigned int number;

	switch (request) {
	case _IOR('U', 1, unsigned int):
		power(false);
		msleep(2);
		power(true);
		msleep(450);
		return put_user(READ_ONCE(bench_vendor.state), place);
	case _IOR('U', 2, unsigned int):
		return put_user(READ_ONCE(bench_vendor.state), place);
	case _IOW('U', 4, unsigned int):
		if (get_user(number, place))
			return -EFAULT;
		power(number);
		return 0;
	default:
		return -EINVAL;
	}
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = open_one,
	.release = release,
	.read = read_packet,
	.write = write_packet,
	.poll = poll,
	.unlocked_ioctl = control,
};
struct miscdevice bench_uci = { MISC_DYNAMIC_MINOR, "uci0", &operations };
