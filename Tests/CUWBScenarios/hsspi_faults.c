// SPDX-License-Identifier: Apache-2.0
//
// Qorvo QM35 that is asleep, late, in its boot ROM or dead.
#include "far_qm35.h"
#include "host.h"

#define LINES (1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READY)

static struct far_qm35 chip;

static const uint8_t reset_command[] = {0x20, 0x00, 0x00, 0x01, 0x00};

static void open_chip(uint8_t lines) {
  far_qm35_reset(&chip, &bench);
  cuwb_spi_bus bus = bench_bus(&bench, lines);
  CHECK_EQUAL(cuwb_open_spi_bus(bus, CUWB_SPI_HSSPI, CUWB_START_KEEP, &link).outcome, CUWB_OK);
}

static void close_chip(void) {
  cuwb_link_close(link);
  CHECK_EQUAL(chip.hasty, 0);
  CHECK_EQUAL(chip.wrong_headers, 0);
}

static void fall_asleep(void) {
  chip.asleep = true;
  bench.levels[CUWB_LINE_READY] = false;
  bench.levels[CUWB_LINE_AWAKE] = false;
}

static void expect_written_once(void) {
  CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(chip.command_count, 1);
  CHECK(memcmp(chip.commands[0], reset_command, 5) == 0);
}

static void wakes_with_its_line(void) {
  open_chip(LINES | 1u << CUWB_LINE_AWAKE | 1u << CUWB_LINE_WAKE);
  fall_asleep();
  uint64_t begin = bench.now;
  expect_written_once();
  CHECK(bench.now - begin < 10 * MS);
  CHECK(!bench.levels[CUWB_LINE_WAKE]);
  close_chip();
}

static void wakes_with_a_selection(void) {
  open_chip(LINES | 1u << CUWB_LINE_AWAKE);
  fall_asleep();
  expect_written_once();
  CHECK_EQUAL(bench_selection(&bench, 0)->length, 0);
  close_chip();
}

// SS_RDY is high, and the chip answers nothing, with its ROM, or that it is not ready: again, and the
// command arrives once.
static void refusals(void) {
  static const uint8_t flags[] = {0x00, 0xFF, QM35_ODW, QM35_RDY | 0x01, QM35_RDY | 0x0F};
  for (unsigned i = 0; i < sizeof(flags); i++) {
    for (unsigned times = 1; times < 5; times++) {
      open_chip(LINES | 1u << CUWB_LINE_WAKE);
      chip.refused = times;
      chip.refusal = flags[i];
      expect_written_once();
      far_qm35_say(&chip, 2, status_ready, 5, 1 * MS);
      chip.refused = times;
      CHECK_EQUAL(read_packet(4000), CUWB_OK);
      CHECK(memcmp(memory, status_ready, 5) == 0);
      close_chip();
    }
  }
}

static void never_ready(void) {
  open_chip(LINES);
  bench.levels[CUWB_LINE_READY] = false;
  uint64_t begin = bench.now;
  CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_TIMEOUT);
  CHECK_EQUAL(bench_selections(&bench), 0);
  CHECK(bench.now - begin >= 5 * 250 * MS && bench.now - begin < 1300 * MS);
  close_chip();
}

// For less than 100 ns, as the boot ROM does it: the edge is latched and the level is low.
static void ready_for_a_moment(void) {
  open_chip(LINES);
  bench.levels[CUWB_LINE_READY] = false;
  bench_plan(&bench, 5 * MS, CUWB_LINE_READY, true);
  bench_plan(&bench, 5 * MS + 90, CUWB_LINE_READY, false);
  bench_plan(&bench, 30 * MS, CUWB_LINE_READY, true);
  uint64_t begin = bench.now;
  expect_written_once();
  CHECK(bench_selection(&bench, 0)->begin_ns >= begin + 30 * MS);
  close_chip();
}

static void late_for_the_preread(void) {
  open_chip(LINES);
  far_qm35_say(&chip, 2, status_ready, 5, 1 * MS);
  chip.late = 3;
  CHECK_EQUAL(read_packet(4000), CUWB_OK);
  CHECK_EQUAL(cuwb_link_get_stats(link).resynchronisations, 3);
  close_chip();
}

static void another_length(void) {
  open_chip(LINES);
  far_qm35_say(&chip, 2, status_ready, 5, 1 * MS);
  chip.lies = 2;
  CHECK_EQUAL(read_packet(4000), CUWB_OK);
  CHECK_EQUAL(frame.length, 5);
  CHECK_EQUAL(cuwb_link_get_stats(link).resynchronisations, 2);
  close_chip();
}

// More than five failures in a row: a reset; after three of them it is given up.
static void dead(void) {
  open_chip(LINES | 1u << CUWB_LINE_POWER);
  bench.levels[CUWB_LINE_POWER] = true;
  bench.levels[CUWB_LINE_IRQ] = true;
  chip.dead = true;
  chip.resets = 0;
  CHECK_EQUAL(read_packet(-1), CUWB_NO_ANSWER);
  CHECK_EQUAL(chip.resets, 3);
  close_chip();

  open_chip(LINES);
  bench.levels[CUWB_LINE_IRQ] = true;
  chip.dead = true;
  CHECK_EQUAL(read_packet(-1), CUWB_NO_ANSWER);
  close_chip();
}

static void comes_back_from_a_reset(void) {
  open_chip(LINES | 1u << CUWB_LINE_POWER);
  bench.levels[CUWB_LINE_POWER] = true;
  far_qm35_say(&chip, 2, status_ready, 5, 1 * MS);
  chip.resets = 0;
  // Six failures of five tries each.
  chip.refused = 30;
  CHECK_EQUAL(read_packet(-1), CUWB_OK);
  CHECK_EQUAL(chip.resets, 1);
  CHECK(memcmp(memory, status_ready, 5) == 0);
  close_chip();
}

// The end of a block that is no packet.
static void remainder(void) {
  uint8_t block[64];
  open_chip(LINES);
  uint32_t length = make_packet(block, 0x62, 0, 20, 1);
  memcpy(block + length, "\x62\x00\x00\x38\x01", 5);
  far_qm35_say(&chip, 2, block, length + 5, 1 * MS);
  CHECK_EQUAL(read_packet(4000), CUWB_OK);
  CHECK_EQUAL(frame.length, length);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  CHECK_EQUAL(cuwb_link_get_stats(link).bytes_skipped, 5);
  close_chip();
}

const struct scenario hsspi_fault_scenarios[] = {
    {"HSSPI: a chip that sleeps is woken with WAKEUP", wakes_with_its_line},
    {"HSSPI: a chip that sleeps is woken by selecting it", wakes_with_a_selection},
    {"HSSPI: refused selections are tried again, and arrive once", refusals},
    {"HSSPI: a chip that is never ready is not sent anything", never_ready},
    {"HSSPI: ready for less than 100 ns is not ready", ready_for_a_moment},
    {"HSSPI: a pre-read may come too early", late_for_the_preread},
    {"HSSPI: a read has to carry what was announced", another_length},
    {"HSSPI: a dead chip is reset three times and given up", dead},
    {"HSSPI: a reset helps", comes_back_from_a_reset},
    {"HSSPI: what is left of a block is dropped", remainder},
    {0},
};
