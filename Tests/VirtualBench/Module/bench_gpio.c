// SPDX-License-Identifier: GPL-2.0-only
/* The lines, with edges as interrupts. */
#include "bench.h"

static const char *const names[UWB_BENCH_LINES] = {
	"uwb-irq", "uwb-ready", "uwb-awake", "uwb-power", "uwb-read", "uwb-wake",
};
static int get_direction(struct gpio_chip *gpio, unsigned int offset)
{
	return bench->outputs & BIT(offset) ? GPIO_LINE_DIRECTION_OUT : GPIO_LINE_DIRECTION_IN;
}

static int direction_input(struct gpio_chip *gpio, unsigned int offset)
{
	bench->outputs &= ~BIT(offset);
	return 0;
}

static int get_level(struct gpio_chip *gpio, unsigned int offset)
{
	return !!(READ_ONCE(bench->levels) & BIT(offset));
}

/* Returns whether it changed. */
static bool change(unsigned int offset, bool high)
{
	unsigned long flags;
	bool changed;

	spin_lock_irqsave(&bench->lock, flags);
	changed = !!(bench->levels & BIT(offset)) != high;
	if (high)
		bench->levels |= BIT(offset);
	else
		bench->levels &= ~BIT(offset);
	spin_unlock_irqrestore(&bench->lock, flags);
	return changed;
}

static void set_level(struct gpio_chip *gpio, unsigned int offset, int value)
{
	struct uwb_bench_record record = { .kind = UWB_BENCH_LINE, .line = offset, .level = !!value };

	record.time_ns = ktime_get_ns();
	if (change(offset, value))
		bench_tell(&record, NULL);
}

static int direction_output(struct gpio_chip *gpio, unsigned int offset, int value)
{
	bench->outputs |= BIT(offset);
	set_level(gpio, offset, value);
	return 0;
}

static void irq_mask(struct irq_data *data)
{
	bench->masked |= BIT(irqd_to_hwirq(data));
	gpiochip_disable_irq(&bench->gpio, irqd_to_hwirq(data));
}

static void irq_unmask(struct irq_data *data)
{
	gpiochip_enable_irq(&bench->gpio, irqd_to_hwirq(data));
	bench->masked &= ~BIT(irqd_to_hwirq(data));
}

static int irq_set_type(struct irq_data *data, unsigned int type)
{
	u32 bit = BIT(irqd_to_hwirq(data));

	bench->rising = type & IRQ_TYPE_EDGE_RISING ? bench->rising | bit : bench->rising & ~bit;
	bench->falling = type & IRQ_TYPE_EDGE_FALLING ? bench->falling | bit : bench->falling & ~bit;
	return type & IRQ_TYPE_LEVEL_MASK ? -EINVAL : 0;
}

static const struct irq_chip interrupts = {
	.name = "uwb-bench",
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

	if ((bench->masked & bit) || !((high ? bench->rising : bench->falling) & bit))
		return;
	/* As from an interrupt of hardware. */
	local_irq_save(flags);
	generic_handle_domain_irq(bench->gpio.irq.domain, offset);
	local_irq_restore(flags);
}

void bench_drive(unsigned int offset, u32 level)
{
	/* Nothing else runs between the two edges of a pulse. */
	preempt_disable();
	if (level & UWB_BENCH_PULSE) {
		if (change(offset, true))
			edge(offset, true);
		if (change(offset, false))
			edge(offset, false);
	} else if (change(offset, level & UWB_BENCH_HIGH) && !(level & UWB_BENCH_SILENT)) {
		edge(offset, level & UWB_BENCH_HIGH);
	}
	preempt_enable();
}

int bench_add_gpio(struct device *parent)
{
	struct gpio_irq_chip *irq = &bench->gpio.irq;

	bench->gpio = (struct gpio_chip){
		.label = "uwb-bench", .parent = parent, .owner = THIS_MODULE, .base = -1,
		.ngpio = UWB_BENCH_LINES, .names = names, .get_direction = get_direction,
		.direction_input = direction_input, .direction_output = direction_output,
		.get = get_level, .set = set_level,
	};
	gpio_irq_chip_set_chip(irq, &interrupts);
	irq->handler = handle_simple_irq;
	irq->default_type = IRQ_TYPE_NONE;
	return devm_gpiochip_add_data(parent, &bench->gpio, bench);
}
