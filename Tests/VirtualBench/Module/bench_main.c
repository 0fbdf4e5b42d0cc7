// SPDX-License-Identifier: GPL-2.0-only
/*
 * A controller for SPI and a GPIO chip whose chip model is a program: the one that opens /dev/uwb-bench is
 * told of each selection of the chip and of each line the host sets, says what the chip answers, and
 * sets the chip's lines. Between it and the program under test is the kernel's own code for SPI,
 * spidev, GPIO and interrupts. With `vendor`, one of the vendors' character devices instead, with
 * their quirks. For tests in a virtual machine only.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "bench.h"

static char *chip = "sr150";
module_param(chip, charp, 0444);
MODULE_PARM_DESC(chip, "name of the SPI device");

static char *vendor = "";
module_param(vendor, charp, 0444);
MODULE_PARM_DESC(vendor, "srxxx, srxxx-long or uci: a vendor's device instead of SPI and GPIO");

struct bench *bench;
static struct platform_device *platform;

static int __init bench_init(void)
{
	int error = -ENOMEM;

	bench = kzalloc(sizeof(*bench), GFP_KERNEL);
	if (!bench)
		return -ENOMEM;
	bench->answer = kzalloc(UWB_BENCH_MOST, GFP_KERNEL);
	if (!bench->answer)
		goto free;
	spin_lock_init(&bench->lock);
	INIT_LIST_HEAD(&bench->notes);
	init_waitqueue_head(&bench->readers);
	init_completion(&bench->answered);
	platform = platform_device_register_simple("uwb-bench", PLATFORM_DEVID_NONE, NULL, 0);
	error = PTR_ERR_OR_ZERO(platform);
	if (error)
		goto free;
	error = bench_add_node();
	if (error)
		goto unregister;
	if (*vendor) {
		error = bench_add_vendor(vendor);
	} else {
		error = bench_add_gpio(&platform->dev);
		if (!error)
			error = bench_add_spi(&platform->dev, chip);
	}
	if (!error)
		return 0;
	bench_remove_node();
unregister:
	platform_device_unregister(platform);
free:
	kfree(bench->answer);
	kfree(bench);
	return error;
}

static void __exit bench_exit(void)
{
	bench_remove_vendor();
	bench_remove_node();
	platform_device_unregister(platform);
	kfree(bench->answer);
	kfree(bench);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("SPI controller and GPIO chip whose chip model is a program (test bench)");
