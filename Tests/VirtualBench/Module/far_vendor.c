// SPDX-License-Identifier: GPL-2.0-only
/* The vendors' character devices: what they have in common. */
#include "far_vendor.h"

struct vendor far_vendor;
static struct miscdevice *registered;

struct packet *far_next_packet(size_t most, bool *too_long)
{
	struct packet *packet;
	unsigned long flags;

	*too_long = false;
	spin_lock_irqsave(&far_vendor.lock, flags);
	packet = list_first_entry_or_null(&far_vendor.packets, struct packet, list);
	if (packet && packet->length > most) {
		*too_long = true;
		packet = NULL;
	}
	if (packet)
		list_del(&packet->list);
	spin_unlock_irqrestore(&far_vendor.lock, flags);
	return packet;
}

bool far_has_packet(void)
{
	return !list_empty_careful(&far_vendor.packets);
}

void far_forget_packets(void)
{
	struct packet *packet;
	bool too_long;

	while ((packet = far_next_packet(UWB_FAR_MOST, &too_long)))
		kfree(packet);
}

void far_tell_control(unsigned int number, unsigned long value)
{
	struct uwb_far_record record = { .kind = UWB_FAR_CONTROL, .line = number, .level = value };

	record.time_ns = ktime_get_ns();
	far_tell(&record, NULL);
}

ssize_t far_tell_written(const char __user *buffer, size_t count, bool waits)
{
	struct uwb_far_record record = { .kind = UWB_FAR_WRITTEN, .length = count };
	u8 *bytes;

	if (count == 0 || count > UWB_FAR_MOST)
		return -EINVAL;
	bytes = memdup_user(buffer, count);
	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	record.time_ns = ktime_get_ns();
	if (waits)
		far_ask(&record, bytes, 0);
	else
		far_tell(&record, bytes);
	kfree(bytes);
	return count;
}

int far_vendor_takes(const struct uwb_far_record *record, const u8 *bytes)
{
	struct packet *packet;
	unsigned long flags;

	if (!registered)
		return -ENODEV;
	if (record->kind == UWB_FAR_STATE) {
		WRITE_ONCE(far_vendor.state, record->level);
		return 0;
	}
	packet = kmalloc(sizeof(*packet) + record->length, GFP_KERNEL);
	if (!packet)
		return -ENOMEM;
	packet->length = record->length;
	memcpy(packet->bytes, bytes, record->length);
	spin_lock_irqsave(&far_vendor.lock, flags);
	list_add_tail(&packet->list, &far_vendor.packets);
	spin_unlock_irqrestore(&far_vendor.lock, flags);
	wake_up_interruptible(&far_vendor.readers);
	return 0;
}

int far_add_vendor(const char *kind)
{
	struct miscdevice *device;
	int error;

	spin_lock_init(&far_vendor.lock);
	INIT_LIST_HEAD(&far_vendor.packets);
	init_waitqueue_head(&far_vendor.readers);
	far_vendor.state = 1;
	far_srxxx_takes_long = !strcmp(kind, "srxxx-long");
	if (!strcmp(kind, "uci"))
		device = &far_uci;
	else if (!strcmp(kind, "srxxx") || far_srxxx_takes_long)
		device = &far_srxxx;
	else
		return -EINVAL;
	error = misc_register(device);
	if (!error)
		registered = device;
	return error;
}

void far_remove_vendor(void)
{
	if (!registered)
		return;
	misc_deregister(registered);
	far_forget_packets();
}
