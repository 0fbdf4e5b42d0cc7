// SPDX-License-Identifier: Apache-2.0
//
// The host's side of the scenarios on wires: the link, and what was read from it last.
#ifndef CUWB_HOST_H
#define CUWB_HOST_H

#include "bench.h"

static struct bench bench;
static cuwb_link *link;
static uint8_t memory[8192];
static cuwb_frame frame;

static const uint8_t status_ready[] = {0x60, 0x01, 0x00, 0x01, 0x01};

static inline cuwb_outcome read_packet(int32_t timeout_ms) {
  return cuwb_read_frame(link, memory, sizeof(memory), timeout_ms, &frame).outcome;
}

static inline void expect(const uint8_t *bytes, uint32_t length) {
  CHECK_EQUAL(read_packet(4000), CUWB_OK);
  CHECK_EQUAL(frame.length, length);
  CHECK(memcmp(memory, bytes, length) == 0);
}

#endif
