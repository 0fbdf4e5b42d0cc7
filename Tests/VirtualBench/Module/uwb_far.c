// SPDX-License-Identifier: GPL-2.0-only
/*
 * A controller for SPI and a GPIO chip whose far side is a program: whoever opens /dev/uwb-far is
 * told of each selection of the chip and of each line the host sets, says what the chip answers, and
 * sets the chip's lines. Between it and the program under test is the kernel's own code for SPI,
 * spidev, GPIO and interrupts. For tests in a virtual machine only.
 */
#include <linux/delay.h>
#include <linux/gpio/driver.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/spi/spi.h>

#include "uwb_far.h"

static char *chip = "sr150";
module_param(chip, charp, 0444);
MODULE_PARM_DESC(chip, "name of the SPI device");

struct note {
	struct list_head list;
	struct uwb_far_record record;
	u8 octets[];
};

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

static struct far *far;

/* ------------------------------------------------------------------ to the far side */

static void tell(const struct uwb_far_record *record, const u8 *octets)
{
	struct note *note = kmalloc(sizeof(*note) + record->length, GFP_ATOMIC);
	unsigned long flags;

	if (!note)
		return;
	note->record = *record;
	if (record->length)
		memcpy(note->octets, octets, record->length);
	spin_lock_irqsave(&far->lock, flags);
	if (far->is_open)
		list_add_tail(&note->list, &far->notes);
	else
		kfree(note);
	spin_unlock_irqrestore(&far->lock, flags);
	wake_up_interruptible(&far->readers);
}

/* ------------------------------------------------------------------ SPI */

static int move_message(struct spi_controller *controller, struct spi_message *message)
{
	struct uwb_far_record record = { .kind = UWB_FAR_SELECTED };
	struct spi_transfer *transfer;
	u32 at = 0;
	u8 *octets = NULL;

	list_for_each_entry(transfer, &message->transfers, transfer_list) {
		record.length += transfer->len;
		record.transfers++;
		record.speed_hz = transfer->speed_hz;
		if (transfer->delay.unit == SPI_DELAY_UNIT_USECS)
			record.delay_us = max_t(u32, record.delay_us, transfer->delay.value);
	}
	record.mode = message->spi->mode;
	record.time_ns = ktime_get_ns();
	message->status = -EMSGSIZE;
	if (record.length > UWB_FAR_MOST)
		goto end;
	message->status = -ENOMEM;
	octets = kzalloc(record.length + 1, GFP_KERNEL);
	if (!octets)
		goto end;
	list_for_each_entry(transfer, &message->transfers, transfer_list) {
		if (transfer->tx_buf)
			memcpy(octets + at, transfer->tx_buf, transfer->len);
		at += transfer->len;
	}
	reinit_completion(&far->answered);
	memset(far->answer, 0, record.length);
	far->wanted_length = record.length;
	WRITE_ONCE(far->wanted, true);
	tell(&record, octets);
	/* The bus takes its time: 8 clocks for each octet, and the delays. */
	if (record.speed_hz)
		udelay(1 + (u64)record.length * 8 * 1000000 / record.speed_hz);
	/* Without a far side nobody drives the line: zeros. */
	if (READ_ONCE(far->is_open))
		wait_for_completion_timeout(&far->answered, HZ);
	WRITE_ONCE(far->wanted, false);
	at = 0;
	list_for_each_entry(transfer, &message->transfers, transfer_list) {
		if (transfer->rx_buf)
			memcpy(transfer->rx_buf, far->answer + at, transfer->len);
		at += transfer->len;
		spi_transfer_delay_exec(transfer);
	}
	message->actual_length = record.length;
	message->status = 0;
end:
	kfree(octets);
	spi_finalize_current_message(controller);
	return 0;
}

/* ------------------------------------------------------------------ GPIO */

static int get_direction(struct gpio_chip *gpio, unsigned int offset)
{
	return far->outputs & BIT(offset) ? GPIO_LINE_DIRECTION_OUT : GPIO_LINE_DIRECTION_IN;
}

static int direction_input(struct gpio_chip *gpio, unsigned int offset)
{
	far->outputs &= ~BIT(offset);
	return 0;
}

static int get_level(struct gpio_chip *gpio, unsigned int offset)
{
	return !!(READ_ONCE(far->levels) & BIT(offset));
}

/* Returns whether it changed. */
static bool change(unsigned int offset, bool high)
{
	unsigned long flags;
	bool changed;

	spin_lock_irqsave(&far->lock, flags);
	changed = !!(far->levels & BIT(offset)) != high;
	if (high)
		far->levels |= BIT(offset);
	else
		far->levels &= ~BIT(offset);
	spin_unlock_irqrestore(&far->lock, flags);
	return changed;
}

