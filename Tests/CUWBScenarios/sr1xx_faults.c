// SPDX-License-Identifier: Apache-2.0
//
// NXP SR1xx: chips and hosts that misbehave.
#include <errno.h>

#include "host.h"
#include "../ChipModels/sr1xx_model.h"

#define LINES (1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READ)

static struct sr1xx_model chip;

static void open_chip(uint32_t longest) {
  chip_model_forget(&chip.base);
  sim_bus_reset(&bus, &chip.base);
  sr1xx_init(&chip, &bus.board);
  cuwb_spi_bus interface = sim_bus_interface(&bus, LINES);
  if (longest) interface.longest = longest;
  cuwb_result result = cuwb_open_spi_bus(interface, CUWB_SPI_SR1XX, CUWB_START_KEEP, &link);
  CHECK_EQUAL(result.outcome, CUWB_OK);
}

static void close_chip(void) {
  cuwb_link_close(link);
  CHECK(!bus.board.levels[CUWB_LINE_READ]);
}

// Every packet that the chip sends arrives.
static void take_packets(unsigned count, uint64_t delay_ns) {
  static uint8_t packet[300];
  for (unsigned i = 0; i < count; i++) {
    uint32_t length = make_packet(packet, 0x62, 0, 20, (uint8_t)i);
    chip_say(&chip.base, 0, packet, length, delay_ns);
    CHECK_EQUAL(read_packet(4000), CUWB_OK);
    CHECK(memcmp(memory, packet, length) == 0);
  }
}

// The host's GPIO reports no edge: the link has to use levels.
static void missed_edges(void) {
  open_chip(0);
  bus.is_deaf[CUWB_LINE_IRQ] = true;
  take_packets(20, 3 * MS);
  CHECK_EQUAL(chip.base.counts[CHIP_EARLY], 0);
  close_chip();
}

// The edge that announces a packet is missed by a reader that waits without a limit.
static void missed_announcement(void) {
  open_chip(0);
  bus.is_deaf[CUWB_LINE_IRQ] = true;
  chip_say(&chip.base, 0, status_ready, 5, 3 * MS);
  uint64_t begin = bus.board.now;
  CHECK_EQUAL(read_packet(-1), CUWB_OK);
  CHECK(bus.board.now - begin < 1000 * MS);
  close_chip();
}

// The chip does not detect RI. The host uses the level, reads zeros, and tries again.
static void read_indication_is_missed(void) {
  open_chip(0);
  chip_say(&chip.base, 0, status_ready, 5, 1 * MS);
  chip.base.faults[CHIP_DEAF_TO_RI].times = 2;
  expect(status_ready, sizeof(status_ready));
  CHECK_EQUAL(chip.base.counts[CHIP_EARLY], 2);
  expect_no_violations(&chip.base);
  CHECK(cuwb_link_get_stats(link).resynchronisations >= 2);
  CHECK_EQUAL(cuwb_link_get_stats(link).bytes_skipped, 8);
  close_chip();
}

static void gives_up(void) {
  open_chip(0);
  chip_say(&chip.base, 0, status_ready, 5, 1 * MS);
  chip.never_loads = true;
  uint64_t begin = bus.board.now;
  CHECK_EQUAL(read_packet(-1), CUWB_NO_ANSWER);
  CHECK(bus.board.now - begin < 4000 * MS);
  CHECK_EQUAL(sim_bus_selections(&bus), 0);
  close_chip();
}

// The packet loads late: the host lowers RI and tries again, and the packet is not lost.
static void loads_late(void) {
  open_chip(0);
  chip_say(&chip.base, 0, status_ready, 5, 1 * MS);
  chip.load_ns = 700 * MS;
  CHECK_EQUAL(read_packet(650), CUWB_TIMEOUT);
  chip.load_ns = 100 * US;
  expect(status_ready, sizeof(status_ready));
  CHECK_EQUAL(chip.base.counts[CHIP_EARLY], 0);
  close_chip();
}

// After the start of the firmware the bus reads FF, or zeros.
static void junk_after_the_start(void) {
  static const uint8_t ones[] = {0xFF, 0xFF, 0xFF, 0xFF};
  static const uint8_t zeros[] = {0x00, 0x00, 0x00, 0x00};
  open_chip(0);
  chip_say(&chip.base, 0, ones, 4, 1 * MS);
  chip_say(&chip.base, 0, zeros, 4, 1 * MS);
  chip_say(&chip.base, 0, ones, 4, 1 * MS);
  chip_say(&chip.base, 0, status_ready, 5, 1 * MS);

  expect(status_ready, sizeof(status_ready));
  CHECK_EQUAL(cuwb_link_get_stats(link).bytes_skipped, 12);
  CHECK_EQUAL(cuwb_link_get_stats(link).frames_read, 1);
  close_chip();
}

static void empty_packets(void) {
  static const uint8_t empty[] = {0x62, 0x00, 0x00, 0x00};
  open_chip(0);
  chip_say(&chip.base, 0, status_ready, 5, 1 * MS);
  chip_say(&chip.base, 0, empty, 4, 1 * MS);
  chip_say(&chip.base, 0, status_ready, 5, 1 * MS);
  expect(status_ready, sizeof(status_ready));
  expect(status_ready, sizeof(status_ready));
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  close_chip();
}

