// SPDX-License-Identifier: Apache-2.0
//
// The declarations that the files of the framer share.
#ifndef CUWB_FRAMING_H
#define CUWB_FRAMING_H

#include <string.h>

#include "cuwb_framer.h"

#pragma GCC visibility push(hidden)

// --------------------------------------------------------------------------------------- header.c
//
// The judgement of a frame's first four bytes.

enum cuwb_verdict {
  // No frame begins with these bytes.
  CUWB_HEADER_IMPOSSIBLE,
  // There are too few bytes to decide. The available ones could begin a frame.
  CUWB_HEADER_PARTIAL,
  // Allowed, but no chip has a reason to send it: a reserved byte is used, or the payload is empty.
  CUWB_HEADER_SUSPECT,
  CUWB_HEADER_GOOD,
};

struct cuwb_header {
  enum cuwb_verdict verdict;
  // The length of the whole frame, including the header; 0 unless the verdict is suspect or good.
  uint32_t length;
};

// Judges bytes that may be a header. `strict` is for bytes that are not known to begin a frame:
// then the verdict is never "suspect".
struct cuwb_header cuwb_header_test(const cuwb_framing *rules, const uint8_t *bytes,
                                    size_t available, bool strict);

// A received application message has its length in its header and, unless it is a segment, also
// before its data.
enum cuwb_data_length {
  CUWB_DATA_LENGTH_UNKNOWN,
  CUWB_DATA_LENGTH_MATCHES,
  CUWB_DATA_LENGTH_DIFFERS,
};

// Compares the two lengths of a frame of `length` bytes, of which `available` have arrived.
enum cuwb_data_length cuwb_data_length_test(const uint8_t *bytes, size_t available,
                                            size_t length);

// Returns the rules with all defaults filled in.
cuwb_framing cuwb_framing_normalised(cuwb_framing framing);

// ------------------------------------------------------------------------------ the framer's state

// The last delivered frame (kept to go back to), the arriving frame, and room to read at least as
// many bytes again.
#define CUWB_STAGING_LENGTH (3 * CUWB_FRAME_MAX)

// The number of reads that are remembered with their time. More than a few accumulate only while
// nothing can be decided.
#define CUWB_MARKS 16

// The number of remembered headers. A chip sends the same few repeatedly.
#define CUWB_KNOWN_HEADERS 64

struct cuwb_mark {
  size_t end;
  uint64_t ns;
};

struct cuwb_framer {
  // The fields that an ordinary frame uses come first, in two cache lines. Programs that run while
  // the reader sleeps displace all fields from the cache.

  // Positions count from the start of `staging`; previous <= head <= tail.
  //
  // [previous, head) is the last delivered frame, or empty. [head, tail) is undecided.
  size_t previous;
  size_t head;
  size_t tail;
  // The position before which all bytes have been delivered or counted as skipped. After going back
  // into a delivered frame, it is ahead of `head`.
  size_t accounted;
  // The length of the frame found at `head`, until it is taken.
  size_t found;

  // The time of the last bytes, and the duration of the silence since then.
  uint64_t arrived_ns;
  uint64_t silence_ns;

  // Skipped bytes since the last frame.
  uint64_t skipped_now;

  cuwb_framing rules;

  // Whether the byte at `head` is known to begin a frame.
  bool in_sync;
  // Whether a silence confirms `in_sync`, and not only the frame before.
  bool sync_confirmed;
  bool never_received;

  // The header of the frame taken last.
  uint32_t last_header;
  size_t known_next;
  size_t mark_count;

  // Totals; any thread may read them.
  uint64_t skipped_total;
  uint64_t resynchronisations;

  // The headers of the frames taken last, in a ring; the most recent one is before `known_next`.
  uint32_t known[CUWB_KNOWN_HEADERS];

  // The bytes that can be the first of a frame, so that a search can skip nearly all others.
  bool begins[256];

  // The reads before the last one that a frame may end with.
  struct cuwb_mark marks[CUWB_MARKS];

  uint8_t staging[CUWB_STAGING_LENGTH];
};

// Returns the four bytes as they lie in memory.
static inline uint32_t cuwb_header_value(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof(value));
  return value;
}

// ---------------------------------------------------------------------------------------- chain.c
//
// Chains of frames: the interpretation of the bytes from an offset if a frame begins there.

// Chains are compared over this many bytes from `head`, not over a number of frames, which would
// favour a chain that skips some frames.
#define CUWB_CHAIN_WINDOW 2048

enum cuwb_chain_end {
  CUWB_CHAIN_BROKEN,      // Ends at bytes that are not a header.
  CUWB_CHAIN_EXACT,       // Ends where the bytes end.
  CUWB_CHAIN_IN_HEADER,   // Ends in the first bytes of a plausible header.
  CUWB_CHAIN_IN_FRAME,    // Ends in a frame with a plausible header.
  CUWB_CHAIN_FAR_ENOUGH,  // Ends at the limit of the window.
};

struct cuwb_chain {
  // The number of whole frames.
  unsigned whole;
  // The weight of all headers, including the header of an incomplete frame.
  unsigned weight;
  enum cuwb_chain_end end;
};

// Follows the chain that begins at `start`, no further than `stop`.
struct cuwb_chain cuwb_chain_follow(const cuwb_framer *framer, size_t start, size_t stop);

// Returns whether the headers after the first frame confirm it.
bool cuwb_chain_is_confirmed(const cuwb_framer *framer, struct cuwb_chain chain);

// Returns whether the chain is accepted even though an earlier offset may still begin a longer
// frame.
bool cuwb_chain_is_strong(const cuwb_framer *framer, struct cuwb_chain chain);

// Returns whether the header at `at` is one of the recent headers.
bool cuwb_chain_is_known(const cuwb_framer *framer, size_t at);

// Returns whether the bytes inside the frame at `head`, and after it, contradict its header, which
// announces `length` bytes.
bool cuwb_chain_contradicts_header(const cuwb_framer *framer, size_t length);

#pragma GCC visibility pop

#endif
