// SPDX-License-Identifier: GPL-2.0-only
/*
 * A controller for SPI and a GPIO chip whose far side is a program: whoever opens /dev/uwb-far is
 * told of each selection of the chip and of each line the host sets, says what the chip answers, and
 * sets the chip's lines. Between it and the program under test is the kernel's own code for SPI,
 * spidev, GPIO and interrupts. With `vendor`, one of the vendors' character devices instead, with
 * their quirks. For tests in a virtual machine only.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "far.h"

static char *chip = "sr150";
module_param(chip, charp, 0444);
MODULE_PARM_DESC(chip, "name of the SPI device");

static char *vendor = "";
module_param(vendor, charp, 0444);
MODULE_PARM_DESC(vendor, "srxxx, srxxx-long or uci: a vendor's device instead of SPI and GPIO");

struct far *far;
static struct platform_device *platform;

static int __init far_init(void)
{
	int error = -ENOMEM;

	far = kzalloc(sizeof(*far), GFP_KERNEL);
	if (!far)
		return -ENOMEM;
	far->answer = kzalloc(UWB_FAR_MOST, GFP_KERNEL);
	if (!far->answer)
		goto free;
	spin_lock_init(&far->lock);
	INIT_LIST_HEAD(&far->notes);
	init_waitqueue_head(&far->readers);
	init_completion(&far->answered);
	platform = platform_device_register_simple("uwb-far", PLATFORM_DEVID_NONE, NULL, 0);
	error = PTR_ERR_OR_ZERO(platform);
	if (error)
		goto free;
	error = far_add_node();
	if (error)
		goto unregister;
	if (*vendor) {
		error = far_add_vendor(vendor);
	} else {
		error = far_add_gpio(&platform->dev);
		if (!error)
			error = far_add_spi(&platform->dev, chip);
	}
	if (!error)
		return 0;
	far_remove_node();
unregister:
	platform_device_unregister(platform);
free:
	kfree(far->answer);
	kfree(far);
	return error;
}

static void __exit far_exit(void)
{
	far_remove_vendor();
	far_remove_node();
	platform_device_unregister(platform);
	kfree(far->answer);
	kfree(far);
}

module_init(far_init);
module_exit(far_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("SPI controller and GPIO chip whose far side is a program (test bench)");
