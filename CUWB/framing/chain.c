// SPDX-License-Identifier: Apache-2.0
//
// The numbers below were chosen so that the framer meets the aims of
// Benchmarks/Reliability/FramerFigures.swift: `swift run -c release UWBBenchmarks` plays streams
// with lost, added and damaged bytes, counts the frames that are found, invented and missed, and
// fails if an aim is missed. Change them only with that table beside you.
#include "framing.h"


// A chip sends a few headers repeatedly. So a header that was received before has several times the
// weight of bytes that only look like a header, as about one offset in fifty of a payload does. The
// header of a data message has even more weight if the length inside the message agrees with it,
// and none otherwise.
#define WEIGHT_LENGTH_MATCH 4
#define WEIGHT_KNOWN_HEADER 3
#define WEIGHT_NEW_HEADER 1
#define WEIGHT_LENGTH_MISMATCH 0

// The difference by which a chain has to outweigh the header around it: two headers inside it do,
// one of them known. A header that is known, follows a silence, or agrees with the length inside
// its message is never doubted, so that a peer's data cannot be taken apart.
#define MARGIN 3

// The difference for a segment of data, which has no length inside it, and which may contain bytes
// like one or two messages.
#define MARGIN_SEGMENT 7

// This many frames inside a frame contradict its header even if none of them is known.
#define CONTRADICTING_FRAMES 3

// A frame that is followed by this many whole frames is not doubted.
#define TRUSTED_FOLLOWERS 2

// A chain of this many whole frames needs no other confirmation.
#define CONCLUSIVE_LENGTH 4

bool cuwb_chain_is_known(const cuwb_framer *framer, size_t at) {
  uint32_t value = cuwb_header_value(framer->staging + at);
  bool known = false;
  for (size_t i = 0; i < CUWB_KNOWN_HEADERS; i++) known |= framer->known[i] == value;
  return known;
}

// Weighs the header at `at`, which announces `length` bytes. The bytes up to `stop` have arrived.
static unsigned weight_of(const cuwb_framer *framer, size_t at, size_t stop, size_t length) {
  if (cuwb_chain_is_known(framer, at)) return WEIGHT_KNOWN_HEADER;
  switch (cuwb_data_length_test(framer->staging + at, stop - at, length)) {
  case CUWB_DATA_LENGTH_MATCHES: return WEIGHT_LENGTH_MATCH;
  case CUWB_DATA_LENGTH_DIFFERS: return WEIGHT_LENGTH_MISMATCH;
  case CUWB_DATA_LENGTH_UNKNOWN: return WEIGHT_NEW_HEADER;
  }
  return WEIGHT_NEW_HEADER;
}

struct cuwb_chain cuwb_chain_follow(const cuwb_framer *framer, size_t start, size_t stop) {
  struct cuwb_chain chain = {0, 0, CUWB_CHAIN_FAR_ENOUGH};
  size_t window = framer->head + CUWB_CHAIN_WINDOW;
  size_t at = start;
  while (at < window) {
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
    chain.weight += weight_of(framer, at, stop, header.length);
    if (header.length > available) {
      chain.end = CUWB_CHAIN_IN_FRAME;
      break;
    }
    at += header.length;
    chain.whole++;
  }
  return chain;
}

bool cuwb_chain_is_confirmed(const cuwb_framer *framer, struct cuwb_chain chain) {
  if (chain.whole >= CONCLUSIVE_LENGTH) return true;
  // If any headers are known, the chain needs a known header, or more unknown headers.
  bool enough = framer->known_next == 0 || chain.weight >= WEIGHT_KNOWN_HEADER;
  switch (chain.end) {
  case CUWB_CHAIN_FAR_ENOUGH: return enough;
  case CUWB_CHAIN_IN_FRAME: return chain.whole >= 1 && enough;
  case CUWB_CHAIN_EXACT: return chain.whole >= 2 && enough;
  case CUWB_CHAIN_IN_HEADER: return chain.whole >= 2 && enough;
  case CUWB_CHAIN_BROKEN: return chain.whole >= 3;
  }
  return false;
}

