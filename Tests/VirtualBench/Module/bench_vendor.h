/* SPDX-License-Identifier: GPL-2.0-only */
/* What the vendors' devices have in common. */
#ifndef BENCH_VENDOR_H
#define BENCH_VENDOR_H

#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "bench.h"

struct packet {
	struct list_head list;
	u32 length;
	u8 bytes[];
};

struct vendor {
	spinlock_t lock;		/* packets */
	struct list_head packets;
	wait_queue_head_t readers;
	u32 state;
};

extern struct vendor bench_vendor;
/* `takes_long`: the encoding of the requests. */
extern bool bench_srxxx_takes_long;
extern struct miscdevice bench_srxxx;
extern struct miscdevice bench_uci;

/* The next packet, if it fits into this many bytes; NULL with *too_long, or none. */
struct packet *bench_next_packet(size_t most, bool *too_long);
bool bench_has_packet(void);
void bench_forget_packets(void);
/* Copies what the host writes; an error or NULL for nothing. */
void bench_tell_control(unsigned int number, unsigned long value);
ssize_t bench_tell_written(const char __user *buffer, size_t count, bool waits);

#endif
