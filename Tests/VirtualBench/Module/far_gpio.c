// SPDX-License-Identifier: GPL-2.0-only
/* The lines, with edges as interrupts. */
#include "far.h"

static const char *const names[UWB_FAR_LINES] = {
	"uwb-irq", "uwb-ready", "uwb-awake", "uwb-power", "uwb-read", "uwb-wake",
};
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
		far_tell(&record, NULL);
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

static void edge(unsigned int offset, bool high)
{
	u32 bit = BIT(offset);
	unsigned long flags;

	if ((far->masked & bit) || !((high ? far->rising : far->falling) & bit))
		return;
	/* As from an interrupt of hardware. */
	local_irq_save(flags);
	generic_handle_domain_irq(far->gpio.irq.domain, offset);
	local_irq_restore(flags);
}

void far_drive(unsigned int offset, u32 level)
{
	/* Nothing else runs between the two edges of a pulse. */
	preempt_disable();
	if (level & UWB_FAR_PULSE) {
		if (change(offset, true))
			edge(offset, true);
		if (change(offset, false))
			edge(offset, false);
	} else if (change(offset, level & UWB_FAR_HIGH) && !(level & UWB_FAR_SILENT)) {
		edge(offset, level & UWB_FAR_HIGH);
	}
	preempt_enable();
}

int far_add_gpio(struct device *parent)
{
	struct gpio_irq_chip *irq = &far->gpio.irq;

	far->gpio = (struct gpio_chip){
		.label = "uwb-far", .parent = parent, .owner = THIS_MODULE, .base = -1,
		.ngpio = UWB_FAR_LINES, .names = names, .get_direction = get_direction,
		.direction_input = direction_input, .direction_output = direction_output,
		.get = get_level, .set = set_level,
	};
	gpio_irq_chip_set_chip(irq, &interrupts);
	irq->handler = handle_simple_irq;
	irq->default_type = IRQ_TYPE_NONE;
	return devm_gpiochip_add_data(parent, &far->gpio, far);
}
