// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/srxxx as NXP's drivers behave: requests in one encoding with the argument by value; no poll;
 * reads that return every packet that fits into 4200 bytes, whatever their size; nothing
 * is read before the loader mode was entered and left; a request that unblocks the reader.
 */
#include "bench_vendor.h"

#define MOST 4200

bool bench_srxxx_takes_long;
static bool is_loading, has_loaded, is_aborted;

static long control(struct file *file, unsigned int request, unsigned long value)
{
	size_t size = bench_srxxx_takes_long ? sizeof(long) : sizeof(u32);

	if (_IOC_TYPE(request) != 0xEA || _IOC_DIR(request) != _IOC_WRITE ||
	    _IOC_SIZE(request) != size)
		return -EINVAL;
	switch (_IOC_NR(request)) {
	case 1:
		if (value > 2)
			return -EINVAL;
		if (value == 2) {
			is_aborted = true;
			has_loaded = false;
		} else if (value == 0) {
			bench_forget_packets();
			is_loading = has_loaded = false;
		}
		break;
	case 2:
		if (value > 1)
			return -EINVAL;
		is_aborted = false;
		if (!value && is_loading)
			has_loaded = true;
		is_loading = value;
		break;
	default:
		return -EINVAL;
	}
	bench_tell_control(_IOC_NR(request), value);
	wake_up_interruptible(&bench_vendor.readers);
	return 0;
}

/* The loader's answers: as many bytes as were asked for, after one IRQ. */
static ssize_t read_loader(char __user *buffer, size_t count)
{
	struct packet *packet;
	bool too_long;
	ssize_t length;

	length = wait_event_interruptible_timeout(bench_vendor.readers, bench_has_packet(), HZ / 2);
	if (length <= 0)
		return length ? length : -EIO;
	packet = bench_next_packet(UWB_BENCH_MOST, &too_long);
	if (!packet)
		return -EIO;
	length = copy_to_user(buffer, packet->bytes, min_t(size_t, count, packet->length)) ? -EFAULT : count;
	kfree(packet);
	return length;
}

static ssize_t read_packets(struct file *file, char __user *buffer, size_t count, loff_t *position)
{
	struct packet *packet;
	bool too_long;
	size_t length = 0;

	if (is_loading)
		return read_loader(buffer, count);
	if ((file->f_flags & O_NONBLOCK) && !bench_has_packet())
		return -EAGAIN;
	if (wait_event_interruptible(bench_vendor.readers,
				     is_aborted || (has_loaded && bench_has_packet())))
		return -ERESTARTSYS;
	if (is_aborted)
		return -EIO;
	while ((packet = bench_next_packet(MOST - length, &too_long))) {
		bool failed = copy_to_user(buffer + length, packet->bytes, packet->length);

		length += packet->length;
		kfree(packet);
		if (failed)
			return -EFAULT;
	}
	return length;
}

static ssize_t write_packet(struct file *file, const char __user *buffer, size_t count,
			    loff_t *position)
{
	return count > MOST ? -EINVAL : bench_tell_written(buffer, count, false);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.read = read_packets,
	.write = write_packet,
	.unlocked_ioctl = control,
};
struct miscdevice bench_srxxx = { MISC_DYNAMIC_MINOR, "srxxx", &operations };
