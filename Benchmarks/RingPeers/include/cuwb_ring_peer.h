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
  /// Whether the header was found when this was compiled. Otherwise, the functions are NULL.
  bool is_present;

  void *(*create)(void);
  void (*destroy)(void *ring);

  /// Puts each of `count` frames in and takes it out again on the calling thread. Returns the sum
  /// of the frames' 64-bit words, so that every byte is read.
  uint64_t (*same_thread)(void *ring, const uint8_t *frame, size_t count);

  /// Puts `count` frames in. Spins while the ring is full. Called by one thread.
  void (*produce)(void *ring, const uint8_t *frame, size_t count);

  /// Takes `count` frames out. Spins while the ring is empty. Called by another thread.
  uint64_t (*consume)(void *ring, size_t count);

  /// Sends a frame through `there` and waits for one from `back`, `count` times. Writes the time of
  /// each to `nanoseconds`.
  void (*call)(void *there, void *back, const uint8_t *frame, uint32_t *nanoseconds, size_t count);

  /// Answers each frame from `there` with a copy through `back`. Called by the other thread.
  void (*answer)(void *there, void *back, size_t count);
} cuwb_ring_peer;

/// A ring in which each side keeps its own index and a copy of the other side's. The copy is
/// updated only when the ring seems full or empty. The published indices are far apart, and slots
/// are as large as the slots in Swift.
extern const cuwb_ring_peer cuwb_spinning_ring;
/// A ring like the one above, except that the producer checks after each frame whether the consumer
/// sleeps. A ring whose consumer may sleep has to do this. A full fence orders the two accesses.
extern const cuwb_ring_peer cuwb_waking_ring;

/// boost::lockfree::spsc_queue.
extern const cuwb_ring_peer cuwb_boost_ring;
/// ck_ring of Concurrency Kit.
extern const cuwb_ring_peer cuwb_ck_ring;
/// moodycamel::ReaderWriterQueue.
extern const cuwb_ring_peer cuwb_moodycamel_ring;

/// Returns the sum of the 64-bit words of some bytes. Bytes after the last whole word are ignored.
uint64_t cuwb_reference_sum(const void *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
