// SPDX-License-Identifier: Apache-2.0
//
// Qorvo QM35: normal operation.
#include "host.h"
#include "../ChipModels/qm35_model.h"

#define LINES (1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READY)

static struct qm35_model chip;

static void open_chip(uint8_t lines, cuwb_start start) {
  chip_model_forget(&chip.base);
  sim_bus_reset(&bus, &chip.base);
  qm35_init(&chip, &bus.board);
  bus.board.levels[CUWB_LINE_READY] = bus.board.levels[CUWB_LINE_AWAKE] = true;
  cuwb_spi_bus interface = sim_bus_interface(&bus, lines);
  cuwb_result result = cuwb_open_spi_bus(interface, CUWB_SPI_HSSPI, start, &link);
  CHECK_EQUAL(result.outcome, CUWB_OK);
}

static void close_chip(void) {
  cuwb_link_close(link);
  CHECK(bus.closed);
  expect_no_violations(&chip.base);
}

static void preread_then_read(void) {
  open_chip(LINES, CUWB_START_KEEP);
  chip_say(&chip.base, 2, status_ready, 5, 1 * MS);
  expect(status_ready, 5);
  CHECK_EQUAL(sim_bus_selections(&bus), 2);
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->length, 4);
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->first, 0x40);
  CHECK_EQUAL(sim_bus_selection(&bus, 1)->length, 9);
  CHECK_EQUAL(sim_bus_selection(&bus, 1)->first, 0x20);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  close_chip();
}

static void several_packets_in_a_block(void) {
  static uint8_t block[2048];
  open_chip(LINES, CUWB_START_KEEP);
  uint32_t first = make_packet(block, 0x62, 0, 56, 1);
  uint32_t second = make_packet(block + first, 0x02, 0, 300, 2);
  uint32_t third = make_packet(block + first + second, 0x60, 1, 1, 3);
  chip_say(&chip.base, 2, block, first + second + third, 1 * MS);
  expect(block, first);
  expect(block + first, second);
  expect(block + first + second, third);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  CHECK_EQUAL(sim_bus_selections(&bus), 2);
  close_chip();
}

static void reads_while_there_is_more(void) {
  static uint8_t packet[300];
  open_chip(LINES, CUWB_START_KEEP);
  for (unsigned i = 0; i < 40; i++) {
    chip_say(&chip.base, 2, packet, make_packet(packet, 0x62, 0, 20 + i, (uint8_t)i), 1 * MS);
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
  CHECK_EQUAL(sim_bus_selections(&bus), 1);
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->length, 9);
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->first, 0x80);
  CHECK_EQUAL(chip.base.received.count, 1);
  expect_written(&chip.base, reset_command, 5);
  close_chip();
}

static void reads_after_a_write(void) {
  open_chip(LINES, CUWB_START_KEEP);
  chip_say(&chip.base, 2, status_ready, 5, 0);
  sim_bus_advance(&bus, bus.board.now + 1 * MS);
  CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(sim_bus_selections(&bus), 2);
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->first, 0xC0);
  CHECK_EQUAL(sim_bus_selection(&bus, 1)->first, 0x20);
  CHECK_EQUAL(chip.base.received.count, 1);
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
      chip_say(&chip.base, 2, packet, length, 100 * US);
      CHECK_EQUAL(cuwb_write_frame(link, packet, length, 1000).outcome, CUWB_OK);
      expect(packet, length);
    }
    CHECK_EQUAL(chip.base.received.count, 10);
    close_chip();
  }
}

static void other_layers(void) {
  uint8_t log[600] = {0};
  open_chip(LINES, CUWB_START_KEEP);
  chip_say(&chip.base, 4, log, sizeof(log), 1 * MS);
  chip_say(&chip.base, 2, status_ready, 5, 1 * MS);
  chip_say(&chip.base, 3, log, 7, 1 * MS);
  expect(status_ready, 5);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  CHECK_EQUAL(cuwb_link_get_stats(link).bytes_skipped, 607);
  close_chip();
}

static void resets(void) {
  open_chip(LINES | 1u << CUWB_LINE_POWER, CUWB_START_CYCLE);
  CHECK_EQUAL(bus.count, 2);
  CHECK(!bus.entries[0].high && bus.entries[1].high);
  CHECK(bus.entries[1].begin_ns >= bus.entries[0].end_ns + 2 * MS);
  CHECK(bus.board.now >= bus.entries[1].end_ns + 450 * MS);
  CHECK_EQUAL(chip.base.counts[CHIP_RESETS], 1);
  close_chip();
}

const struct scenario hsspi_scenarios[] = {
    {"HSSPI: a pre-read, then a read of what it announced", preread_then_read},
    {"HSSPI: several packets in one block", several_packets_in_a_block},
    {"HSSPI: reads while there is more", reads_while_there_is_more},
    {"HSSPI: header and packet are written in one selection", writes_in_one_selection},
    {"HSSPI: a write includes a pre-read", reads_after_a_write},
    {"HSSPI: there is no transfer before the chip is ready", waits_for_ready},
    {"HSSPI: other upper layers are skipped", other_layers},
    {"HSSPI: RESET is low for 2 ms, then 450 ms pass", resets},
    {0},
};
