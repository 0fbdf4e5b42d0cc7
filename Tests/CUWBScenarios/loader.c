// SPDX-License-Identifier: Apache-2.0
//
// The loaders of NXP's chips, as far as the wires: IRQ alone says that there is an answer, each read has
// exactly the length asked for, and an SR2xx wants its direction bytes there too.
#include "bench.h"

static struct bench bench;
static cuwb_link *link;
static struct {
  uint8_t answer[64];
  uint32_t length, taken;
  uint8_t written[64];
  uint32_t written_length;
  bool has_direction;
  unsigned early, read_indications;
  uint64_t answer_ns;
} chip;

// Answers whatever is written with the bytes prepared.
static void selected(struct bench *at, const uint8_t *out, uint8_t *in, uint32_t length,
                     const struct entry *entry) {
  uint32_t skip = chip.has_direction ? 1 : 0;
  bool is_read = chip.has_direction ? out[0] == 0xFF : entry->sent == 0;
  if (!is_read) {
    memcpy(chip.written, out + skip, length - skip);
    chip.written_length = length - skip;
    chip.taken = 0;
    bench_plan(at, chip.answer_ns, CUWB_LINE_IRQ, true);
    return;
  }
  chip.early += !entry->levels[CUWB_LINE_IRQ];
  memcpy(in + skip, chip.answer + chip.taken, length - skip);
  chip.taken += length - skip;
  if (chip.taken >= chip.length) bench_plan(at, 30 * US, CUWB_LINE_IRQ, false);
}

static void driven(struct bench *at, cuwb_line line, bool high) {
  (void)at;
  chip.read_indications += line == CUWB_LINE_READ && high;
}

static const struct chip_ops ops = {.selected = selected, .driven = driven};

static void open_chip(cuwb_spi_protocol protocol) {
  memset(&chip, 0, sizeof(chip));
  chip.has_direction = protocol == CUWB_SPI_SR2XX;
  chip.answer_ns = 3 * MS;
  bench_reset(&bench, &ops, NULL);
  uint8_t lines = 1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_POWER | 1u << CUWB_LINE_READ;
  cuwb_result result =
      cuwb_open_spi_bus(bench_bus(&bench, lines), protocol, CUWB_START_KEEP, &link);
  CHECK_EQUAL(result.outcome, CUWB_OK);
}

static void prepare(const uint8_t *answer, uint32_t length) {
  memcpy(chip.answer, answer, length);
  chip.length = length;
}

static void hbci(void) {
  static const uint8_t query[] = {0x01, 0x21, 0x00, 0x00}, ready[] = {0x02, 0x21, 0x00, 0x00};
  uint8_t got[8];
  open_chip(CUWB_SPI_SR1XX);
  CHECK_EQUAL(cuwb_boot_begin(link).outcome, CUWB_OK);
  // CE goes low and high again.
  unsigned low = 0, high = 0;
  for (unsigned i = 0; i < bench.count; i++) {
    if (bench.entries[i].line != CUWB_LINE_POWER) continue;
    low += !bench.entries[i].high;
    high += bench.entries[i].high;
  }
  CHECK_EQUAL(low, 1);
  CHECK_EQUAL(high, 2);
  for (unsigned i = 0; i < 10; i++) {
    prepare(ready, 4);
    CHECK_EQUAL(cuwb_boot_write(link, query, 4).outcome, CUWB_OK);
    CHECK(chip.written_length == 4 && memcmp(chip.written, query, 4) == 0);
    CHECK_EQUAL(cuwb_boot_read(link, got, 4, 500).outcome, CUWB_OK);
    CHECK(memcmp(got, ready, 4) == 0);
  }
  CHECK_EQUAL(cuwb_boot_read(link, got, 4, 100).outcome, CUWB_TIMEOUT);
  CHECK_EQUAL(chip.early, 0);
  CHECK_EQUAL(chip.read_indications, 0);
  CHECK_EQUAL(cuwb_boot_end(link).outcome, CUWB_OK);
  cuwb_link_close(link);
}

static void hdll(void) {
  static const uint8_t command[] = {0x00, 0x02, 0x02, 0x02, 0x12, 0x34};
  static const uint8_t ready[] = {0x00, 0x04, 0x81, 0x01, 0x02, 0x00, 0x7D, 0xC8};
  uint8_t got[8];
  open_chip(CUWB_SPI_SR2XX);
  CHECK_EQUAL(cuwb_boot_begin(link).outcome, CUWB_OK);
  prepare(ready, 8);
  CHECK_EQUAL(cuwb_boot_write(link, command, 6).outcome, CUWB_OK);
  CHECK(chip.written_length == 6 && memcmp(chip.written, command, 6) == 0);
  CHECK_EQUAL(cuwb_boot_read(link, got, 2, 500).outcome, CUWB_OK);
  // The rest is there already.
  CHECK_EQUAL(cuwb_boot_read(link, got + 2, 6, 0).outcome, CUWB_OK);
  CHECK(memcmp(got, ready, 8) == 0);
  CHECK_EQUAL(chip.early, 0);
  cuwb_link_close(link);
}

static void none(void) {
  bench_reset(&bench, &ops, NULL);
  uint8_t lines = 1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READY;
  bench.levels[CUWB_LINE_READY] = true;
  cuwb_result result =
      cuwb_open_spi_bus(bench_bus(&bench, lines), CUWB_SPI_HSSPI, CUWB_START_KEEP, &link);
  CHECK_EQUAL(result.outcome, CUWB_OK);
  CHECK_EQUAL(cuwb_boot_begin(link).outcome, CUWB_INVALID);
  cuwb_link_close(link);
}

const struct scenario loader_scenarios[] = {
    {"Loader of an SR1xx: IRQ alone, and exact lengths", hbci},
    {"Loader of an SR2xx: with direction bytes", hdll},
    {"Loader of a QM35: not through this", none},
    {0},
};
