// SPDX-License-Identifier: Apache-2.0
//
// Qorvo QM35 that is asleep, late, in its boot ROM, or dead.
#include "host.h"
#include "../ChipModels/qm35_model.h"

#define LINES (1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READY)

static struct qm35_model chip;

static void open_chip(uint8_t lines) {
  chip_model_forget(&chip.base);
  sim_bus_reset(&bus, &chip.base);
  qm35_init(&chip, &bus.board);
  bus.board.levels[CUWB_LINE_READY] = bus.board.levels[CUWB_LINE_AWAKE] = true;
  cuwb_spi_bus interface = sim_bus_interface(&bus, lines);
  cuwb_result result = cuwb_open_spi_bus(interface, CUWB_SPI_HSSPI, CUWB_START_KEEP, &link);
  CHECK_EQUAL(result.outcome, CUWB_OK);
}

static void close_chip(void) {
  cuwb_link_close(link);
  expect_no_violations(&chip.base);
}


static void say_at_boot(void) {
  chip.base.boot_packet = status_ready;
  chip.base.boot_packet_length = sizeof(status_ready);
}

static void expect_written_once(void) {
  CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(chip.base.received.count, 1);
  expect_written(&chip.base, reset_command, 5);
}

static void wakes_with_its_line(void) {
  open_chip(LINES | 1u << CUWB_LINE_AWAKE | 1u << CUWB_LINE_WAKE);
  qm35_fall_asleep(&chip);
  uint64_t begin = bus.board.now;
  expect_written_once();
  CHECK(bus.board.now - begin < 10 * MS);
  CHECK(!bus.board.levels[CUWB_LINE_WAKE]);
  close_chip();
}

static void wakes_with_a_selection(void) {
  open_chip(LINES | 1u << CUWB_LINE_AWAKE);
  qm35_fall_asleep(&chip);
  expect_written_once();
  CHECK_EQUAL(sim_bus_selection(&bus, 0)->length, 0);
  close_chip();
}

// SS_RDY is high, but the chip does not answer, is in its ROM, or reports that it is not ready. The
// host tries again, and the command arrives once.
static void refusals(void) {
  static const uint8_t flags[] = {0x00, 0xFF, QM35_WAITING, QM35_READY | 0x01, QM35_READY | 0x0F};
  for (unsigned i = 0; i < sizeof(flags); i++) {
    for (unsigned times = 1; times < 5; times++) {
      open_chip(LINES | 1u << CUWB_LINE_WAKE);
      chip.base.faults[CHIP_ABSENT].times = times;
      chip.absent_flags = flags[i];
      expect_written_once();
      chip_say(&chip.base, 2, status_ready, 5, 1 * MS);
      chip.base.faults[CHIP_ABSENT].times = times;
      CHECK_EQUAL(read_packet(4000), CUWB_OK);
      CHECK(memcmp(memory, status_ready, 5) == 0);
      close_chip();
    }
  }
}

static void never_ready(void) {
  open_chip(LINES);
  bus.board.levels[CUWB_LINE_READY] = false;
  uint64_t begin = bus.board.now;
  CHECK_EQUAL(cuwb_write_frame(link, reset_command, 5, 1000).outcome, CUWB_TIMEOUT);
  CHECK_EQUAL(sim_bus_selections(&bus), 0);
  CHECK(bus.board.now - begin >= 5 * 250 * MS && bus.board.now - begin < 1300 * MS);
  close_chip();
}

// SS_RDY is high for less than 100 ns, as in the boot ROM: the edge is latched and the level is
// low.
static void ready_for_a_moment(void) {
  open_chip(LINES);
  bus.board.levels[CUWB_LINE_READY] = false;
  chip_board_plan(&bus.board, 5 * MS, CUWB_LINE_READY, true);
  chip_board_plan(&bus.board, 5 * MS + 90, CUWB_LINE_READY, false);
  chip_board_plan(&bus.board, 30 * MS, CUWB_LINE_READY, true);
  uint64_t begin = bus.board.now;
  expect_written_once();
  CHECK(sim_bus_selection(&bus, 0)->begin_ns >= begin + 30 * MS);
  close_chip();
}

static void late_for_the_preread(void) {
  open_chip(LINES);
  chip_say(&chip.base, 2, status_ready, 5, 1 * MS);
  chip.base.faults[CHIP_LATE].times = 3;
  CHECK_EQUAL(read_packet(4000), CUWB_OK);
  CHECK_EQUAL(cuwb_link_get_stats(link).resynchronisations, 3);
  close_chip();
}

static void another_length(void) {
  open_chip(LINES);
  chip_say(&chip.base, 2, status_ready, 5, 1 * MS);
  chip.base.faults[CHIP_OTHER_LENGTH].times = 2;
  CHECK_EQUAL(read_packet(4000), CUWB_OK);
  CHECK_EQUAL(frame.length, 5);
  CHECK_EQUAL(cuwb_link_get_stats(link).resynchronisations, 2);
  close_chip();
}

// The chip announces a packet, also after a reset, and never takes part in a transfer.
static void fall_silent(void) {
  say_at_boot();
  chip_say(&chip.base, 2, status_ready, 5, 0);
  chip.base.faults[CHIP_ABSENT].every = 1;
  chip.absent_flags = 0;
}

// After more than five failures in a row the chip is reset; after three resets it is given up.
static void dead(void) {
  open_chip(LINES | 1u << CUWB_LINE_POWER);
  fall_silent();
  CHECK_EQUAL(read_packet(-1), CUWB_NO_ANSWER);
  CHECK_EQUAL(chip.base.counts[CHIP_RESETS], 3);
  close_chip();

  open_chip(LINES);
  fall_silent();
  CHECK_EQUAL(read_packet(-1), CUWB_NO_ANSWER);
  close_chip();
}

static void comes_back_from_a_reset(void) {
  open_chip(LINES | 1u << CUWB_LINE_POWER);
  say_at_boot();
  chip_say(&chip.base, 2, status_ready, 5, 1 * MS);
  // Six failures of five tries each.
  chip.base.faults[CHIP_ABSENT].times = 30;
  CHECK_EQUAL(read_packet(-1), CUWB_OK);
  CHECK_EQUAL(chip.base.counts[CHIP_RESETS], 1);
  CHECK(memcmp(memory, status_ready, 5) == 0);
  close_chip();
}

// A block ends with bytes that are not a packet.
static void remainder(void) {
  uint8_t block[64];
  open_chip(LINES);
  uint32_t length = make_packet(block, 0x62, 0, 20, 1);
  memcpy(block + length, "\x62\x00\x00\x38\x01", 5);
  chip_say(&chip.base, 2, block, length + 5, 1 * MS);
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
    {"HSSPI: a pulse of SS_RDY of less than 100 ns does not count", ready_for_a_moment},
    {"HSSPI: a pre-read may come too early", late_for_the_preread},
    {"HSSPI: a read has to have the announced length", another_length},
    {"HSSPI: a dead chip is reset three times and given up", dead},
    {"HSSPI: a reset brings the chip back", comes_back_from_a_reset},
    {"HSSPI: an incomplete packet at the end of a block is dropped", remainder},
    {0},
};
