// SPDX-License-Identifier: Apache-2.0
#include "chain.h"

#include "header.h"

// A header with a wrong length swallows good frames. It shows in that the frame contains them, and
// so many of them, ending exactly where the frame or what has arrived of it ends, are believed more
// than the header around them. Fewer would be too few: a data frame may well carry something that
// looks like a message or two. And none of this is done to a frame that began after a silence,
// whose header is beyond doubt; so what a peer sends can hardly ever be taken apart by mistake.
#define CHAIN_OVERRULES_A_HEADER 3

// A chain that runs across the end of a frame contradicts it even more, provided that what follows
// the frame itself makes less sense.
#define CROSSING_CHAIN_OVERRULES_A_HEADER 2

// A frame with so many whole ones in its own chain is not doubted; and so far are others followed.
#define CHAIN_BEYOND_DOUBT 3
#define CHAIN_LONG_ENOUGH 16

struct cuwb_chain cuwb_chain_follow(const cuwb_framer *framer, size_t start, size_t stop,
                                    unsigned limit) {
  struct cuwb_chain chain = {0, CUWB_CHAIN_FAR_ENOUGH};
  size_t at = start;
  while (chain.whole < limit) {
    size_t available = stop - at;
    if (available == 0) {
      chain.end = CUWB_CHAIN_EXACT;
      break;
    }
    struct cuwb_header header =
        cuwb_header_test(&framer->rules, framer->staging + at, available, true);
    if (header.verdict == CUWB_HEADER_IMPOSSIBLE) {
      chain.end = CUWB_CHAIN_BROKEN;
      break;
    }
    if (header.verdict == CUWB_HEADER_PARTIAL) {
      chain.end = CUWB_CHAIN_IN_HEADER;
      break;
    }
    if (header.length > available) {
      chain.end = CUWB_CHAIN_IN_FRAME;
      break;
    }
    at += header.length;
    chain.whole++;
  }
  return chain;
}

bool cuwb_chain_is_confirmed(struct cuwb_chain chain) {
  switch (chain.end) {
  case CUWB_CHAIN_FAR_ENOUGH: return true;
  case CUWB_CHAIN_IN_FRAME: return chain.whole >= 1;
  case CUWB_CHAIN_EXACT: return chain.whole >= 2;
  case CUWB_CHAIN_IN_HEADER: return chain.whole >= 2;
  case CUWB_CHAIN_BROKEN: return chain.whole >= 3;
  }
  return false;
}

bool cuwb_chain_is_strong(struct cuwb_chain chain) {
  return cuwb_chain_is_confirmed(chain) && chain.whole >= 2;
}

// ------------------------------------------------------------------------------ doubting a header

// Whether the octets between `start` and `stop` end with `least` or more whole frames.
static bool ends_with_chain(const cuwb_framer *framer, size_t start, size_t stop, unsigned least) {
  for (size_t at = start; at < stop; at++) {
    if (!framer->begins[framer->staging[at]]) continue;
    struct cuwb_chain chain = cuwb_chain_follow(framer, at, stop, UINT32_MAX);
    if (chain.end == CUWB_CHAIN_EXACT && chain.whole >= least) return true;
  }
  return false;
}

// Whether a chain starts inside the frame at `head`, runs across its end, and makes more sense
// than what follows the frame.
static bool is_crossed(const cuwb_framer *framer, size_t length) {
  struct cuwb_chain own = cuwb_chain_follow(framer, framer->head, framer->tail, CHAIN_BEYOND_DOUBT);
  if (own.end == CUWB_CHAIN_FAR_ENOUGH || own.end == CUWB_CHAIN_EXACT) return false;
  size_t stop = framer->head + length;
  for (size_t at = framer->head + 1; at < stop; at++) {
    if (!framer->begins[framer->staging[at]]) continue;
    // One that meets the end of the frame goes on and ends like the frame's own.
    struct cuwb_chain chain = cuwb_chain_follow(framer, at, framer->tail, CHAIN_LONG_ENOUGH);
    if (chain.whole < CROSSING_CHAIN_OVERRULES_A_HEADER || chain.end == CUWB_CHAIN_BROKEN) continue;
    if (chain.end == CUWB_CHAIN_EXACT || own.end == CUWB_CHAIN_BROKEN) return true;
  }
  return false;
}

bool cuwb_chain_overrules(const cuwb_framer *framer, size_t length) {
  if (framer->certain) return false;
  size_t start = framer->head + 1;
  if (length <= framer->tail - framer->head) {
    if (length < CUWB_SHORTEST_SUSPECT) return false;
    return is_crossed(framer, length) ||
           ends_with_chain(framer, start, framer->head + length, CHAIN_OVERRULES_A_HEADER);
  }
  // A control frame is over soon, and then what follows shows whether it was one.
  if (length <= CUWB_CONTROL_FRAME_MAX) return false;
  return ends_with_chain(framer, start, framer->tail, CHAIN_OVERRULES_A_HEADER);
}
