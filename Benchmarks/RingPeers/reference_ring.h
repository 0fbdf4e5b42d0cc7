// SPDX-License-Identifier: Apache-2.0
//
// A ring in C. Included twice. WAKES defines whether the producer checks after each frame whether
// the consumer sleeps.
#include <stdlib.h>
#include <string.h>

#include "cuwb_reference_pause.h"
#include "cuwb_ring_peer.h"
#include "cuwb_threads.h"

#define LINE 128
#define STRIDE 512
#define BYTES_OFFSET 32

struct slot_header {
  uint32_t length;
  uint32_t lost_before;
  uint64_t received_at;
};

typedef struct ring {
  // The indices that both threads use.
  _Alignas(LINE) size_t head;
  _Alignas(LINE) size_t tail;
  _Alignas(LINE) uint32_t sleeping;
  // The constants.
  _Alignas(LINE) uint8_t *slots;
  size_t mask;
  // The producer's own index, and its copy of the other one.
  _Alignas(LINE) size_t own_head;
  size_t known_tail;
  // The consumer's own index, and its copy of the other one.
  _Alignas(LINE) size_t own_tail;
  size_t known_head;
} ring;

static ring *make(void) {
  ring *it = aligned_alloc(LINE, sizeof(*it));
  if (!it) return NULL;
  memset(it, 0, sizeof(*it));
  it->slots = aligned_alloc(LINE, CUWB_RING_CAPACITY * STRIDE);
  if (!it->slots) abort();
  memset(it->slots, 0, CUWB_RING_CAPACITY * STRIDE);
  it->mask = CUWB_RING_CAPACITY - 1;
  return it;
}

static void drop(ring *it) {
  free(it->slots);
  free(it);
}

static inline bool put(ring *it, const uint8_t *frame, size_t length, uint64_t received_at) {
  size_t head = it->own_head;
  if (head - it->known_tail > it->mask) {
    it->known_tail = __atomic_load_n(&it->tail, __ATOMIC_ACQUIRE);
    if (head - it->known_tail > it->mask) return false;
  }
  uint8_t *slot = it->slots + (head & it->mask) * STRIDE;
  memcpy(slot + BYTES_OFFSET, frame, length);
  *(struct slot_header *)slot = (struct slot_header){(uint32_t)length, 0, received_at};
  it->own_head = head + 1;
  __atomic_store_n(&it->head, head + 1, __ATOMIC_RELEASE);
  if (WAKES) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    // A system call would follow here, but no thread sleeps in this benchmark.
    if (__atomic_load_n(&it->sleeping, __ATOMIC_RELAXED)) abort();
  }
  return true;
}

static inline const uint8_t *front(ring *it, size_t *length) {
  if (it->own_tail == it->known_head) {
    it->known_head = __atomic_load_n(&it->head, __ATOMIC_ACQUIRE);
    if (it->own_tail == it->known_head) return NULL;
  }
  const uint8_t *slot = it->slots + (it->own_tail & it->mask) * STRIDE;
  *length = ((const struct slot_header *)slot)->length;
  return slot + BYTES_OFFSET;
}

static inline void pop(ring *it) {
  it->own_tail += 1;
  __atomic_store_n(&it->tail, it->own_tail, __ATOMIC_RELEASE);
}

static inline bool take_sum(ring *it, uint64_t *sum) {
  size_t length;
  const uint8_t *bytes = front(it, &length);
  if (!bytes) return false;
  *sum += cuwb_reference_sum(bytes, length);
  pop(it);
  return true;
}

static inline bool take_answer(ring *it, ring *back, uint64_t received_at) {
  size_t length;
  const uint8_t *bytes = front(it, &length);
  if (!bytes) return false;
  while (!put(back, bytes, length, received_at)) cuwb_reference_pause();
  pop(it);
  return true;
}

#include "ring_loops.h"
