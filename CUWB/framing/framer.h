// SPDX-License-Identifier: Apache-2.0
#ifndef CUWB_FRAMER_INTERNAL_H
#define CUWB_FRAMER_INTERNAL_H

#include <string.h>

#include "cuwb_framer.h"

#pragma GCC visibility push(hidden)

// The frame delivered last (kept to go back to), the one that is arriving, and room to read at
// least as much again.
#define CUWB_STAGING_LENGTH (3 * CUWB_FRAME_MAX)

// How many reads are remembered with their time. More only pile up while nothing can be decided.
#define CUWB_MARKS 16

// How many headers are remembered. A chip sends the same few again and again.
#define CUWB_KNOWN_HEADERS 64

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
  // Bytes before this one have been delivered or counted as skipped. After going back into a
  // delivered frame it is ahead of `head`.
  size_t accounted;
  // Of the frame found at `head`, until it is taken.
  size_t found;

  // Whether the byte at `head` is known to begin a frame.
  bool in_sync;
  // Whether that is known from a silence, and not only from the frame before.
  bool sync_confirmed;
  // Whether nothing has ever arrived.
  bool never_received;

  // When bytes arrived last, and for how long it has been silent since.
  uint64_t arrived_ns;
  uint64_t silence_ns;

  // The headers of the frames taken last, in a ring; the most recent one is before `known_next`.
  uint32_t known[CUWB_KNOWN_HEADERS];
  size_t known_next;

  // Which bytes can be the first of a frame: nearly all a search has to know about a byte.
  bool begins[256];

  struct cuwb_mark marks[CUWB_MARKS];
  size_t mark_count;

  // Since the last frame, and since ever.
  uint64_t skipped_now;
  uint64_t skipped_total;
  uint64_t resynchronisations;

  uint8_t staging[CUWB_STAGING_LENGTH];
};

// The four bytes as they lie in memory.
static inline uint32_t cuwb_header_value(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof(value));
  return value;
}

// Whether what awaits a decision is just one ordinary response or notification, beyond doubt, so
// that `cuwb_framer_find` could only say the same. Nearly always so: it follows a silence, or has
// the header of the one before. Here because right after a system call, with nothing predicted,
// every branch and call on the way to the caller counts.
static inline bool cuwb_framer_is_one_frame(const cuwb_framer *framer) {
  const uint8_t *bytes = framer->staging + framer->head;
  size_t length = framer->tail - framer->head;
  if (!framer->in_sync || length <= CUWB_HEADER_LENGTH || length > framer->rules.longest_frame) {
    return false;
  }
  unsigned type = bytes[0] >> 5;
  return (type == 2 || type == 3) && (framer->rules.message_types >> type & 1) &&
         !(bytes[1] & 0xC0) && bytes[2] == 0 && bytes[3] == length - CUWB_HEADER_LENGTH &&
         (framer->sync_confirmed ||
          cuwb_header_value(bytes) ==
              framer->known[(framer->known_next - 1) % CUWB_KNOWN_HEADERS]);
}

// Takes the frame of `length` bytes at the head.
static inline void cuwb_framer_take_bytes(cuwb_framer *framer, size_t length) {
  framer->known[framer->known_next++ % CUWB_KNOWN_HEADERS] =
      cuwb_header_value(framer->staging + framer->head);
  framer->previous = framer->head;
  framer->head += length;
  framer->found = 0;
  framer->sync_confirmed = false;
  if (framer->accounted < framer->head) framer->accounted = framer->head;
  framer->skipped_now = 0;
}

#pragma GCC visibility pop

#endif
