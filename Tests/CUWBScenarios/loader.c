// SPDX-License-Identifier: Apache-2.0
//
// The boot loaders of NXP's chips on the bus: IRQ alone indicates an answer, each read has exactly
// the requested length, and an SR2xx requires its direction bytes here too.
#include "host.h"
#include "../ChipModels/sr1xx_model.h"
#include "../ChipModels/sr2xx_model.h"

#define LINES (1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_POWER | 1u << CUWB_LINE_READ)

static void open_loader(chip_model *chip, cuwb_spi_protocol protocol) {
  chip->starts_in_loader = true;
  cuwb_spi_bus interface = sim_bus_interface(&bus, LINES);
  cuwb_result result = cuwb_open_spi_bus(interface, protocol, CUWB_START_KEEP, &link);
  CHECK_EQUAL(result.outcome, CUWB_OK);
  CHECK_EQUAL(cuwb_boot_begin(link).outcome, CUWB_OK);
}

static void close_loader(chip_model *chip) {
  CHECK_EQUAL(cuwb_boot_end(link).outcome, CUWB_OK);
  cuwb_link_close(link);
  CHECK_EQUAL(chip->counts[CHIP_EARLY], 0);
  CHECK_EQUAL(chip->counts[CHIP_RESETS], 1);
  expect_no_violations(chip);
}

static void hbci(void) {
  static struct sr1xx_model chip;
  static const uint8_t query[] = {0x01, 0x21, 0x00, 0x00}, ready[] = {0x02, 0x21, 0x00, 0x00};
  uint8_t got[8];
  sim_bus_reset(&bus, &chip.base);
  sr1xx_init(&chip, &bus.board);
  open_loader(&chip.base, CUWB_SPI_SR1XX);
  for (unsigned i = 0; i < 10; i++) {
    CHECK_EQUAL(cuwb_boot_write(link, query, 4).outcome, CUWB_OK);
    CHECK_EQUAL(cuwb_boot_read(link, got, 4, 500).outcome, CUWB_OK);
    CHECK(memcmp(got, ready, 4) == 0);
  }
  CHECK_EQUAL(cuwb_boot_read(link, got, 4, 100).outcome, CUWB_TIMEOUT);
  // RI is not used.
  for (unsigned i = 0; i < bus.count; i++) {
    CHECK(bus.entries[i].is_selection || bus.entries[i].line != CUWB_LINE_READ ||
          !bus.entries[i].high);
  }
  close_loader(&chip.base);
}

static void hdll(void) {
  static struct sr2xx_model chip;
  static const uint8_t command[] = {0x02, 0x02};
  static const uint8_t accepted[] = {0x43, 0x02, 0x00, 0x00};
  uint8_t frame_out[8], expected[8], got[8];
  chip_model_forget(&chip.base);
  sim_bus_reset(&bus, &chip.base);
  sr2xx_init(&chip, &bus.board);
  open_loader(&chip.base, CUWB_SPI_SR2XX);
  CHECK_EQUAL(cuwb_boot_read(link, got, 2, 500).outcome, CUWB_OK);
  // The remaining bytes are there already.
  CHECK_EQUAL(cuwb_boot_read(link, got + 2, 6, 0).outcome, CUWB_OK);
  CHECK(memcmp(got, hdll_ready, 8) == 0);
  size_t length = chip_hdll_frame(command, sizeof(command), frame_out);
  CHECK_EQUAL(cuwb_boot_write(link, frame_out, length).outcome, CUWB_OK);
  CHECK_EQUAL(cuwb_boot_read(link, got, 2, 500).outcome, CUWB_OK);
  CHECK_EQUAL(cuwb_boot_read(link, got + 2, 6, 0).outcome, CUWB_OK);
  CHECK_EQUAL(chip_hdll_frame(accepted, sizeof(accepted), expected), 8);
  CHECK(memcmp(got, expected, 8) == 0);
  CHECK_EQUAL(chip.base.counts[CHIP_FRAMES], 1);
  close_loader(&chip.base);
}

static void none(void) {
  static struct sr2xx_model chip;
  sim_bus_reset(&bus, &chip.base);
  bus.board.levels[CUWB_LINE_READY] = true;
  cuwb_spi_bus interface = sim_bus_interface(&bus, 1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READY);
  cuwb_result result = cuwb_open_spi_bus(interface, CUWB_SPI_HSSPI, CUWB_START_KEEP, &link);
  CHECK_EQUAL(result.outcome, CUWB_OK);
  CHECK_EQUAL(cuwb_boot_begin(link).outcome, CUWB_INVALID);
  cuwb_link_close(link);
}

const struct scenario loader_scenarios[] = {
    {"Boot loader of an SR1xx: IRQ alone, and exact lengths", hbci},
    {"Boot loader of an SR2xx: with direction bytes", hdll},
    {"Boot loader of a QM35: not on this link", none},
    {0},
};
