// SPDX-License-Identifier: Apache-2.0
//
// What four bytes say about the frame they begin.
#ifndef CUWB_HEADER_H
#define CUWB_HEADER_H

#include "cuwb.h"

#pragma GCC visibility push(hidden)

enum cuwb_verdict {
  // No frame begins like this.
  CUWB_HEADER_IMPOSSIBLE,
  // Too few bytes to tell; those there are could begin a frame.
  CUWB_HEADER_PARTIAL,
  // Allowed, but no chip has a reason to send it: reserved bytes in use, nothing inside.
  CUWB_HEADER_SUSPECT,
  CUWB_HEADER_GOOD,
};

struct cuwb_header {
  enum cuwb_verdict verdict;
  // Of the whole frame, header included; 0 unless the verdict is suspect or good.
  uint32_t length;
};

// `strict` is for looking at bytes of which nobody knows whether they begin a frame; it never
// answers "suspect".
struct cuwb_header cuwb_header_test(const cuwb_framing *rules, const uint8_t *bytes,
                                    size_t available, bool strict);

// A received application message says twice how long it is: in its header and, if it is not a
// segment, before its data.
enum cuwb_data_length {
  CUWB_DATA_LENGTH_UNKNOWN,
  CUWB_DATA_LENGTH_MATCHES,
  CUWB_DATA_LENGTH_DIFFERS,
};

// `length` is that of the whole frame; of its bytes those before `available` are there.
enum cuwb_data_length cuwb_data_length_test(const uint8_t *bytes, size_t available,
                                            size_t length);

// The rules with every "0 means" filled in.
cuwb_framing cuwb_framing_normalised(cuwb_framing framing);

#pragma GCC visibility pop

#endif
