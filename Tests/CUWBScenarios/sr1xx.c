// SPDX-License-Identifier: Apache-2.0
//
// NXP SR1xx: normal operation.
#include <stdlib.h>

#include "host.h"
#include "../ChipModels/sr1xx_model.h"

#define LINES (1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READ | 1u << CUWB_LINE_POWER)

static struct sr1xx_model chip;

static void open_chip(cuwb_start start) {
  chip_model_forget(&chip.base);
  sim_bus_reset(&bus, &chip.base);
  sr1xx_init(&chip, &bus.board);
  cuwb_spi_bus interface = sim_bus_interface(&bus, LINES);
  cuwb_result result = cuwb_open_spi_bus(interface, CUWB_SPI_SR1XX, start, &link);
  CHECK_EQUAL(result.outcome, CUWB_OK);
}

static void close_chip(void) {
  cuwb_link_close(link);
  CHECK(bus.closed);
  CHECK(!bus.board.levels[CUWB_LINE_READ]);
  CHECK_EQUAL(chip.base.counts[CHIP_EARLY], 0);
  expect_no_violations(&chip.base);
}

static void reads_in_two_selections(void) {
  open_chip(CUWB_START_KEEP);
  chip_say(&chip.base, 0, status_ready, sizeof(status_ready), 1 * MS);
  uint64_t before = bus.board.now;
  expect(status_ready, sizeof(status_ready));
  CHECK(frame.received_ns > before && frame.received_ns <= bus.board.now);
  CHECK_EQUAL(sim_bus_selections(&bus), 2);
  const struct entry *header = sim_bus_selection(&bus, 0);
  const struct entry *payload = sim_bus_selection(&bus, 1);
  CHECK_EQUAL(header->length, 4);
  CHECK_EQUAL(payload->length, 1);
  CHECK_EQUAL(header->sent + payload->sent, 0);
  CHECK(header->levels[CUWB_LINE_READ] && payload->levels[CUWB_LINE_READ]);
  CHECK(header->levels[CUWB_LINE_IRQ]);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  close_chip();
}

// Lengths by the rules of the protocol: one byte, 16 bits announced by bit 7, 16 bits in data.
static void lengths(void) {
  static const struct {
    uint8_t first, second;
    uint32_t payload;
  } kinds[] = {
      {0x62, 0x00, 1},    {0x62, 0x00, 56},   {0x62, 0x00, 255}, {0x72, 0x00, 255},
      {0x69, 0x8A, 256},  {0x69, 0x8A, 4196}, {0x02, 0x00, 10},  {0x02, 0x00, 300},
      {0x02, 0x00, 4196}, {0x40, 0x02, 76},   {0x62, 0x80, 200},
  };
  static uint8_t packet[4300];
  open_chip(CUWB_START_KEEP);
  for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    uint32_t length = make_packet(packet, kinds[i].first, kinds[i].second, kinds[i].payload,
                                  (uint8_t)i);
    chip_say(&chip.base, 0, packet, length, 1 * MS);
    expect(packet, length);
  }
  CHECK_EQUAL(read_packet(0), CUWB_TIMEOUT);
  close_chip();
}

static void writes_in_two_selections(void) {
  open_chip(CUWB_START_KEEP);
  CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(sim_bus_selections(&bus), 2);
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->length, 4);
  CHECK_EQUAL(sim_bus_selection(&bus, 1)->length, 1);
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->heard, 0);
  CHECK(!sim_bus_selection(&bus, 0)->levels[CUWB_LINE_READ]);
  CHECK_EQUAL(chip.base.received.count, 1);
  expect_written(&chip.base, reset_command, 5);
  const uint8_t info[] = {0x20, 0x02, 0x00, 0x00};
  CHECK_EQUAL(cuwb_write_frame(link, info, 4, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(sim_bus_selections(&bus), 3);
  CHECK_EQUAL(chip.base.received.count, 2);
  CHECK_EQUAL(cuwb_link_get_stats(link).frames_written, 2);
  close_chip();
}

static void switches_on(void) {
  open_chip(CUWB_START_KEEP);
  for (unsigned i = 0; i < bus.count; i++) {
    CHECK(bus.entries[i].line != CUWB_LINE_POWER || bus.entries[i].high);
  }
  close_chip();

  open_chip(CUWB_START_CYCLE);
  uint64_t off = 0, on = 0;
  for (unsigned i = 0; i < bus.count; i++) {
    const struct entry *entry = &bus.entries[i];
    if (entry->is_selection || entry->line != CUWB_LINE_POWER) continue;
    if (!entry->high) off = entry->end_ns;
    if (entry->high) on = entry->begin_ns;
  }
  // Source: Google's driver: more than 80 us to be off, on within 950 us.
  CHECK(off > 0 && on > off + 80 * US);
  CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_OK);
  CHECK(sim_bus_selection(&bus, 0)->begin_ns > on + 950 * US);
  close_chip();
}

