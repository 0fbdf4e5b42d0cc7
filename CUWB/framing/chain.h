// SPDX-License-Identifier: Apache-2.0
//
// Chains of frames: what the bytes from some offset on look like if a frame begins there.
#ifndef CUWB_CHAIN_H
#define CUWB_CHAIN_H

#include "framer.h"

#pragma GCC visibility push(hidden)

// A chain of so many whole frames needs no further proof.
#define CUWB_CHAIN_PROVES_ITSELF 4

// Chains are compared over so many bytes from `head`: over as many frames, one that skips some
// would not lose.
#define CUWB_CHAIN_WINDOW 2048

enum cuwb_chain_end {
  CUWB_CHAIN_BROKEN,      // by something that is no header
  CUWB_CHAIN_EXACT,       // where the bytes end
  CUWB_CHAIN_IN_HEADER,   // in the first bytes of a plausible header
  CUWB_CHAIN_IN_FRAME,    // in a frame with a plausible header
  CUWB_CHAIN_FAR_ENOUGH,  // at the limit
};

struct cuwb_chain {
  unsigned whole;
  // What the headers in it weigh, that of an incomplete frame included.
  unsigned weight;
  enum cuwb_chain_end end;
};

// Follows the chain that begins at `start`, no further than `stop`.
struct cuwb_chain cuwb_chain_follow(const cuwb_framer *framer, size_t start, size_t stop);

// Whether the headers behind the first frame vouch for it.
bool cuwb_chain_is_confirmed(const cuwb_framer *framer, struct cuwb_chain chain);

// Whether it is to be believed although an earlier offset may yet prove to begin a longer frame.
bool cuwb_chain_is_strong(const cuwb_framer *framer, struct cuwb_chain chain);

// Whether a frame with the header at `at` is among those taken last.
bool cuwb_chain_is_known(const cuwb_framer *framer, size_t at);

// Whether the bytes inside the frame at `head`, and behind it, contradict its header, which
// promises `length` bytes.
bool cuwb_chain_contradicts_header(const cuwb_framer *framer, size_t length);

#pragma GCC visibility pop

#endif
