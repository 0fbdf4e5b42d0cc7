// SPDX-License-Identifier: Apache-2.0
//
// NXP SR2xx.
#include <errno.h>

#include "host.h"
#include "../ChipModels/sr2xx_model.h"

#define LINES (1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_POWER)

static struct sr2xx_model chip;

static void open_chip(cuwb_start start) {
  chip_model_forget(&chip.base);
  sim_bus_reset(&bus, &chip.base);
  sr2xx_init(&chip, &bus.board);
  cuwb_spi_bus interface = sim_bus_interface(&bus, LINES);
  CHECK_EQUAL(cuwb_open_spi_bus(interface, CUWB_SPI_SR2XX, start, &link).outcome, CUWB_OK);
}

static void say(const uint8_t *bytes, uint32_t length, uint64_t in_ns) {
  chip_say(&chip.base, 0, bytes, length, in_ns);
}

static void close_chip(void) {
  cuwb_link_close(link);
  CHECK(bus.closed);
  expect_no_violations(&chip.base);
}

static void reads(void) {
  open_chip(CUWB_START_KEEP);
  say(status_ready, 5, 1 * MS);
  expect(status_ready, 5);
  CHECK_EQUAL(sim_bus_selections(&bus), 2);
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->length, 5);
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->first, 0xFF);
  CHECK_EQUAL(sim_bus_selection(&bus, 1)->length, 2);
  CHECK_EQUAL(sim_bus_selection(&bus, 1)->first, 0xFF);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  close_chip();
}

static void writes(void) {
  const uint8_t command[] = {0x20, 0x00, 0x00, 0x01, 0x00};
  open_chip(CUWB_START_KEEP);
  CHECK_EQUAL(cuwb_write_frame(link, command, 5, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(sim_bus_selections(&bus), 1);
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->length, 6);
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->first, 0x00);
  expect_written(&chip.base, command, 5);
  CHECK_EQUAL(cuwb_write_frame(link, command, 5, 1000).outcome, CUWB_OK);
  CHECK(sim_bus_selection(&bus, 1)->begin_ns >= sim_bus_selection(&bus, 0)->end_ns + 2 * MS);
  close_chip();
}

// The command is written at once although IRQ is high; then the packet is read.
static void writes_while_irq_is_high(void) {
  const uint8_t command[] = {0x20, 0x02, 0x00, 0x00};
  open_chip(CUWB_START_KEEP);
  say(status_ready, 5, 0);
  sim_bus_advance(&bus, bus.board.now + 1 * MS);
  CHECK_EQUAL(cuwb_write_frame(link, command, 4, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(sim_bus_selections(&bus), 1);
  CHECK_EQUAL(chip.base.received.count, 1);
  expect(status_ready, 5);
  close_chip();
}

static void read_all(bool deaf) {
  static uint8_t packet[4300];
  open_chip(CUWB_START_KEEP);
  bus.is_deaf[CUWB_LINE_IRQ] = deaf;
  for (unsigned i = 0; i < 60; i++) {
    bool wide = i % 7 == 0;
    say(packet, make_packet(packet, 0x62, wide ? 0x80 : 0, wide ? 1000 + i : 20 + i, (uint8_t)i),
        1 * MS);
  }
  for (unsigned i = 0; i < 60; i++) {
    bool wide = i % 7 == 0;
    uint32_t length = make_packet(packet, 0x62, wide ? 0x80 : 0, wide ? 1000 + i : 20 + i,
                                  (uint8_t)i);
    expect(packet, length);
  }
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  close_chip();
}

// IRQ is high again 28 us after a packet, before the host waits for its edge.
static void back_to_back(void) { read_all(false); }

static void without_edges(void) { read_all(true); }

static void spurious(void) {
  open_chip(CUWB_START_KEEP);
  chip_board_plan(&bus.board, 1 * MS, CUWB_LINE_IRQ, true);
  chip_board_plan(&bus.board, 1 * MS + 100, CUWB_LINE_IRQ, false);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  CHECK_EQUAL(sim_bus_selections(&bus), 0);
  close_chip();
}

static void resets(void) {
  open_chip(CUWB_START_CYCLE);
  CHECK_EQUAL(bus.count, 2);
  CHECK(!bus.entries[0].high && bus.entries[1].high);
  CHECK(bus.entries[1].begin_ns >= bus.entries[0].end_ns + 10 * MS);
  CHECK(bus.board.now >= bus.entries[1].end_ns + 50 * MS);
  close_chip();
}

static void stuck(void) {
  open_chip(CUWB_START_KEEP);
  bus.board.levels[CUWB_LINE_IRQ] = true;
  CHECK_EQUAL(read_packet(-1), CUWB_NO_ANSWER);
  // The only fault is that it reads while the chip offers nothing.
  chip.base.violation_count = 0;
  close_chip();
}

static void gone(void) {
  open_chip(CUWB_START_KEEP);
  say(status_ready, 5, 1 * MS);
  bus.refusal = ENODEV;
  bus.transfers_left = 1;
  CHECK_EQUAL(read_packet(-1), CUWB_GONE);
  close_chip();
}

const struct scenario sr2xx_scenarios[] = {
    {"SR2xx: FF, a dummy byte and the header; FF, a dummy byte and the payload", reads},
    {"SR2xx: 00 and the whole packet, 2 ms apart", writes},
    {"SR2xx: a write does not wait for a read", writes_while_irq_is_high},
    {"SR2xx: packets back to back", back_to_back},
    {"SR2xx: edges are missed, levels suffice", without_edges},
    {"SR2xx: a spurious interrupt is ignored", spurious},
    {"SR2xx: RSTN is low for 10 ms, then 50 ms pass", resets},
    {"SR2xx: a stuck IRQ is given up", stuck},
    {"SR2xx: the controller goes away in the middle of a packet", gone},
    {0},
};