// Nothing drives MISO and IRQ is stuck: the host gives up.
static void stuck_irq(void) {
  open_chip(0);
  bus.board.levels[CUWB_LINE_IRQ] = true;
  uint64_t begin = bus.board.now;
  CHECK_EQUAL(read_packet(-1), CUWB_NO_ANSWER);
  CHECK(bus.board.now - begin < 10000 * MS);
  close_chip();
}

static void a_pulse_is_no_packet(void) {
  open_chip(0);
  chip_board_plan(&bus.board, 1 * MS, CUWB_LINE_IRQ, true);
  chip_board_plan(&bus.board, 1 * MS + 100, CUWB_LINE_IRQ, false);
  CHECK_EQUAL(read_packet(100), CUWB_TIMEOUT);
  CHECK_EQUAL(sim_bus_selections(&bus), 0);
  close_chip();
}

// The rest of a second pulse does not mean that the packet was read: RI stays until IRQ falls.
static void late_pulse(void) {
  open_chip(0);
  chip.pulses_late = true;
  take_packets(5, 1 * MS);
  expect_no_violations(&chip.base);
  CHECK_EQUAL(chip.base.counts[CHIP_EARLY], 0);
  close_chip();
}

static void irq_stays_high(void) {
  static uint8_t packet[300];
  open_chip(0);
  chip.keeps_irq = true;
  for (unsigned i = 0; i < 5; i++) {
    chip_say(&chip.base, 0, packet, make_packet(packet, 0x62, 0, 20, (uint8_t)i), 1 * MS);
  }
  for (unsigned i = 0; i < 5; i++) {
    uint32_t length = make_packet(packet, 0x62, 0, 20, (uint8_t)i);
    CHECK_EQUAL(read_packet(4000), CUWB_OK);
    CHECK(memcmp(memory, packet, length) == 0);
  }
  close_chip();
}

// A header that announces more bytes than any packet has.
static void impossible_length(void) {
  static uint8_t packet[4300];
  open_chip(0);
  chip_say(&chip.base, 0, status_ready, 5, 1 * MS);
  expect(status_ready, sizeof(status_ready));
  make_packet(packet, 0x62, 0x80, 4197, 1);
  chip_say(&chip.base, 0, packet, 4201, 1 * MS);
  CHECK_EQUAL(read_packet(-1), CUWB_NO_ANSWER);
  close_chip();
}

// spidev moves 4096 bytes unless its bufsiz was raised; NXP's packets have up to 4200.
static void bufsiz(void) {
  static uint8_t packet[4300];
  open_chip(4096);
  uint32_t length = make_packet(packet, 0x62, 0x80, 4096, 1);
  chip_say(&chip.base, 0, packet, length, 1 * MS);
  CHECK_EQUAL(read_packet(4000), CUWB_OK);
  CHECK(memcmp(memory, packet, length) == 0);
  length = make_packet(packet, 0x62, 0x80, 4097, 1);
  chip_say(&chip.base, 0, packet, length, 1 * MS);
  cuwb_result result = cuwb_read_frame(link, memory, sizeof(memory), 4000, &frame);
  CHECK_EQUAL(result.outcome, CUWB_FAILED);
  CHECK_EQUAL(result.error, EMSGSIZE);
  result = cuwb_write_frame(link, packet, 4097, 1000);
  CHECK_EQUAL(result.outcome, CUWB_FAILED);
  CHECK_EQUAL(result.error, EMSGSIZE);
  close_chip();
}

static void device_gone(void) {
  open_chip(0);
  chip_say(&chip.base, 0, status_ready, 5, 1 * MS);
  bus.refusal = ESHUTDOWN;
  CHECK_EQUAL(read_packet(-1), CUWB_GONE);
  const uint8_t command[] = {0x20, 0x02, 0x00, 0x00};
  CHECK_EQUAL(cuwb_write_frame(link, command, 4, 1000).outcome, CUWB_GONE);
  close_chip();
}

const struct scenario sr1xx_fault_scenarios[] = {
    {"SR1xx: edges are missed, levels suffice", missed_edges},
    {"SR1xx: the edge that announces a packet is missed", missed_announcement},
    {"SR1xx: RI is missed", read_indication_is_missed},
    {"SR1xx: a chip that never loads is given up", gives_up},
    {"SR1xx: a packet that loads late is not lost", loads_late},
    {"SR1xx: junk after the start of the firmware is dropped", junk_after_the_start},
    {"SR1xx: packets without contents are dropped", empty_packets},
    {"SR1xx: a stuck IRQ is given up", stuck_irq},
    {"SR1xx: a pulse of IRQ is no packet", a_pulse_is_no_packet},
    {"SR1xx: an edge from before the payload is no end", late_pulse},
    {"SR1xx: IRQ may stay high after a packet", irq_stays_high},
    {"SR1xx: an impossible length is given up", impossible_length},
    {"SR1xx: more than spidev moves", bufsiz},
    {"SR1xx: the controller goes away", device_gone},
    {0},
};
