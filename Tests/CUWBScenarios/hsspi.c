// SPDX-License-Identifier: Apache-2.0
//
// Qorvo QM35 in good health.
#include "far_qm35.h"
#include "host.h"

#define LINES (1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READY)

static struct far_qm35 chip;

static void open_chip(uint8_t lines, cuwb_start start) {
  far_qm35_reset(&chip, &bench);
  cuwb_result result = cuwb_open_spi_bus(bench_bus(&bench, lines), CUWB_SPI_HSSPI, start, &link);
  CHECK_EQUAL(result.outcome, CUWB_OK);
}

static void close_chip(void) {
  cuwb_link_close(link);
  CHECK(bench.closed);
  CHECK_EQUAL(chip.hasty, 0);
  CHECK_EQUAL(chip.wrong_headers, 0);
}

static const uint8_t reset_command[] = {0x20, 0x00, 0x00, 0x01, 0x00};

static void preread_then_read(void) {
  open_chip(LINES, CUWB_START_KEEP);
  far_qm35_say(&chip, 2, status_ready, 5, 1 * MS);
  expect(status_ready, 5);
  CHECK_EQUAL(bench_selections(&bench), 2);
  CHECK_EQUAL(bench_selection(&bench, 0)->length, 4);
  CHECK_EQUAL(bench_selection(&bench, 0)->first, 0x40);
  CHECK_EQUAL(bench_selection(&bench, 1)->length, 9);
  CHECK_EQUAL(bench_selection(&bench, 1)->first, 0x20);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  close_chip();
}

static void several_packets_in_a_block(void) {
  static uint8_t block[2048];
  open_chip(LINES, CUWB_START_KEEP);
  uint32_t first = make_packet(block, 0x62, 0, 56, 1);
  uint32_t second = make_packet(block + first, 0x02, 0, 300, 2);
  uint32_t third = make_packet(block + first + second, 0x60, 1, 1, 3);
  far_qm35_say(&chip, 2, block, first + second + third, 1 * MS);
  expect(block, first);
  CHECK(cuwb_frame_buffered(link));
  expect(block + first, second);
  expect(block + first + second, third);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  CHECK_EQUAL(bench_selections(&bench), 2);
  close_chip();
}

static void reads_while_there_is_more(void) {
  static uint8_t packet[300];
  open_chip(LINES, CUWB_START_KEEP);
  for (unsigned i = 0; i < 40; i++) {
    far_qm35_say(&chip, 2, packet, make_packet(packet, 0x62, 0, 20 + i, (uint8_t)i), 1 * MS);
  }
  for (unsigned i = 0; i < 40; i++) {
    uint32_t length = make_packet(packet, 0x62, 0, 20 + i, (uint8_t)i);
    expect(packet, length);
  }
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  CHECK_EQUAL(cuwb_link_get_stats(link).resynchronisations, 0);
  close_chip();
}

static void writes_in_one_selection(void) {
  open_chip(LINES, CUWB_START_KEEP);
  CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(bench_selections(&bench), 1);
  CHECK_EQUAL(bench_selection(&bench, 0)->length, 9);
  CHECK_EQUAL(bench_selection(&bench, 0)->first, 0x80);
  CHECK_EQUAL(chip.command_count, 1);
  CHECK_EQUAL(chip.command_lengths[0], 5);
  CHECK(memcmp(chip.commands[0], reset_command, 5) == 0);
  close_chip();
}

static void reads_behind_a_write(void) {
  open_chip(LINES, CUWB_START_KEEP);
  far_qm35_say(&chip, 2, status_ready, 5, 0);
  bench_advance(&bench, bench.now + 1 * MS);
  CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(bench_selections(&bench), 2);
  CHECK_EQUAL(bench_selection(&bench, 0)->first, 0xC0);
  CHECK_EQUAL(bench_selection(&bench, 1)->first, 0x20);
  CHECK_EQUAL(chip.command_count, 1);
  CHECK(cuwb_frame_buffered(link));
  expect(status_ready, 5);
  close_chip();
}

// The line is high at first, low while the chip is busy, and high again when it is ready.
static void waits_for_ready(void) {
  static uint8_t packet[300];
  for (uint64_t busy = 0; busy < 200 * US; busy += 7 * US) {
    open_chip(LINES, CUWB_START_KEEP);
    chip.notice_ns = 10 * US;
    chip.busy_ns = busy + 1;
    for (unsigned i = 0; i < 10; i++) {
      uint32_t length = make_packet(packet, 0x62, 0, 20, (uint8_t)i);
      far_qm35_say(&chip, 2, packet, length, 100 * US);
      CHECK_EQUAL(cuwb_write_frame(link, packet, length, 1000).outcome, CUWB_OK);
      expect(packet, length);
    }
    CHECK_EQUAL(chip.command_count, 10);
    close_chip();
  }
}

static void other_layers(void) {
  uint8_t log[600] = {0};
  open_chip(LINES, CUWB_START_KEEP);
  far_qm35_say(&chip, 4, log, sizeof(log), 1 * MS);
  far_qm35_say(&chip, 2, status_ready, 5, 1 * MS);
  far_qm35_say(&chip, 3, log, 7, 1 * MS);
  expect(status_ready, 5);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  CHECK_EQUAL(cuwb_link_get_stats(link).bytes_skipped, 607);
  close_chip();
}

static void resets(void) {
  open_chip(LINES | 1u << CUWB_LINE_POWER, CUWB_START_CYCLE);
  CHECK_EQUAL(bench.count, 2);
  CHECK(!bench.entries[0].high && bench.entries[1].high);
  CHECK(bench.entries[1].begin_ns >= bench.entries[0].end_ns + 2 * MS);
  CHECK(bench.now >= bench.entries[1].end_ns + 450 * MS);
  CHECK_EQUAL(chip.resets, 1);
  close_chip();
}

const struct scenario hsspi_scenarios[] = {
    {"HSSPI: a pre-read, then a read of what it announced", preread_then_read},
    {"HSSPI: several packets in one block", several_packets_in_a_block},
    {"HSSPI: reads while there is more", reads_while_there_is_more},
    {"HSSPI: header and packet are written in one selection", writes_in_one_selection},
    {"HSSPI: a write takes a pre-read along", reads_behind_a_write},
    {"HSSPI: no transfer before the chip is ready", waits_for_ready},
    {"HSSPI: other upper layers are passed over", other_layers},
    {"HSSPI: RESET is low for 2 ms, then 450 ms pass", resets},
    {0},
};