static void set_level(struct gpio_chip *gpio, unsigned int offset, int value)
{
	struct uwb_far_record record = { .kind = UWB_FAR_LINE, .line = offset, .level = !!value };

	record.time_ns = ktime_get_ns();
	if (change(offset, value))
		tell(&record, NULL);
}

static int direction_output(struct gpio_chip *gpio, unsigned int offset, int value)
{
	far->outputs |= BIT(offset);
	set_level(gpio, offset, value);
	return 0;
}

static void irq_mask(struct irq_data *data)
{
	far->masked |= BIT(irqd_to_hwirq(data));
	gpiochip_disable_irq(&far->gpio, irqd_to_hwirq(data));
}

static void irq_unmask(struct irq_data *data)
{
	gpiochip_enable_irq(&far->gpio, irqd_to_hwirq(data));
	far->masked &= ~BIT(irqd_to_hwirq(data));
}

static int irq_set_type(struct irq_data *data, unsigned int type)
{
	u32 bit = BIT(irqd_to_hwirq(data));

	far->rising = type & IRQ_TYPE_EDGE_RISING ? far->rising | bit : far->rising & ~bit;
	far->falling = type & IRQ_TYPE_EDGE_FALLING ? far->falling | bit : far->falling & ~bit;
	return type & IRQ_TYPE_LEVEL_MASK ? -EINVAL : 0;
}

static const struct irq_chip interrupts = {
	.name = "uwb-far",
	.irq_mask = irq_mask,
	.irq_unmask = irq_unmask,
	.irq_set_type = irq_set_type,
	.flags = IRQCHIP_IMMUTABLE,
	GPIOCHIP_IRQ_RESOURCE_HELPERS,
};

static void drive(unsigned int offset, bool high)
{
	u32 bit = BIT(offset);
	unsigned long flags;

	if (!change(offset, high) || (far->masked & bit) || !((high ? far->rising : far->falling) & bit))
		return;
	/* As from an interrupt of hardware. */
	local_irq_save(flags);
	generic_handle_domain_irq(far->gpio.irq.domain, offset);
	local_irq_restore(flags);
}

/* ------------------------------------------------------------------ /dev/uwb-far */

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
		drive(record.line, record.level);
		return count;
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

/* ------------------------------------------------------------------ the module */

static const char *const names[UWB_FAR_LINES] = {
	"uwb-irq", "uwb-ready", "uwb-awake", "uwb-power", "uwb-read", "uwb-wake",
};
static struct platform_device *platform;

static int add_gpio(void)
{
	struct gpio_irq_chip *irq = &far->gpio.irq;

	far->gpio = (struct gpio_chip){
		.label = "uwb-far", .parent = &platform->dev, .owner = THIS_MODULE, .base = -1,
		.ngpio = UWB_FAR_LINES, .names = names, .get_direction = get_direction,
		.direction_input = direction_input, .direction_output = direction_output,
		.get = get_level, .set = set_level,
	};
	gpio_irq_chip_set_chip(irq, &interrupts);
	irq->handler = handle_simple_irq;
	irq->default_type = IRQ_TYPE_NONE;
	return devm_gpiochip_add_data(&platform->dev, &far->gpio, far);
}

static int add_spi(void)
{
	struct spi_board_info info = { .max_speed_hz = 50000000, .mode = SPI_MODE_0 };
	int error;

	far->controller = spi_alloc_master(&platform->dev, 0);
	if (!far->controller)
		return -ENOMEM;
	far->controller->bus_num = -1;
	far->controller->num_chipselect = 1;
	far->controller->mode_bits = SPI_CPOL | SPI_CPHA | SPI_CS_HIGH;
	far->controller->bits_per_word_mask = SPI_BPW_MASK(8);
	far->controller->transfer_one_message = move_message;
	error = devm_spi_register_controller(&platform->dev, far->controller);
	if (error) {
		spi_controller_put(far->controller);
		return error;
	}
	strscpy(info.modalias, chip, sizeof(info.modalias));
	far->device = spi_new_device(far->controller, &info);
	return far->device ? 0 : -ENODEV;
}

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
	/* devm_ needs a device with resources of its own; it has no driver. */
	error = misc_register(&node);
	if (!error)
		error = add_gpio();
	if (!error)
		error = add_spi();
	if (!error)
		return 0;
	platform_device_unregister(platform);
free:
	kfree(far->answer);
	kfree(far);
	return error;
}

static void __exit far_exit(void)
{
	misc_deregister(&node);
	platform_device_unregister(platform);
	kfree(far->answer);
	kfree(far);
}

module_init(far_init);
module_exit(far_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("SPI controller and GPIO chip whose far side is a program (test bench)");
