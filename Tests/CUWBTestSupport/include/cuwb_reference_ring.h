// SPDX-License-Identifier: Apache-2.0
//
// A ring of frame slots between two threads, in C: the reference for the one in Swift. Each side
// keeps its own index and a copy of the other's, read again only when the copy says "full" or
// "empty"; the published indices are far apart; slots are as large as those in Swift.
#ifndef CUWB_REFERENCE_RING_H
#define CUWB_REFERENCE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cuwb_reference_ring cuwb_reference_ring;

/// `capacity` is a power of two. With `wakes` the producer looks, after each frame, whether the
/// consumer sleeps, as a ring must whose consumer may sleep: it costs a full fence.
cuwb_reference_ring *cuwb_reference_ring_create(size_t capacity, bool wakes);
void cuwb_reference_ring_destroy(cuwb_reference_ring *ring);

/// Puts each of `count` frames in and takes it out again on the calling thread. Returns the sum of
/// the frames' 64-bit words, so that every byte is read.
uint64_t cuwb_reference_ring_same_thread(cuwb_reference_ring *ring, const uint8_t *frame,
                                         size_t length, size_t count);

/// Puts `count` frames in, spinning while the ring is full. One thread.
void cuwb_reference_ring_produce(cuwb_reference_ring *ring, const uint8_t *frame, size_t length,
                                 size_t count);

/// Takes `count` frames out, spinning while it is empty. One other thread.
uint64_t cuwb_reference_ring_consume(cuwb_reference_ring *ring, size_t count);

/// Sends a frame through `there` and waits for one from `back`, `count` times; the time of each is
/// written to `nanoseconds`.
void cuwb_reference_ring_call(cuwb_reference_ring *there, cuwb_reference_ring *back,
                              const uint8_t *frame, size_t length, uint32_t *nanoseconds,
                              size_t count);

/// The other side: answers each frame from `there` with a copy through `back`.
void cuwb_reference_ring_answer(cuwb_reference_ring *there, cuwb_reference_ring *back,
                                size_t count);

/// The sum of the 64-bit words of some bytes; the rest of the last word does not count.
uint64_t cuwb_reference_sum(const void *bytes, size_t length);

#endif
