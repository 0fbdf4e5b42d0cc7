// SPDX-License-Identifier: Apache-2.0
//
// Chains of frames: how the bytes from some offset on read if a frame begins there.
#ifndef CUWB_CHAIN_H
#define CUWB_CHAIN_H

#include "framer_state.h"

#pragma GCC visibility push(hidden)

// Chains are compared over this many bytes from `head`, not over a number of frames, which would
// favour a chain that skips some.
#define CUWB_CHAIN_WINDOW 2048

enum cuwb_chain_end {
  CUWB_CHAIN_BROKEN,      // at bytes that are not a header
  CUWB_CHAIN_EXACT,       // where the bytes end
  CUWB_CHAIN_IN_HEADER,   // in the first bytes of a plausible header
  CUWB_CHAIN_IN_FRAME,    // in a frame with a plausible header
  CUWB_CHAIN_FAR_ENOUGH,  // at the limit of the window
};

struct cuwb_chain {
  // The number of whole frames.
  unsigned whole;
  // The weight of all headers, that of an incomplete frame included.
  unsigned weight;
  enum cuwb_chain_end end;
};

// Follows the chain that begins at `start`, no further than `stop`.
struct cuwb_chain cuwb_chain_follow(const cuwb_framer *framer, size_t start, size_t stop);

// Returns whether the headers after the first frame confirm it.
bool cuwb_chain_is_confirmed(const cuwb_framer *framer, struct cuwb_chain chain);

// Returns whether the chain can be believed even though an earlier offset may still begin a longer
// frame.
bool cuwb_chain_is_strong(const cuwb_framer *framer, struct cuwb_chain chain);

// Returns whether the header at `at` is one of those taken last.
bool cuwb_chain_is_known(const cuwb_framer *framer, size_t at);

// Returns whether the bytes inside the frame at `head`, and after it, contradict its header, which
// announces `length` bytes.
bool cuwb_chain_contradicts_header(const cuwb_framer *framer, size_t length);

#pragma GCC visibility pop

#endif
