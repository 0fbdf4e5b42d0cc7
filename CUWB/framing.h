// SPDX-License-Identifier: Apache-2.0
#ifndef CUWB_FRAMING_H
#define CUWB_FRAMING_H

#include "cuwb_framer.h"

// The frame delivered last (kept to go back to), the one that is arriving, and room to read at
// least as much again.
#define CUWB_STAGING_LENGTH (3 * CUWB_FRAME_MAX)

// How many reads are remembered with their time. More only pile up while nothing can be decided.
#define CUWB_MARKS 16

struct cuwb_mark {
  size_t end;
  uint64_t ns;
};

struct cuwb_framer {
  cuwb_framing rules;

  // All positions count from the start of `staging`; previous <= head <= tail.
  //
  // [previous, head) is the frame delivered last, or nothing. [head, tail) awaits a decision.
  size_t previous;
  size_t head;
  size_t tail;
  // Octets before this one have been delivered or counted as skipped. After going back into a
  // delivered frame it is ahead of `head`.
  size_t accounted;
  // Of the frame found at `head`, until it is taken.
  size_t found;

  // Whether the octet at `head` is known to begin a frame.
  bool locked;
  // Whether that is known from a silence, and not only from the frame before.
  bool certain;
  // Whether nothing has ever arrived.
  bool untouched;

  // When octets arrived last, and for how long it has been silent since.
  uint64_t arrived_ns;
  uint64_t silence_ns;

  // Which octets can be the first of a frame: nearly all a search has to know about an octet.
  bool begins[256];

  struct cuwb_mark marks[CUWB_MARKS];
  size_t mark_count;

  // Since the last frame, and since ever.
  uint64_t skipped_now;
  uint64_t skipped_total;
  uint64_t resynchronisations;

  uint8_t staging[CUWB_STAGING_LENGTH];
};

#endif
