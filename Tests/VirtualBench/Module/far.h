/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the module share. */
#ifndef FAR_H
#define FAR_H

#include <linux/completion.h>
#include <linux/gpio/driver.h>
#include <linux/platform_device.h>
#include <linux/spi/spi.h>

#include "uwb_far.h"

struct far {
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

extern struct far *far;

/* To the far side: a record, and bytes behind it. */
void far_tell(const struct uwb_far_record *record, const u8 *bytes);
/* From the far side: a line of the chip's. */
void far_drive(unsigned int offset, u32 level);
/* From the far side: a record for the vendor's device. */
int far_vendor_takes(const struct uwb_far_record *record, const u8 *bytes);
/* Hands a record to the far side and waits for UWB_FAR_ANSWER. */
void far_ask(const struct uwb_far_record *record, const u8 *bytes, u32 wanted);

int far_add_gpio(struct device *parent);
int far_add_spi(struct device *parent, const char *chip);
int far_add_vendor(const char *kind);
void far_remove_vendor(void);
int far_add_node(void);
void far_remove_node(void);

#endif
