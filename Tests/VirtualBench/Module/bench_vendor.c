// SPDX-License-Identifier: GPL-2.0-only
/* The vendors' character devices: what they have in common. */
#include "bench_vendor.h"

struct vendor bench_vendor;
static struct miscdevice *registered;

struct packet *bench_next_packet(size_t most, bool *too_long)
{
	struct packet *packet;
	unsigned long flags;

	*too_long = false;
	spin_lock_irqsave(&bench_vendor.lock, flags);
	packet = list_first_entry_or_null(&bench_vendor.packets, struct packet, list);
	if (packet && packet->length > most) {
		*too_long = true;
		packet = NULL;
	}
	if (packet)
		list_del(&packet->list);
	spin_unlock_irqrestore(&bench_vendor.lock, flags);
	return packet;
}

bool bench_has_packet(void)
{
	return !list_empty_careful(&bench_vendor.packets);
}

void bench_forget_packets(void)
{
	struct packet *packet;
	bool too_long;

	while ((packet = bench_next_packet(UWB_BENCH_MOST, &too_long)))
		kfree(packet);
}

void bench_tell_control(unsigned int number, unsigned long value)
{
	struct uwb_bench_record record = { .kind = UWB_BENCH_CONTROL, .line = number, .level = value };

	record.time_ns = ktime_get_ns();
	bench_tell(&record, NULL);
}

ssize_t bench_tell_written(const char __user *buffer, size_t count, bool waits)
{
	struct uwb_bench_record record = { .kind = UWB_BENCH_WRITTEN, .length = count };
	u8 *bytes;

	if (count == 0 || count > UWB_BENCH_MOST)
		return -EINVAL;
	bytes = memdup_user(buffer, count);
	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	record.time_ns = ktime_get_ns();
	if (waits)
		bench_ask(&record, bytes, 0);
	else
		bench_tell(&record, bytes);
	kfree(bytes);
	return count;
}

int bench_vendor_takes(const struct uwb_bench_record *record, const u8 *bytes)
{
	struct packet *packet;
	unsigned long flags;

	if (!registered)
		return -ENODEV;
	if (record->kind == UWB_BENCH_STATE) {
		WRITE_ONCE(bench_vendor.state, record->level);
		return 0;
	}
	packet = kmalloc(sizeof(*packet) + record->length, GFP_KERNEL);
	if (!packet)
		return -ENOMEM;
	packet->length = record->length;
	memcpy(packet->bytes, bytes, record->length);
	spin_lock_irqsave(&bench_vendor.lock, flags);
	list_add_tail(&packet->list, &bench_vendor.packets);
	spin_unlock_irqrestore(&bench_vendor.lock, flags);
	wake_up_interruptible(&bench_vendor.readers);
	return 0;
}

int bench_add_vendor(const char *kind)
{
	struct miscdevice *device;
	int error;

	spin_lock_init(&bench_vendor.lock);
	INIT_LIST_HEAD(&bench_vendor.packets);
	init_waitqueue_head(&bench_vendor.readers);
	bench_vendor.state = 1;
	bench_srxxx_takes_long = !strcmp(kind, "srxxx-long");
	if (!strcmp(kind, "uci"))
		device = &bench_uci;
	else if (!strcmp(kind, "srxxx") || bench_srxxx_takes_long)
		device = &bench_srxxx;
	else
		return -EINVAL;
	error = misc_register(device);
	if (!error)
		registered = device;
	return error;
}

void bench_remove_vendor(void)
{
	if (!registered)
		return;
	misc_deregister(registered);
	bench_forget_packets();
}
