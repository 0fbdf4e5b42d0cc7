// SPDX-License-Identifier: Apache-2.0
#include "cuwb_ring_peer.h"

#define NAME "boost::lockfree::spsc_queue"
#define PACKAGE "libboost-dev"

#if __has_include(<boost/lockfree/spsc_queue.hpp>)
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdlib>

#include "cuwb_reference_pause.h"
#include "cuwb_threads.h"

namespace {

struct Frame {
  uint8_t bytes[CUWB_RING_FRAME_LENGTH];
};

using ring =
    boost::lockfree::spsc_queue<Frame, boost::lockfree::capacity<CUWB_RING_CAPACITY>>;

ring *make() { return new ring; }

void drop(ring *it) { delete it; }

inline bool put(ring *it, const uint8_t *frame, size_t, uint64_t) {
  return it->push(*reinterpret_cast<const Frame *>(frame));
}

inline bool take_sum(ring *it, uint64_t *sum) {
  return it->consume_one(
      [&](const Frame &frame) { *sum += cuwb_reference_sum(frame.bytes, sizeof(frame)); });
}

inline bool take_answer(ring *it, ring *back, uint64_t) {
  return it->consume_one([&](const Frame &frame) {
    while (!back->push(frame)) cuwb_reference_pause();
  });
}

#include "ring_loops.h"

}  // namespace

const cuwb_ring_peer cuwb_boost_ring = CUWB_RING_PEER(NAME, PACKAGE);
#else
const cuwb_ring_peer cuwb_boost_ring = {
    NAME, PACKAGE, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
#endif