// The host reads offered packets before a command goes out, and none is lost.
static void reads_before_it_writes(void) {
  static uint8_t packet[300];
  open_chip(CUWB_START_KEEP);
  for (unsigned i = 0; i < 3; i++) {
    chip_say(&chip.base, 0, packet, make_packet(packet, 0x62, 0, 60, (uint8_t)i), 0);
  }
  sim_bus_advance(&bus, bus.board.now + 1 * MS);
  CHECK(bus.board.levels[CUWB_LINE_IRQ]);
  CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(chip.base.counts[CHIP_COLLISIONS], 0);
  CHECK_EQUAL(chip.base.received.count, 1);
  for (unsigned i = 0; i < 3; i++) {
    uint32_t length = make_packet(packet, 0x62, 0, 60, (uint8_t)i);
    expect(packet, length);
  }
  CHECK_EQUAL(read_packet(0), CUWB_TIMEOUT);
  close_chip();
}


// IRQ rises at any moment around a write: the command and the notification both arrive, once each.
static void irq_at_any_moment_of_a_write(void) {
  uint8_t expected[64];
  uint32_t length = make_packet(expected, 0x62, 0, 56, 9);
  for (uint64_t moment = 0; moment < 400 * US && !scenario_has_failed(); moment += 2 * US) {
    open_chip(CUWB_START_KEEP);
    chip.next_ns = moment;
    chip_say(&chip.base, 0, expected, length, moment);
    CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_OK);
    expect(expected, length);
    CHECK_EQUAL(chip.base.received.count, 1);
    CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
    close_chip();

    open_chip(CUWB_START_KEEP);
    chip.next_ns = moment;
    chip.base.faults[CHIP_MID_WRITE].times = 1;
    chip_say(&chip.base, 0, expected, length, 0);
    CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_OK);
    expect(expected, length);
    CHECK_EQUAL(chip.base.received.count, 1);
    CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
    close_chip();
  }
}

// The chip offers the next packet 28 us after the last one.
static void back_to_back(void) {
  static uint8_t packet[300];
  open_chip(CUWB_START_KEEP);
  for (unsigned i = 0; i < 100; i++) {
    chip_say(&chip.base, 0, packet, make_packet(packet, 0x62, 0, 20 + i, (uint8_t)i), 1 * MS);
  }
  for (unsigned i = 0; i < 100; i++) {
    uint32_t length = make_packet(packet, 0x62, 0, 20 + i, (uint8_t)i);
    expect(packet, length);
  }
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  CHECK_EQUAL(cuwb_link_get_stats(link).frames_read, 100);
  CHECK_EQUAL(cuwb_link_get_stats(link).resynchronisations, 0);
  close_chip();
}

