// SPDX-License-Identifier: Apache-2.0
//
// The framer's state, for framer.c and chain.c only.
#ifndef CUWB_FRAMER_STATE_H
#define CUWB_FRAMER_STATE_H

#include <string.h>

#include "cuwb_framer.h"

// The last delivered frame (kept to go back to), the one that is arriving, and room to read at
// least as much again.
#define CUWB_STAGING_LENGTH (3 * CUWB_FRAME_MAX)

// How many reads are remembered with their time. More than a few pile up only while nothing can be
// decided.
#define CUWB_MARKS 16

// How many headers are remembered. A chip sends the same few again and again.
#define CUWB_KNOWN_HEADERS 64

struct cuwb_mark {
  size_t end;
  uint64_t ns;
};

struct cuwb_framer {
  cuwb_framing rules;

  // Positions count from the start of `staging`; previous <= head <= tail.
  //
  // [previous, head) is the last delivered frame, or empty. [head, tail) is undecided.
  size_t previous;
  size_t head;
  size_t tail;
  // The bytes before this position have been delivered or counted as skipped. It is ahead of `head`
  // after going back into a delivered frame.
  size_t accounted;
  // The length of the frame found at `head`, until it is taken.
  size_t found;

  // Whether the byte at `head` is known to begin a frame.
  bool in_sync;
  // Whether that is known from a silence, and not only from the frame before.
  bool sync_confirmed;
  bool never_received;

  // When bytes arrived last, and how long it has been silent since.
  uint64_t arrived_ns;
  uint64_t silence_ns;

  // The headers of the frames taken last, in a ring; the most recent one is before `known_next`.
  uint32_t known[CUWB_KNOWN_HEADERS];
  size_t known_next;

  // Which bytes can be the first of a frame, so that a search can pass over nearly all the others.
  bool begins[256];

  struct cuwb_mark marks[CUWB_MARKS];
  size_t mark_count;

  // Skipped bytes since the last frame.
  uint64_t skipped_now;
  // Totals; any thread may read them.
  uint64_t skipped_total;
  uint64_t resynchronisations;

  uint8_t staging[CUWB_STAGING_LENGTH];
};

// Returns the four bytes as they lie in memory.
static inline uint32_t cuwb_header_value(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof(value));
  return value;
}

#endif
