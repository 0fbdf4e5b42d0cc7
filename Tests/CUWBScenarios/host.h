// SPDX-License-Identifier: Apache-2.0
//
// The host's side of the scenarios: the link, and the last packet that was read from it.
#ifndef CUWB_HOST_H
#define CUWB_HOST_H

#include "sim_bus.h"

static struct sim_bus bus;
static cuwb_link *link;
static uint8_t memory[8192];
static cuwb_frame frame;

static const uint8_t status_ready[] = {0x60, 0x01, 0x00, 0x01, 0x01};
static const uint8_t reset_command[] = {0x20, 0x00, 0x00, 0x01, 0x00};

static inline cuwb_outcome read_packet(int32_t timeout_ms) {
  return cuwb_read_frame(link, memory, sizeof(memory), timeout_ms, &frame).outcome;
}

static inline void expect(const uint8_t *bytes, uint32_t length) {
  CHECK_EQUAL(read_packet(4000), CUWB_OK);
  CHECK_EQUAL(frame.length, length);
  CHECK(memcmp(memory, bytes, length) == 0);
}

// Reports actions of the host that the chip's interface does not allow.
static inline void expect_no_violations(chip_model *chip) {
  if (chip->violation_count > 0) scenario_fail(__FILE__, __LINE__, "%s", chip->violations[0]);
}

// Checks the last packet from the host.
static inline void expect_written(chip_model *chip, const uint8_t *bytes, uint32_t length) {
  CHECK(chip->received.count > 0);
  if (chip->received.count == 0) return;
  CHECK_EQUAL(chip_last(&chip->received)->length, length);
  CHECK(memcmp(chip_last(&chip->received)->bytes, bytes, length) == 0);
}

#endif
