// SPDX-License-Identifier: Apache-2.0
//
// NXP SR2xx. The far side is made from the tables in the Middleware Guide and the SPI transport of
// nxp-uwb/sr250-uwbiot-zephyr, with the dummy byte of the guide's example (FF).
#include <errno.h>

#include "host.h"

#define LINES (1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_POWER)
#define PACKETS 64

static struct {
  uint8_t packets[PACKETS][4300];
  uint32_t lengths[PACKETS];
  unsigned first, count;
  bool half;
  uint64_t raised_ns;
  // From the end of one packet until IRQ rises for the next.
  uint64_t next_ns;
  uint8_t commands[PACKETS][600];
  uint32_t command_lengths[PACKETS];
  unsigned command_count;
  unsigned wrong_directions, wrong_lengths, empty_reads, hasty_reads;
} chip;

static void say(const uint8_t *bytes, uint32_t length, uint64_t in_ns) {
  unsigned place = (chip.first + chip.count++) % PACKETS;
  memcpy(chip.packets[place], bytes, length);
  chip.lengths[place] = length;
  if (chip.count > 1) return;
  chip.raised_ns = bench.now + in_ns;
  bench_plan(&bench, in_ns, CUWB_LINE_IRQ, true);
}

static void taken(void) {
  chip.half = false;
  chip.first = (chip.first + 1) % PACKETS;
  chip.count--;
  bench_plan(&bench, 0, CUWB_LINE_IRQ, false);
  if (chip.count == 0) return;
  chip.raised_ns = bench.now + chip.next_ns;
  bench_plan(&bench, chip.next_ns, CUWB_LINE_IRQ, true);
}

static void selected(struct bench *at, const uint8_t *out, uint8_t *in, uint32_t length,
                     const struct entry *entry) {
  (void)at;
  if (out[0] == 0x00) {
    unsigned place = chip.command_count++ % PACKETS;
    memcpy(chip.commands[place], out + 1, length - 1);
    chip.command_lengths[place] = length - 1;
    return;
  }
  if (out[0] != 0xFF) {
    chip.wrong_directions++;
    return;
  }
  in[0] = 0xFF;
  if (chip.count == 0 || chip.raised_ns > entry->begin_ns) {
    chip.empty_reads++;
    return;
  }
  const uint8_t *packet = chip.packets[chip.first];
  uint32_t payload = chip.lengths[chip.first] - 4;
  if (!chip.half) {
    chip.hasty_reads += entry->begin_ns < chip.raised_ns + 500 * US;
    chip.wrong_lengths += length != 5;
    memcpy(in + 1, packet, length > 5 ? 4 : length - 1);
    chip.half = true;
    if (payload == 0) taken();
    return;
  }
  chip.wrong_lengths += length != 1 + payload;
  memcpy(in + 1, packet + 4, length - 1 < payload ? length - 1 : payload);
  taken();
}

static const struct chip_ops ops = {.selected = selected};

static void open_chip(cuwb_start start) {
  memset(&chip, 0, sizeof(chip));
  chip.next_ns = 28 * US;
  bench_reset(&bench, &ops, NULL);
  cuwb_result result = cuwb_open_spi_bus(bench_bus(&bench, LINES), CUWB_SPI_SR2XX, start, &link);
  CHECK_EQUAL(result.outcome, CUWB_OK);
}

static void close_chip(void) {
  cuwb_link_close(link);
  CHECK(bench.closed);
  CHECK_EQUAL(chip.wrong_directions, 0);
  CHECK_EQUAL(chip.wrong_lengths, 0);
  CHECK_EQUAL(chip.empty_reads, 0);
  CHECK_EQUAL(chip.hasty_reads, 0);
}

static void reads(void) {
  open_chip(CUWB_START_KEEP);
  say(status_ready, 5, 1 * MS);
  expect(status_ready, 5);
  CHECK_EQUAL(bench_selections(&bench), 2);
  CHECK_EQUAL(bench_selection(&bench, 0)->length, 5);
  CHECK_EQUAL(bench_selection(&bench, 0)->first, 0xFF);
  CHECK_EQUAL(bench_selection(&bench, 1)->length, 2);
  CHECK_EQUAL(bench_selection(&bench, 1)->first, 0xFF);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  close_chip();
}

static void writes(void) {
  const uint8_t command[] = {0x20, 0x00, 0x00, 0x01, 0x00};
  open_chip(CUWB_START_KEEP);
  CHECK_EQUAL(cuwb_write_frame(link, command, 5, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(bench_selections(&bench), 1);
  CHECK_EQUAL(bench_selection(&bench, 0)->length, 6);
  CHECK_EQUAL(bench_selection(&bench, 0)->first, 0x00);
  CHECK_EQUAL(chip.command_lengths[0], 5);
  CHECK(memcmp(chip.commands[0], command, 5) == 0);
  CHECK_EQUAL(cuwb_write_frame(link, command, 5, 1000).outcome, CUWB_OK);
  CHECK(bench_selection(&bench, 1)->begin_ns >= bench_selection(&bench, 0)->end_ns + 2 * MS);
  close_chip();
}

// Written at once although IRQ is high, and then read.
static void writes_while_irq_is_high(void) {
  const uint8_t command[] = {0x20, 0x02, 0x00, 0x00};
  open_chip(CUWB_START_KEEP);
  say(status_ready, 5, 0);
  bench_advance(&bench, bench.now + 1 * MS);
  CHECK_EQUAL(cuwb_write_frame(link, command, 4, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(bench_selections(&bench), 1);
  CHECK_EQUAL(chip.command_count, 1);
  expect(status_ready, 5);
  close_chip();
}

static void read_all(bool deaf) {
  static uint8_t packet[4300];
  open_chip(CUWB_START_KEEP);
  bench.is_deaf[CUWB_LINE_IRQ] = deaf;
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

// IRQ is high again 28 us behind a packet, while nobody waits for its edge.
static void back_to_back(void) { read_all(false); }

static void without_edges(void) { read_all(true); }

static void spurious(void) {
  open_chip(CUWB_START_KEEP);
  bench_plan(&bench, 1 * MS, CUWB_LINE_IRQ, true);
  bench_plan(&bench, 1 * MS + 100, CUWB_LINE_IRQ, false);
  CHECK_EQUAL(read_packet(50), CUWB_TIMEOUT);
  CHECK_EQUAL(bench_selections(&bench), 0);
  close_chip();
}

static void resets(void) {
  open_chip(CUWB_START_CYCLE);
  CHECK_EQUAL(bench.count, 2);
  CHECK(!bench.entries[0].high && bench.entries[1].high);
  CHECK(bench.entries[1].begin_ns >= bench.entries[0].end_ns + 10 * MS);
  CHECK(bench.now >= bench.entries[1].end_ns + 50 * MS);
  close_chip();
}

static void stuck(void) {
  open_chip(CUWB_START_KEEP);
  bench.levels[CUWB_LINE_IRQ] = true;
  CHECK_EQUAL(read_packet(-1), CUWB_NO_ANSWER);
  chip.empty_reads = 0;
  close_chip();
}

static void gone(void) {
  open_chip(CUWB_START_KEEP);
  say(status_ready, 5, 1 * MS);
  bench.refusal = ENODEV;
  bench.transfers_left = 1;
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
