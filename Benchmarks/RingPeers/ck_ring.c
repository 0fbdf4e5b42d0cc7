// SPDX-License-Identifier: Apache-2.0
#include "cuwb_ring_peer.h"

#define NAME "ck_ring, Concurrency Kit"
#define PACKAGE "libck-dev"

#if __has_include(<ck_ring.h>)
#include <ck_ring.h>
#include <stdlib.h>
#include <string.h>

#include "cuwb_reference_pause.h"
#include "cuwb_threads.h"

struct frame {
  uint8_t bytes[CUWB_RING_FRAME_LENGTH];
};
CK_RING_PROTOTYPE(frame, frame)

typedef struct ring {
  ck_ring_t indices;
  struct frame frames[CUWB_RING_CAPACITY];
} ring;

static ring *make(void) {
  ring *it = aligned_alloc(128, (sizeof(*it) + 127) / 128 * 128);
  if (!it) abort();
  ck_ring_init(&it->indices, CUWB_RING_CAPACITY);
  return it;
}

static void drop(ring *it) { free(it); }

static inline bool put(ring *it, const uint8_t *frame, size_t length, uint64_t received_at) {
  (void)length;
  (void)received_at;
  return ck_ring_enqueue_spsc_frame(&it->indices, it->frames, (struct frame *)frame);
}

// The ring cannot lend a slot, so frames are copied out.
static inline bool take_sum(ring *it, uint64_t *sum) {
  struct frame frame;
  if (!ck_ring_dequeue_spsc_frame(&it->indices, it->frames, &frame)) return false;
  *sum += cuwb_reference_sum(frame.bytes, sizeof(frame));
  return true;
}

static inline bool take_answer(ring *it, ring *back, uint64_t received_at) {
  struct frame frame;
  if (!ck_ring_dequeue_spsc_frame(&it->indices, it->frames, &frame)) return false;
  while (!put(back, frame.bytes, sizeof(frame), received_at)) cuwb_reference_pause();
  return true;
}

#include "ring_loops.h"

const cuwb_ring_peer cuwb_ck_ring = CUWB_RING_PEER(NAME, PACKAGE);
#else
const cuwb_ring_peer cuwb_ck_ring = {.name = NAME, .package = PACKAGE};
#endif
