/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the module share. */
#ifndef BENCH_H
#define BENCH_H

#include <linux/completion.h>
#include <linux/gpio/driver.h>
#include <linux/platform_device.h>
#include <linux/spi/spi.h>

#include "uwb_bench.h"

struct bench {
	struct spi_controller *controller;
	struct spi_device *device;
	struct gpio_chip gpio;
	spinlock_t lock;		/* notes, levels, wanted */
	struct list_head notes;
	wait_queue_head_t readers;
	bool is_open;
	u32 levels, outputs, rising, falling, masked;
	struct completion answered;
	bool wanted;
	u32 wanted_length;
	u8 *answer;
};

extern struct bench *bench;

/* To the chip model: a record and the bytes after it. */
void bench_tell(const struct uwb_bench_record *record, const u8 *bytes);
/* From the chip model: a line of the chip's. */
void bench_drive(unsigned int offset, u32 level);
/* From the chip model: a record for the vendor's device. */
int bench_vendor_takes(const struct uwb_bench_record *record, const u8 *bytes);
/* Hands a record to the chip model and waits for UWB_BENCH_ANSWER. */
void bench_ask(const struct uwb_bench_record *record, const u8 *bytes, u32 wanted);

int bench_add_gpio(struct device *parent);
int bench_add_spi(struct device *parent, const char *chip);
int bench_add_vendor(const char *kind);
void bench_remove_vendor(void);
int bench_add_node(void);
void bench_remove_node(void);

#endif
