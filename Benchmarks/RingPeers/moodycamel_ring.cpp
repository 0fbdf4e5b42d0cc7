// SPDX-License-Identifier: Apache-2.0
#include "cuwb_ring_peer.h"

#define NAME "moodycamel::ReaderWriterQueue"
#define PACKAGE "libreaderwriterqueue-dev"

#if __has_include(<readerwriterqueue/readerwriterqueue.h>)
#include <readerwriterqueue/readerwriterqueue.h>
#include <cstdlib>

#include "cuwb_reference_pause.h"
#include "cuwb_threads.h"

namespace {

struct Frame {
  uint8_t bytes[CUWB_RING_FRAME_LENGTH];
};

using ring = moodycamel::ReaderWriterQueue<Frame, CUWB_RING_CAPACITY>;

// One fewer than the frames of a block, so that there is one block, which makes it a ring.
ring *make() { return new ring(CUWB_RING_CAPACITY - 1); }

void drop(ring *it) { delete it; }

inline bool put(ring *it, const uint8_t *frame, size_t, uint64_t) {
  return it->try_enqueue(*reinterpret_cast<const Frame *>(frame));
}

inline bool take_sum(ring *it, uint64_t *sum) {
  Frame *frame = it->peek();
  if (!frame) return false;
  *sum += cuwb_reference_sum(frame->bytes, sizeof(*frame));
  it->pop();
  return true;
}

inline bool take_answer(ring *it, ring *back, uint64_t) {
  Frame *frame = it->peek();
  if (!frame) return false;
  while (!back->try_enqueue(*frame)) cuwb_reference_pause();
  it->pop();
  return true;
}

#include "ring_loops.h"

}  // namespace

const cuwb_ring_peer cuwb_moodycamel_ring = CUWB_RING_PEER(NAME, PACKAGE);
#else
const cuwb_ring_peer cuwb_moodycamel_ring = {
    NAME, PACKAGE, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
#endif
