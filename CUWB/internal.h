// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files of CUWB only.
#ifndef CUWB_INTERNAL_H
#define CUWB_INTERNAL_H

#include <poll.h>

#include "cuwb.h"
#include "cuwb_framer.h"

#define CUWB_FOR_EVER UINT64_MAX

// What a kind of link has to do. Streams of bytes share one implementation (stream.c), chips on SPI
// another one (wired/wired.c); each kind of character device has its own (node/).
struct cuwb_link_ops {
  // A wake that was asked for before the call has already been reported; one that is asked for
  // while it waits ends it with CUWB_WOKEN.
  cuwb_result (*read_frame)(cuwb_link *link, void *memory, size_t capacity, int32_t timeout_ms,
                            cuwb_frame *frame);
  bool (*frame_buffered)(cuwb_link *link);
  void (*framing_changed)(cuwb_link *link);
  cuwb_result (*write_frame)(cuwb_link *link, const void *bytes, size_t length,
                             int32_t timeout_ms);
  void (*close)(cuwb_link *link);

  // NULL where there is no loader.
  cuwb_result (*boot_begin)(cuwb_link *link);
  cuwb_result (*boot_write)(cuwb_link *link, const void *bytes, size_t length);
  cuwb_result (*boot_read)(cuwb_link *link, void *memory, size_t length, int32_t timeout_ms);
  cuwb_result (*boot_end)(cuwb_link *link);
};

// What is behind a descriptor, as far as it matters: how it ends, and how it is written to.
enum cuwb_medium {
  CUWB_MEDIUM_TTY,
  CUWB_MEDIUM_SOCKET,
  CUWB_MEDIUM_PIPE,
  CUWB_MEDIUM_OTHER,
};

struct cuwb_link {
  const struct cuwb_link_ops *ops;
  int fd;
  // An eventfd for the poll, and a flag so that a read need not ask the kernel whether it was
  // woken.
  int wake_fd;
  uint32_t wake_pending;
  cuwb_framing framing;
  // Each counter has one writing thread; any thread may read it.
  cuwb_stats stats;

  // Streams only.
  enum cuwb_medium medium;
  // Whether this link has set TIOCEXCL.
  bool exclusive;
  // Whether the last read has left nothing in the kernel.
  bool drained;
  cuwb_framer *framer;
  // Not 0: this byte and the frame's length, its higher byte first, go before each frame that is
  // written.
  uint8_t wrapper;

  // Links of whole packets only: what the kind of link keeps.
  void *device;
};

// ---------------------------------------------------------------------------------------- results

static inline cuwb_result cuwb_outcome_of(cuwb_outcome outcome) {
  return (cuwb_result){outcome, 0};
}

static inline cuwb_result cuwb_failed(int error) { return (cuwb_result){CUWB_FAILED, error}; }

// ---------------------------------------------------------------------------------------- counters

// One writer, so there is no need for the price of an atomic addition.
static inline void cuwb_count(uint64_t *counter, uint64_t amount) {
  __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + amount,
                   __ATOMIC_RELAXED);
}

// ------------------------------------------------------------------------------------- link.c

// A link without operations yet, NULL if there is neither memory nor an eventfd (see *error).
cuwb_link *cuwb_link_allocate(int *error);

// Frees what cuwb_link_allocate has made. Leaves `fd` alone.
void cuwb_link_free(cuwb_link *link);

// Takes note of a wake and forgets it. Returns whether there was one.
bool cuwb_link_consume_wake(cuwb_link *link);

// The same where a poll has seen the eventfd: it is emptied in any case. False: an echo of a wake
// that has been reported, or a nudge.
bool cuwb_link_answer_wake(cuwb_link *link);

// Ends the poll of the reader without a wake: something waits for it that no descriptor tells of.
void cuwb_link_nudge(cuwb_link *link);

// ------------------------------------------------------------------------------------- stream.c

// A link on a descriptor that is ready for use. On failure the descriptor is still the caller's.
cuwb_result cuwb_stream_open(int fd, enum cuwb_medium medium, cuwb_link **link);

enum cuwb_medium cuwb_stream_medium(int fd);

// ------------------------------------------------------------------------------------- serial.c

// Raw, 8N1. `baud` 0 keeps the speed. 0, or an errno.
int cuwb_serial_make_raw(int fd, uint32_t baud, bool rts_cts);

// Gives up what cuwb_open_serial took for this process alone.
void cuwb_serial_release(int fd);

// ------------------------------------------------------------------------------------- wait.c

// CUWB_FOR_EVER for a negative timeout.
uint64_t cuwb_deadline(int32_t timeout_ms);

// poll(2) until `deadline_ns`; interruption by a signal is not seen. 0 or an errno.
int cuwb_poll(struct pollfd *polled, nfds_t count, uint64_t deadline_ns);

// Waits for `events` on `fd`, or for bytes on `wake_fd` (-1: none), until `deadline_ns`. Returns
// 0 with the events seen in *seen (none: the time is over) and *woken, or an errno. Interruption
// by a signal is not seen.
int cuwb_wait(int fd, short events, int wake_fd, uint64_t deadline_ns, short *seen, bool *woken);

#endif
