// SPDX-License-Identifier: Apache-2.0
//
// Rings of frames between two threads that do the same work as the ring in Swift: two in C, and
// rings of well-known libraries whose headers were found.
#ifndef CUWB_RING_PEER_H
#define CUWB_RING_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The greatest length of a control packet, rounded up.
enum { CUWB_RING_FRAME_LENGTH = 264 };
/// Slots of each ring.
enum { CUWB_RING_CAPACITY = 128 };

typedef struct cuwb_ring_peer {
  const char *name;
  /// The Debian package of the header; NULL for the two in C.
  const char *package;
  /// Whether the header was found when this was compiled. The functions are NULL otherwise.
  bool is_present;

  void *(*create)(void);
  void (*destroy)(void *ring);

  /// Puts each of `count` frames in and takes it out again on the calling thread. Returns the sum
  /// of the frames' 64-bit words, so that every byte is read.
  uint64_t (*same_thread)(void *ring, const uint8_t *frame, size_t count);

  /// Puts `count` frames in, spinning while the ring is full. Called by one thread.
  void (*produce)(void *ring, const uint8_t *frame, size_t count);

  /// Takes `count` frames out, spinning while it is empty. Called by another thread.
  uint64_t (*consume)(void *ring, size_t count);

  /// Sends a frame through `there` and waits for one from `back`, `count` times; the time of each
  /// is written to `nanoseconds`.
  void (*call)(void *there, void *back, const uint8_t *frame, uint32_t *nanoseconds, size_t count);

  /// The other side answers each frame from `there` with a copy through `back`.
  void (*answer)(void *there, void *back, size_t count);
} cuwb_ring_peer;

/// Each side keeps its own index and a copy of the other's, read again only when the copy says
/// "full" or "empty"; the published indices are far apart; slots are as large as the slots in
/// Swift.
extern const cuwb_ring_peer cuwb_spinning_ring;
/// As the ring above, but the producer checks after each frame whether the consumer sleeps, as a
/// ring must whose consumer may sleep. A full fence orders the two accesses.
extern const cuwb_ring_peer cuwb_waking_ring;

/// boost::lockfree::spsc_queue.
extern const cuwb_ring_peer cuwb_boost_ring;
/// ck_ring of Concurrency Kit.
extern const cuwb_ring_peer cuwb_ck_ring;
/// moodycamel::ReaderWriterQueue.
extern const cuwb_ring_peer cuwb_moodycamel_ring;

/// The sum of the 64-bit words of some bytes; the rest of the last word does not count.
uint64_t cuwb_reference_sum(const void *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
