// SPDX-License-Identifier: Apache-2.0
//
// What the first four bytes of a frame say about it.
#ifndef CUWB_HEADER_H
#define CUWB_HEADER_H

#include "cuwb.h"

#pragma GCC visibility push(hidden)

enum cuwb_verdict {
  // No frame begins like this.
  CUWB_HEADER_IMPOSSIBLE,
  // Too few bytes to tell; those that have arrived could begin a frame.
  CUWB_HEADER_PARTIAL,
  // Allowed, but no chip has a reason to send it: a reserved byte is used, or the payload is empty.
  CUWB_HEADER_SUSPECT,
  CUWB_HEADER_GOOD,
};

struct cuwb_header {
  enum cuwb_verdict verdict;
  // The length of the whole frame, header included; 0 unless the verdict is suspect or good.
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

#pragma GCC visibility pop

#endif