bool cuwb_chain_is_strong(const cuwb_framer *framer, struct cuwb_chain chain) {
  return cuwb_chain_is_confirmed(framer, chain) && chain.whole >= 2;
}

// ------------------------------------------------------------------------------ doubting a header

// Returns whether the data frame at `head` is a segment, by its own flag or by the flag of the
// frame before it.
static bool is_segment_of_data(const cuwb_framer *framer) {
  uint8_t before;
  memcpy(&before, &framer->last_header, 1);
  uint8_t first = framer->staging[framer->head];
  return first & 0x10 || before == (first | 0x10);
}

// Returns whether a chain begins inside the frame of `length` bytes at `head`, ends with the frame,
// and has at least this number of frames or this weight.
static bool ends_with_chain(const cuwb_framer *framer, size_t length, unsigned frames,
                            unsigned weight) {
  size_t stop = framer->head + length;
  for (size_t at = framer->head + 1; at < stop; at++) {
    if (!framer->begins[framer->staging[at]]) continue;
    struct cuwb_chain chain = cuwb_chain_follow(framer, at, stop);
    if (chain.end != CUWB_CHAIN_EXACT) continue;
    if (chain.weight >= weight || chain.whole >= frames) return true;
  }
  return false;
}

// Returns whether a chain begins inside the frame, runs across its end, and is more plausible than
// the frame and the bytes after it. The part of the chain inside the frame counts most, because
// after the frame even a wrong chain may have joined the right one.
static bool is_crossed(const cuwb_framer *framer, size_t length, unsigned own) {
  size_t stop = framer->head + length;
  struct cuwb_chain rest = cuwb_chain_follow(framer, stop, framer->tail);
  if (rest.whole >= TRUSTED_FOLLOWERS) return false;
  // A suspect header after the frame is hardly better than no header at all.
  bool suspect = rest.end == CUWB_CHAIN_BROKEN && rest.whole == 0;
  for (size_t at = framer->head + 1; at < stop; at++) {
    if (!framer->begins[framer->staging[at]]) continue;
    struct cuwb_chain chain = cuwb_chain_follow(framer, at, framer->tail);
    if (chain.end == CUWB_CHAIN_BROKEN) continue;
    if (chain.whole == 0 && chain.weight < WEIGHT_KNOWN_HEADER) continue;
    // The part of the chain that lies inside the frame.
    struct cuwb_chain inside = cuwb_chain_follow(framer, at, stop);
    if (inside.end != CUWB_CHAIN_IN_FRAME && inside.end != CUWB_CHAIN_IN_HEADER) continue;
    if (inside.weight >= own + MARGIN) return true;
    if (inside.weight > own && chain.weight >= own + rest.weight + MARGIN) return true;
    if (suspect && chain.weight > own) return true;
  }
  return false;
}

bool cuwb_chain_contradicts_header(const cuwb_framer *framer, size_t length) {
  size_t available = framer->tail - framer->head;
  if (framer->sync_confirmed || available < CUWB_HEADER_LENGTH) return false;
  unsigned own = weight_of(framer, framer->head, framer->tail, length);
  if (own >= WEIGHT_KNOWN_HEADER) return false;
  // The end of a control frame arrives soon. The bytes after it show whether it was a frame.
  if (length > available && length <= CUWB_CONTROL_FRAME_MAX) return false;

  unsigned type = framer->staging[framer->head] >> 5;
  bool is_control = type >= 1 && type <= 3;
  bool is_segment = !is_control && is_segment_of_data(framer);
  unsigned needed = own + (is_segment ? MARGIN_SEGMENT : MARGIN);
  unsigned frames = is_segment ? UINT32_MAX : CONTRADICTING_FRAMES;
  if (length > available) return ends_with_chain(framer, available, frames, needed);
  return ends_with_chain(framer, length, frames, needed) || is_crossed(framer, length, own);
}
