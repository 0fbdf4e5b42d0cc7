// SPDX-License-Identifier: GPL-2.0-only
/* The controller: each message is handed out as one selection of the chip. */
#include <linux/delay.h>
#include <linux/slab.h>

#include "bench.h"

static int move_message(struct spi_controller *controller, struct spi_message *message)
{
	struct uwb_bench_record record = { .kind = UWB_BENCH_SELECTED };
	struct spi_transfer *transfer;
	u32 at = 0;
	u8 *bytes = NULL;

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
	if (record.length > UWB_BENCH_MOST)
		goto end;
	message->status = -ENOMEM;
	bytes = kzalloc(record.length + 1, GFP_KERNEL);
	if (!bytes)
		goto end;
	list_for_each_entry(transfer, &message->transfers, transfer_list) {
		if (transfer->tx_buf)
			memcpy(bytes + at, transfer->tx_buf, transfer->len);
		at += transfer->len;
	}
	/* As long as a bus would take: 8 clocks for each byte, and the delays. */
	if (record.speed_hz)
		udelay(1 + (u64)record.length * 8 * 1000000 / record.speed_hz);
	bench_ask(&record, bytes, record.length);
	at = 0;
	list_for_each_entry(transfer, &message->transfers, transfer_list) {
		if (transfer->rx_buf)
			memcpy(transfer->rx_buf, bench->answer + at, transfer->len);
		at += transfer->len;
		spi_transfer_delay_exec(transfer);
	}
	message->actual_length = record.length;
	message->status = 0;
end:
	kfree(bytes);
	spi_finalize_current_message(controller);
	return 0;
}

int bench_add_spi(struct device *parent, const char *chip)
{
	struct spi_board_info info = { .max_speed_hz = 50000000, .mode = SPI_MODE_0 };
	int error;

	bench->controller = spi_alloc_master(parent, 0);
	if (!bench->controller)
		return -ENOMEM;
	bench->controller->bus_num = -1;
	bench->controller->num_chipselect = 1;
	bench->controller->mode_bits = SPI_CPOL | SPI_CPHA | SPI_CS_HIGH;
	bench->controller->bits_per_word_mask = SPI_BPW_MASK(8);
	bench->controller->transfer_one_message = move_message;
	error = devm_spi_register_controller(parent, bench->controller);
	if (error) {
		spi_controller_put(bench->controller);
		return error;
	}
	strscpy(info.modalias, chip, sizeof(info.modalias));
	bench->device = spi_new_device(bench->controller, &info);
	return bench->device ? 0 : -ENODEV;
}
