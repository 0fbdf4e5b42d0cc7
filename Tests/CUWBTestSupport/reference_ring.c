// SPDX-License-Identifier: Apache-2.0
#include "cuwb_reference_ring.h"

#include <stdlib.h>
#include <string.h>

#include "cuwb_reference_pause.h"
#include "cuwb_threads.h"

#define LINE 128
#define STRIDE 512
#define BYTES_OFFSET 32

struct slot_header {
  uint32_t length;
  uint32_t lost_before;
  uint64_t received_at;
};

struct cuwb_reference_ring {
  // Shared.
  _Alignas(LINE) size_t head;
  _Alignas(LINE) size_t tail;
  _Alignas(LINE) uint32_t sleeping;
  // Constant.
  _Alignas(LINE) uint8_t *slots;
  size_t mask;
  bool wakes;
  // The producer's own.
  _Alignas(LINE) size_t own_head;
  size_t known_tail;
  // The consumer's own.
  _Alignas(LINE) size_t own_tail;
  size_t known_head;
};

cuwb_reference_ring *cuwb_reference_ring_create(size_t capacity, bool wakes) {
  cuwb_reference_ring *ring = aligned_alloc(LINE, sizeof(*ring));
  if (!ring) return NULL;
  memset(ring, 0, sizeof(*ring));
  ring->slots = aligned_alloc(LINE, capacity * STRIDE);
  if (!ring->slots) abort();
  memset(ring->slots, 0, capacity * STRIDE);
  ring->mask = capacity - 1;
  ring->wakes = wakes;
  return ring;
}

void cuwb_reference_ring_destroy(cuwb_reference_ring *ring) {
  free(ring->slots);
  free(ring);
}

static inline bool push(cuwb_reference_ring *ring, const uint8_t *frame, size_t length,
                        uint64_t received_at) {
  size_t head = ring->own_head;
  if (head - ring->known_tail > ring->mask) {
    ring->known_tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
    if (head - ring->known_tail > ring->mask) return false;
  }
  uint8_t *slot = ring->slots + (head & ring->mask) * STRIDE;
  memcpy(slot + BYTES_OFFSET, frame, length);
  *(struct slot_header *)slot = (struct slot_header){(uint32_t)length, 0, received_at};
  ring->own_head = head + 1;
  __atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
  if (ring->wakes) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    // No thread sleeps here; what would follow is a system call.
    if (__atomic_load_n(&ring->sleeping, __ATOMIC_RELAXED)) abort();
  }
  return true;
}

static inline const uint8_t *front(cuwb_reference_ring *ring, size_t *length) {
  if (ring->own_tail == ring->known_head) {
    ring->known_head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    if (ring->own_tail == ring->known_head) return NULL;
  }
  const uint8_t *slot = ring->slots + (ring->own_tail & ring->mask) * STRIDE;
  *length = ((const struct slot_header *)slot)->length;
  return slot + BYTES_OFFSET;
}

static inline void pop(cuwb_reference_ring *ring) {
  ring->own_tail += 1;
  __atomic_store_n(&ring->tail, ring->own_tail, __ATOMIC_RELEASE);
}

// Not inlined, as a call from Swift is not.
__attribute__((noinline)) uint64_t cuwb_reference_sum(const void *memory, size_t length) {
  const uint8_t *bytes = memory;
  uint64_t sum = 0;
  for (size_t i = 0; i + 8 <= length; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, sizeof(word));
    sum += word;
  }
  return sum;
}

__attribute__((noinline)) uint64_t cuwb_reference_ring_same_thread(cuwb_reference_ring *ring,
                                                                   const uint8_t *frame,
                                                                   size_t length, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (!push(ring, frame, length, i)) abort();
    size_t got;
    const uint8_t *bytes = front(ring, &got);
    if (!bytes) abort();
    sum += cuwb_reference_sum(bytes, got);
    pop(ring);
  }
  return sum;
}

void cuwb_reference_ring_produce(cuwb_reference_ring *ring, const uint8_t *frame, size_t length,
                                 size_t count) {
  for (size_t i = 0; i < count; i++) {
    while (!push(ring, frame, length, i)) cuwb_reference_pause();
  }
}

uint64_t cuwb_reference_ring_consume(cuwb_reference_ring *ring, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    const uint8_t *bytes;
    size_t length;
    while (!(bytes = front(ring, &length))) cuwb_reference_pause();
    sum += cuwb_reference_sum(bytes, length);
    pop(ring);
  }
  return sum;
}

void cuwb_reference_ring_call(cuwb_reference_ring *there, cuwb_reference_ring *back,
                              const uint8_t *frame, size_t length, uint32_t *nanoseconds,
                              size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint64_t started = cuwb_test_now();
    while (!push(there, frame, length, i)) cuwb_reference_pause();
    cuwb_reference_ring_consume(back, 1);
    nanoseconds[i] = (uint32_t)(cuwb_test_now() - started);
  }
}

void cuwb_reference_ring_answer(cuwb_reference_ring *there, cuwb_reference_ring *back,
                                size_t count) {
  for (size_t i = 0; i < count; i++) {
    const uint8_t *bytes;
    size_t length;
    while (!(bytes = front(there, &length))) cuwb_reference_pause();
    while (!push(back, bytes, length, i)) cuwb_reference_pause();
    pop(there);
  }
}