// Commands collide with notifications in every way, and all of them arrive.
static void commands_against_notifications(void) {
  static uint8_t packet[300];
  uint32_t seed = 7;
  open_chip(CUWB_START_KEEP);
  unsigned said = 0, heard = 0, sent = 0;
  while (sent < 500 && !scenario_has_failed()) {
    seed = seed * 1664525 + 1013904223;
    chip.see_ns = (seed >> 8) % (40 * US);
    chip.load_ns = (seed >> 9) % (300 * US);
    chip.done_ns = (seed >> 10) % (100 * US);
    chip.next_ns = (seed >> 11) % (200 * US);
    for (unsigned i = 0; i < (seed >> 20) % 4; i++) {
      uint32_t length = make_packet(packet, 0x62, 0, 1 + said % 200, (uint8_t)said);
      chip_say(&chip.base, 0, packet, length, (seed >> 7) % (500 * US));
      said++;
    }
    uint8_t command[32];
    uint32_t length = make_packet(command, 0x21, 0x00, 5 + sent % 20, (uint8_t)sent);
    CHECK_EQUAL(cuwb_write_frame(link, command, length, 1000).outcome, CUWB_OK);
    expect_written(&chip.base, command, length);
    CHECK_EQUAL(chip.base.received.count, ++sent);
    while (heard < said && (seed >> 30) != 0) {
      length = make_packet(packet, 0x62, 0, 1 + heard % 200, (uint8_t)heard);
      expect(packet, length);
      heard++;
    }
  }
  for (; heard < said; heard++) {
    uint32_t length = make_packet(packet, 0x62, 0, 1 + heard % 200, (uint8_t)heard);
    expect(packet, length);
  }
  CHECK_EQUAL(read_packet(100), CUWB_TIMEOUT);
  CHECK_EQUAL(cuwb_link_get_stats(link).bytes_skipped, 0);
  close_chip();
}

static void a_wake_ends_a_read(void) {
  open_chip(CUWB_START_KEEP);
  cuwb_link_wake(link);
  CHECK_EQUAL(cuwb_read_frame(link, memory, sizeof(memory), -1, &frame).outcome, CUWB_WOKEN);
  CHECK_EQUAL(read_packet(0), CUWB_TIMEOUT);
  chip_say(&chip.base, 0, status_ready, 5, 0);
  cuwb_link_wake(link);
  CHECK_EQUAL(cuwb_read_frame(link, memory, sizeof(memory), -1, &frame).outcome, CUWB_WOKEN);
  expect(status_ready, 5);
  close_chip();
}

static void too_long_for_the_memory(void) {
  static uint8_t packet[300];
  open_chip(CUWB_START_KEEP);
  uint32_t length = make_packet(packet, 0x62, 0, 200, 1);
  chip_say(&chip.base, 0, packet, length, 0);
  for (unsigned i = 0; i < 2; i++) {
    CHECK_EQUAL(cuwb_read_frame(link, memory, 100, 1000, &frame).outcome, CUWB_TOO_LONG);
    CHECK_EQUAL(frame.length, length);
  }
  expect(packet, length);
  close_chip();
}

static void lines_are_needed(void) {
  chip_model_forget(&chip.base);
  sim_bus_reset(&bus, &chip.base);
  sr1xx_init(&chip, &bus.board);
  cuwb_spi_bus interface = sim_bus_interface(&bus, 1u << CUWB_LINE_IRQ);
  cuwb_result result = cuwb_open_spi_bus(interface, CUWB_SPI_SR1XX, CUWB_START_KEEP, &link);
  CHECK_EQUAL(result.outcome, CUWB_INVALID);
  CHECK(!bus.closed);
}

const struct scenario sr1xx_scenarios[] = {
    {"SR1xx: header and payload are read in a selection each, with RI high",
     reads_in_two_selections},
    {"SR1xx: every kind of length", lengths},
    {"SR1xx: header and payload are written in a selection each, 30 us apart",
     writes_in_two_selections},
    {"SR1xx: CE is left alone, or low for 80 us and high for 950 us", switches_on},
    {"SR1xx: what the chip offers is read before a command is written", reads_before_it_writes},
    {"SR1xx: IRQ may rise at any moment of a write", irq_at_any_moment_of_a_write},
    {"SR1xx: packets back to back", back_to_back},
    {"SR1xx: 500 commands among notifications", commands_against_notifications},
    {"SR1xx: a wake ends a read", a_wake_ends_a_read},
    {"SR1xx: a packet too long for the memory stays", too_long_for_the_memory},
    {"SR1xx: without RI the link is not opened", lines_are_needed},
    {0},
};
