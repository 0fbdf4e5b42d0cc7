// SPDX-License-Identifier: Apache-2.0
//
// The declarations that all kinds of links use.
#ifndef CUWB_LINK_H
#define CUWB_LINK_H

#include <errno.h>
#include <poll.h>

#include "cuwb.h"
#include "cuwb_framer.h"

#pragma GCC visibility push(hidden)

#define CUWB_NO_DEADLINE UINT64_MAX

// The functions of a kind of link. Byte streams share stream.c, chips on SPI share spi/spi_link.c;
// each kind of character device has its own (chardev/).
struct cuwb_link_ops {
  // Reads a frame, and counts it. A wake before the call has already been reported; a wake during
  // the call ends it with CUWB_WOKEN.
  cuwb_result (*read_frame)(cuwb_link *link, void *memory, size_t capacity, int32_t timeout_ms,
                            cuwb_frame *frame);
  // NULL if the device reports the length of a packet.
  void (*framing_changed)(cuwb_link *link);
  cuwb_result (*write_frame)(cuwb_link *link, const void *bytes, size_t length,
                             int32_t timeout_ms);
  void (*close)(cuwb_link *link);

  // The functions of the boot loader; NULL if there is none.
  cuwb_result (*boot_begin)(cuwb_link *link);
  cuwb_result (*boot_write)(cuwb_link *link, const void *bytes, size_t length);
  cuwb_result (*boot_read)(cuwb_link *link, void *memory, size_t length, int32_t timeout_ms);
  cuwb_result (*boot_end)(cuwb_link *link);
};

// The kind of a descriptor, which decides how it ends and how it is written to.
enum cuwb_medium {
  CUWB_MEDIUM_TTY,
  CUWB_MEDIUM_SOCKET,
  CUWB_MEDIUM_PIPE,
  CUWB_MEDIUM_OTHER,
};

struct cuwb_link {
  // The fields that each frame of a byte stream uses come first, in two cache lines.

  const struct cuwb_link_ops *ops;
  // The framer of a byte stream; NULL for other links.
  cuwb_framer *framer;
  int fd;
  // An eventfd for the poll, and a flag so that a read need not ask the kernel for wakes.
  int wake_fd;
  uint32_t wake_pending;
  // Whether the last read has emptied the kernel's buffer; for byte streams only.
  bool drained;
  // Each counter has one writing thread; any thread may read it.
  cuwb_stats stats;

  cuwb_framing framing;

  // The kind of the descriptor; for byte streams only.
  enum cuwb_medium medium;
  // Releases the locks of the opener, before the descriptor is closed; NULL: there are none.
  void (*unlock)(int fd);
  // The byte that precedes every written frame, with the frame's 16-bit big-endian length; 0 for
  // none.
  uint8_t wrapper;

  // The state of the other kinds of links.
  void *device;
};

// ---------------------------------------------------------------------------------------- results

static inline cuwb_result cuwb_outcome_of(cuwb_outcome outcome) {
  return (cuwb_result){outcome, 0};
}

static inline cuwb_result cuwb_failed(int error) { return (cuwb_result){CUWB_FAILED, error}; }

// Returns whether an errno means that the device was unplugged or its driver removed.
static inline bool cuwb_is_device_lost(int error) {
  return error == ENODEV || error == ENXIO || error == ESHUTDOWN;
}

static inline cuwb_result cuwb_failed_or_gone(int error) {
  return cuwb_is_device_lost(error) ? cuwb_outcome_of(CUWB_GONE) : cuwb_failed(error);
}

// --------------------------------------------------------------------------------------- counters

// There is one writer, so an atomic addition is not needed.
static inline void cuwb_count(uint64_t *counter, uint64_t amount) {
  __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + amount,
                   __ATOMIC_RELAXED);
}

// ----------------------------------------------------------------------------------------- link.c

// Returns a link without operations, or NULL and the reason in *error.
cuwb_link *cuwb_link_allocate(int *error);

// Frees the memory of cuwb_link_allocate. Does not close `fd`.
void cuwb_link_free(cuwb_link *link);

// Clears a pending wake. Returns whether a wake was pending.
bool cuwb_link_consume_wake(cuwb_link *link);

// Clears a pending wake after a poll has found the eventfd readable, and empties it in any case.
// Returns false if it was the echo of a wake that has been reported already, or
// cuwb_link_interrupt_wait.
bool cuwb_link_acknowledge_wake(cuwb_link *link);

// Ends the reader's poll without a wake: it has something to process that no descriptor announces.
void cuwb_link_interrupt_wait(cuwb_link *link);

// Opens and locks a device of a driver that admits any number of programs. Returns 0 or an errno.
int cuwb_open_locked(const char *path, int *fd);

void cuwb_close_locked(int fd);

// --------------------------------------------------------------------------------------- stream.c

// Makes a link of a descriptor that is ready for use. On failure the descriptor is still the
// caller's.
cuwb_result cuwb_stream_open(int fd, enum cuwb_medium medium, cuwb_link **link);

enum cuwb_medium cuwb_stream_medium(int fd);

// --------------------------------------------------------------------------------- packet_queue.c

// Received packets that wait to be read, in memory allocated at open.
struct cuwb_packet_queue {
  uint8_t *memory;
  size_t capacity;
  // Records from `head` to `tail`, each a cuwb_frame and its bytes.
  size_t head;
  size_t tail;
};

// Allocates the memory. Returns 0 or ENOMEM.
int cuwb_packet_queue_create(struct cuwb_packet_queue *queue, size_t capacity);

void cuwb_packet_queue_destroy(struct cuwb_packet_queue *queue);

static inline bool cuwb_packet_queue_is_empty(const struct cuwb_packet_queue *queue) {
  return queue->head == queue->tail;
}

// Returns whether there is room for a packet of `length` bytes.
bool cuwb_packet_queue_has_room(const struct cuwb_packet_queue *queue, size_t length);

// Adds a packet. Returns false if there is no room.
bool cuwb_packet_queue_put(struct cuwb_packet_queue *queue, const void *bytes, cuwb_frame frame);

// Removes the oldest packet. CUWB_TIMEOUT: there is none. CUWB_TOO_LONG: it is kept.
cuwb_result cuwb_packet_queue_take(struct cuwb_packet_queue *queue, void *memory, size_t capacity,
                                   cuwb_frame *frame);

// ----------------------------------------------------------------------------------------- wait.c

// Returns CUWB_NO_DEADLINE for a negative timeout.
uint64_t cuwb_deadline(int32_t timeout_ms);

void cuwb_sleep_ms(int32_t milliseconds);

// Calls poll(2) until `deadline_ns`, and again after interruption by a signal. Returns 0 or an
// errno.
int cuwb_poll(struct pollfd *polled, nfds_t count, uint64_t deadline_ns);

// Waits for `events` on `fd` or for a readable `wake_fd` (-1: none) until `deadline_ns`. Returns 0,
// with the events in *seen (none: the time has passed) and *woken, or an errno.
int cuwb_wait(int fd, short events, int wake_fd, uint64_t deadline_ns, short *seen, bool *woken);

#pragma GCC visibility pop

#endif
