// SPDX-License-Identifier: Apache-2.0
#include "spi_chip.h"

// The interval at which the level of IRQ is checked without an edge, in case an edge is missed.
#define LEVEL_CHECK_NS (10 * CUWB_MS)

int cuwb_spi_drive(const struct cuwb_spi_chip *chip, cuwb_line line, bool high) {
  if (!cuwb_spi_has_line(chip, line)) return 0;
  return chip->bus.drive(chip->bus.context, line, high);
}

int cuwb_spi_wait_irq(const struct cuwb_spi_chip *chip, uint64_t wait_ns) {
  uint64_t deadline = cuwb_spi_now(chip) + wait_ns;
  for (;;) {
    bool high;
    cuwb_edges edges;
    int error = cuwb_spi_take_edges(chip, CUWB_LINE_IRQ, &edges);
    if (!error) error = cuwb_spi_sense(chip, CUWB_LINE_IRQ, &high);
    if (error || high) return error;
    uint64_t now = cuwb_spi_now(chip);
    if (now >= deadline) return ETIMEDOUT;
    uint64_t check = now + LEVEL_CHECK_NS;
    error = cuwb_spi_wait(chip, CUWB_LINE_IRQ, check < deadline ? check : deadline);
    if (error) return error;
  }
}

int cuwb_spi_transfer(struct cuwb_spi_chip *chip, const cuwb_segment *segments, uint32_t count) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < count; i++) total += segments[i].length;
  if (total > chip->bus.longest) return EMSGSIZE;
  int error = chip->bus.transfer(chip->bus.context, segments, count);
  chip->transferred_ns = cuwb_spi_now(chip);
  return error;
}

void cuwb_spi_pause_since_transfer(const struct cuwb_spi_chip *chip, uint64_t duration_ns) {
  uint64_t now = cuwb_spi_now(chip);
  uint64_t end = chip->transferred_ns + duration_ns;
  if (end > now) cuwb_spi_pause(chip, end - now);
}

cuwb_result cuwb_spi_misbehaved(struct cuwb_spi_chip *chip, uint32_t patience) {
  cuwb_count(&chip->link->stats.resynchronisations, 1);
  chip->failures++;
  return cuwb_outcome_of(chip->failures > patience ? CUWB_NO_ANSWER : CUWB_OK);
}

void cuwb_spi_skip(struct cuwb_spi_chip *chip, uint64_t bytes) {
  cuwb_count(&chip->link->stats.bytes_skipped, bytes);
}

bool cuwb_spi_has_room(const struct cuwb_spi_chip *chip) {
  return cuwb_packet_queue_has_room(&chip->packets, CUWB_FRAME_MAX);
}

void cuwb_spi_deliver(struct cuwb_spi_chip *chip, const uint8_t *bytes, size_t length) {
  chip->failures = 0;
  cuwb_frame frame = {.length = (uint32_t)length, .received_ns = cuwb_spi_now(chip)};
  if (!cuwb_packet_queue_put(&chip->packets, bytes, frame)) cuwb_spi_skip(chip, length);
}
