// SPDX-License-Identifier: Apache-2.0
//
// The common parts of all kinds of links: dispatch, waking, counters.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <unistd.h>

#include "cuwb_chips.h"
#include "link.h"

cuwb_link *cuwb_link_allocate(int *error) {
  cuwb_link *link = calloc(1, sizeof(*link));
  if (!link) {
    *error = ENOMEM;
    return NULL;
  }
  link->fd = -1;
  link->framing = cuwb_framing_default();
  link->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (link->wake_fd < 0) {
    *error = errno;
    free(link);
    return NULL;
  }
  return link;
}

void cuwb_link_free(cuwb_link *link) {
  close(link->wake_fd);
  free(link);
}

void cuwb_link_close(cuwb_link *link) {
  link->ops->close(link);
  cuwb_link_free(link);
}

int cuwb_open_locked(const char *path, int *fd) {
  *fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*fd < 0) return errno;
  if (flock(*fd, LOCK_EX | LOCK_NB) == 0) return 0;
  int error = errno == EWOULDBLOCK ? EBUSY : errno;
  close(*fd);
  return error;
}

// Unlocks explicitly, because a child shares the open file, and with it the lock, between fork and
// exec.
void cuwb_close_locked(int fd) {
  flock(fd, LOCK_UN);
  close(fd);
}

// ---------------------------------------------------------------------------------------- reading

cuwb_result cuwb_read_frame(cuwb_link *link, void *memory, size_t capacity, int32_t timeout_ms,
                            cuwb_frame *frame) {
  *frame = (cuwb_frame){0};
  // The wake is checked before any frame. Otherwise, continuous data would hide the wake.
  if (cuwb_link_consume_wake(link)) return cuwb_outcome_of(CUWB_WOKEN);
  return link->ops->read_frame(link, memory, capacity, timeout_ms, frame);
}

void cuwb_link_set_framing(cuwb_link *link, cuwb_framing framing) {
  link->framing = framing;
  if (link->ops->framing_changed) link->ops->framing_changed(link);
}

cuwb_framing cuwb_link_get_framing(const cuwb_link *link) { return link->framing; }

// ----------------------------------------------------------------------------------------- waking

void cuwb_link_wake(cuwb_link *link) {
  // If the flag is set already, the thread that has set it has written or is about to write.
  if (__atomic_exchange_n(&link->wake_pending, 1, __ATOMIC_ACQ_REL)) return;
  cuwb_link_interrupt_wait(link);
}

void cuwb_link_interrupt_wait(cuwb_link *link) {
  uint64_t one = 1;
  ssize_t written;
  do {
    written = write(link->wake_fd, &one, sizeof(one));
  } while (written < 0 && errno == EINTR);
}

bool cuwb_link_consume_wake(cuwb_link *link) {
  if (!__atomic_load_n(&link->wake_pending, __ATOMIC_RELAXED)) return false;
  return cuwb_link_acknowledge_wake(link);
}

bool cuwb_link_acknowledge_wake(cuwb_link *link) {
  // Clears the eventfd first, the flag second. A wake in between finds the flag set, and counts as
  // part of this wake. If its thread has not written yet, the next poll ends early and finds no
  // flag.
  uint64_t count;
  ssize_t got = read(link->wake_fd, &count, sizeof(count));
  (void)got;
  return __atomic_exchange_n(&link->wake_pending, 0, __ATOMIC_ACQ_REL);
}

// ---------------------------------------------------------------------------------------- writing

cuwb_result cuwb_write_frame(cuwb_link *link, const void *bytes, size_t length,
                             int32_t timeout_ms) {
  if (length == 0) return cuwb_outcome_of(CUWB_INVALID);
  cuwb_result result = link->ops->write_frame(link, bytes, length, timeout_ms);
  if (result.outcome == CUWB_OK) cuwb_count(&link->stats.frames_written, 1);
  return result;
}

// ------------------------------------------------------------------------------------ boot loader

cuwb_result cuwb_boot_begin(cuwb_link *link) {
  if (!link->ops->boot_begin) return cuwb_outcome_of(CUWB_INVALID);
  return link->ops->boot_begin(link);
}

cuwb_result cuwb_boot_write(cuwb_link *link, const void *bytes, size_t length) {
  if (!link->ops->boot_begin || length == 0) return cuwb_outcome_of(CUWB_INVALID);
  return link->ops->boot_write(link, bytes, length);
}

cuwb_result cuwb_boot_read(cuwb_link *link, void *memory, size_t length, int32_t timeout_ms) {
  if (!link->ops->boot_begin || length == 0) return cuwb_outcome_of(CUWB_INVALID);
  return link->ops->boot_read(link, memory, length, timeout_ms);
}

cuwb_result cuwb_boot_end(cuwb_link *link) {
  if (!link->ops->boot_begin) return cuwb_outcome_of(CUWB_INVALID);
  return link->ops->boot_end(link);
}

// ------------------------------------------------------------------------------------------- rest

cuwb_stats cuwb_link_get_stats(const cuwb_link *link) {
  const cuwb_stats *stats = &link->stats;
  // A byte stream's losses are counted by its framer.
  uint64_t skipped = link->framer ? cuwb_framer_skipped(link->framer) : 0;
  uint64_t lost_sync = link->framer ? cuwb_framer_resynchronisations(link->framer) : 0;
  return (cuwb_stats){
      .frames_read = __atomic_load_n(&stats->frames_read, __ATOMIC_RELAXED),
      .bytes_read = __atomic_load_n(&stats->bytes_read, __ATOMIC_RELAXED),
      .reads = __atomic_load_n(&stats->reads, __ATOMIC_RELAXED),
      .frames_written = __atomic_load_n(&stats->frames_written, __ATOMIC_RELAXED),
      .bytes_written = __atomic_load_n(&stats->bytes_written, __ATOMIC_RELAXED),
      .bytes_skipped = skipped + __atomic_load_n(&stats->bytes_skipped, __ATOMIC_RELAXED),
      .resynchronisations =
          lost_sync + __atomic_load_n(&stats->resynchronisations, __ATOMIC_RELAXED),
  };
}

int cuwb_link_descriptor(const cuwb_link *link) { return link->fd; }
