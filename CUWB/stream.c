// SPDX-License-Identifier: Apache-2.0
//
// Frames over a descriptor that carries a stream of bytes. One large read(2) takes whatever is
// there and the frames are cut out of it: several times cheaper than asking for a header and then
// for the rest of each frame.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "framing.h"
#include "internal.h"

// How often a read whose time is over may still take what is there at once. A frame that is split
// over a few reads should be found by a caller that does not want to wait.
#define READS_PAST_DEADLINE 16

// -------------------------------------------------------------------------------- how things end

// The end of a stream in good order, or the loss of a device.
static cuwb_result ended(const cuwb_link *link) {
  return cuwb_outcome_of(link->medium == CUWB_MEDIUM_TTY ? CUWB_GONE : CUWB_CLOSED);
}

static cuwb_result refused(const cuwb_link *link, int error) {
  switch (error) {
  case EPIPE:
  case ECONNRESET:
    return ended(link);
  case EIO:
  case ENXIO:
  case ENODEV:
    if (link->medium == CUWB_MEDIUM_TTY || link->medium == CUWB_MEDIUM_OTHER) {
      return cuwb_outcome_of(CUWB_GONE);
    }
    return cuwb_failed(error);
  default:
    return cuwb_failed(error);
  }
}

// ---------------------------------------------------------------------------------------- reading

// CUWB_OK: something was read. CUWB_TIMEOUT: there is nothing to read right now.
static cuwb_result read_some(cuwb_link *link) {
  size_t room;
  uint8_t *memory = cuwb_framer_room(link->framer, &room);
  ssize_t count;
  do {
    count = read(link->fd, memory, room);
  } while (count < 0 && errno == EINTR);

  if (count > 0) {
    cuwb_framer_arrived(link->framer, (size_t)count, cuwb_monotonic_ns());
    link->drained = (size_t)count < room;
    cuwb_count(&link->stats.reads, 1);
    cuwb_count(&link->stats.bytes_read, (uint64_t)count);
    return cuwb_outcome_of(CUWB_OK);
  }
  if (count == 0) return ended(link);
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    link->drained = true;
    return cuwb_outcome_of(CUWB_TIMEOUT);
  }
  return refused(link, errno);
}

// Waits until there is something to read (CUWB_OK). CUWB_TIMEOUT: the time is over, or the
// silence so long that the framer should have another look; `*over` tells which.
static cuwb_result wait_readable(cuwb_link *link, uint64_t deadline, bool *over) {
  uint64_t decision = cuwb_framer_deadline(link->framer);
  uint64_t until = decision < deadline ? decision : deadline;
  uint64_t started = cuwb_monotonic_ns();
  short seen;
  bool woken;
  int error = cuwb_wait(link->fd, POLLIN, link->wake_fd, until, &seen, &woken);
  if (error) return cuwb_failed(error);
  // Without a flag it is the echo of a wake that has been reported: its write came after our look
  // at the flag.
  if (woken && cuwb_link_answer_wake(link)) return cuwb_outcome_of(CUWB_WOKEN);
  if (seen) {
    link->drained = false;
    // Nothing depended on the silence while it lasted, but the frame that ends it begins for
    // certain. Waiting counts only here: time spent elsewhere says nothing about the line.
    uint64_t now = decision == CUWB_FOR_EVER ? cuwb_monotonic_ns() : started;
    if (now - started >= cuwb_framer_gap(link->framer)) cuwb_framer_quiet(link->framer, now);
    // A hang-up without anything to read: read(2) says what it means, or else nothing will.
    if (!(seen & POLLIN)) {
      cuwb_result result = read_some(link);
      return result.outcome == CUWB_TIMEOUT ? ended(link) : result;
    }
    return cuwb_outcome_of(CUWB_OK);
  }
  if (woken) return cuwb_outcome_of(CUWB_OK);
  // Not the present time: this thread may have been kept from running since the poll ended, and
  // bytes may have come meanwhile.
  cuwb_framer_quiet(link->framer, until > started ? until : started);
  *over = deadline <= until;
  return cuwb_outcome_of(CUWB_TIMEOUT);
}

static void publish_losses(cuwb_link *link) {
  __atomic_store_n(&link->stats.bytes_skipped, cuwb_framer_skipped(link->framer),
                   __ATOMIC_RELAXED);
  __atomic_store_n(&link->stats.resynchronisations,
                   cuwb_framer_resynchronisations(link->framer), __ATOMIC_RELAXED);
}

// CUWB_TIMEOUT here: there is no frame.
static cuwb_result deliver(cuwb_link *link, void *memory, size_t capacity, cuwb_frame *frame) {
  cuwb_framer *framer = link->framer;
  if (cuwb_framer_is_one_frame(framer) && framer->skipped_now == 0) {
    size_t length = framer->tail - framer->head;
    *frame = (cuwb_frame){.length = (uint32_t)length, .received_ns = framer->arrived_ns};
    if (length > capacity) return cuwb_outcome_of(CUWB_TOO_LONG);
    memcpy(memory, framer->staging + framer->head, length);
    cuwb_framer_take_bytes(framer, length);
    return cuwb_outcome_of(CUWB_OK);
  }
  cuwb_found found;
  bool there = cuwb_framer_find(framer, &found);
  publish_losses(link);
  if (!there) return cuwb_outcome_of(CUWB_TIMEOUT);
  *frame = found.frame;
  if (found.frame.length > capacity) return cuwb_outcome_of(CUWB_TOO_LONG);
  memcpy(memory, found.bytes, found.frame.length);
  cuwb_framer_take(framer);
  return cuwb_outcome_of(CUWB_OK);
}

static cuwb_result stream_read(cuwb_link *link, void *memory, size_t capacity, int32_t timeout_ms,
                               cuwb_frame *frame) {
  cuwb_result result = deliver(link, memory, capacity, frame);
  if (result.outcome != CUWB_TIMEOUT) return result;

  uint64_t deadline = cuwb_deadline(timeout_ms);
  bool over = false;
  for (unsigned late = 0;;) {
    if (link->drained) {
      result = wait_readable(link, deadline, &over);
    } else if (cuwb_link_consume_wake(link)) {
      result = cuwb_outcome_of(CUWB_WOKEN);
    } else {
      // After a read that did not fill the memory another one would find nothing; not so here.
      result = read_some(link);
      // Bytes that never make a frame must not keep the caller here for ever.
      if (result.outcome == CUWB_OK && cuwb_framer_arrival(link->framer) > deadline) {
        over = ++late == READS_PAST_DEADLINE;
      }
    }
    if (result.outcome == CUWB_WOKEN) return result;
    bool end = result.outcome != CUWB_OK && result.outcome != CUWB_TIMEOUT;
    if (end) cuwb_framer_ended(link->framer);

    cuwb_result delivered = deliver(link, memory, capacity, frame);
    if (delivered.outcome != CUWB_TIMEOUT) return delivered;
    if (end) return result;
    if (over) return cuwb_outcome_of(CUWB_TIMEOUT);
  }
}

static bool stream_frame_buffered(cuwb_link *link) {
  cuwb_found found;
  bool there = cuwb_framer_find(link->framer, &found);
  publish_losses(link);
  return there;
}

static void stream_framing_changed(cuwb_link *link) {
  cuwb_framer_set_framing(link->framer, link->framing);
}

// ---------------------------------------------------------------------------------------- writing

// MSG_NOSIGNAL has no counterpart for pipes. SIGPIPE is sent to the thread that writes, so it can
// be held back and taken away again there, unless one was pending already.
static ssize_t write_to_pipe(int fd, const struct iovec *parts, int count_of_parts) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ssize_t count = writev(fd, parts, count_of_parts);
  int error = errno;
  if (count < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE)) {
    const struct timespec at_once = {0, 0};
    while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return count;
}

// What is left to write: what goes before the frame, and the frame.
struct parts {
  struct iovec at[2];
};

static ssize_t write_some(const cuwb_link *link, struct parts *left) {
  // An empty part would be a write of its own on some devices.
  int first = left->at[0].iov_len == 0;
  struct iovec *parts = left->at + first;
  int count = 2 - first;
  switch (link->medium) {
  case CUWB_MEDIUM_SOCKET: {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    return sendmsg(link->fd, &message, MSG_NOSIGNAL);
  }
  case CUWB_MEDIUM_PIPE: return write_to_pipe(link->fd, parts, count);
  default: return writev(link->fd, parts, count);
  }
}

static void advance(struct parts *left, size_t count) {
  for (unsigned i = 0; i < 2; i++) {
    size_t here = count < left->at[i].iov_len ? count : left->at[i].iov_len;
    left->at[i].iov_base = (uint8_t *)left->at[i].iov_base + here;
    left->at[i].iov_len -= here;
    count -= here;
  }
}

// When the time is over in the middle of a frame, its beginning is on the line and cannot be taken
// back. Nothing here can mend that; a chip throws such a fragment away after a pause (Qorvo's
// firmware after 100 ms), so a caller does well to leave one before it tries again.
static cuwb_result stream_write(cuwb_link *link, const void *memory, size_t length,
                                int32_t timeout_ms) {
  if (link->wrapper && length > UINT16_MAX) return cuwb_failed(EMSGSIZE);
  uint8_t wrapper[3] = {link->wrapper, (uint8_t)(length >> 8), (uint8_t)length};
  struct parts left = {{{wrapper, link->wrapper ? sizeof(wrapper) : 0}, {(void *)memory, length}}};
  uint64_t deadline = 0;
  bool hung_up = false;
  while (left.at[1].iov_len > 0) {
    ssize_t count = write_some(link, &left);
    if (count > 0) {
      cuwb_count(&link->stats.bytes_written, (uint64_t)count);
      advance(&left, (size_t)count);
      hung_up = false;
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return refused(link, errno);
    // poll(2) would report the hang-up again and again.
    if (hung_up) return ended(link);

    // The clock is not looked at unless the kernel makes us wait.
    if (deadline == 0) deadline = cuwb_deadline(timeout_ms);
    short seen;
    bool woken;
    int error = cuwb_wait(link->fd, POLLOUT, -1, deadline, &seen, &woken);
    if (error) return cuwb_failed(error);
    if (!seen) return cuwb_outcome_of(CUWB_TIMEOUT);
    hung_up = !(seen & POLLOUT);
  }
  return cuwb_outcome_of(CUWB_OK);
}

// ---------------------------------------------------------------------------------- open and close

static void stream_close(cuwb_link *link) {
  if (link->exclusive) cuwb_serial_release(link->fd);
  close(link->fd);
  cuwb_framer_destroy(link->framer);
}

static const struct cuwb_link_ops stream_ops = {
    .read_frame = stream_read,
    .frame_buffered = stream_frame_buffered,
    .framing_changed = stream_framing_changed,
    .write_frame = stream_write,
    .close = stream_close,
};

enum cuwb_medium cuwb_stream_medium(int fd) {
  struct stat status;
  if (isatty(fd)) return CUWB_MEDIUM_TTY;
  if (fstat(fd, &status) < 0) return CUWB_MEDIUM_OTHER;
  if (S_ISSOCK(status.st_mode)) return CUWB_MEDIUM_SOCKET;
  if (S_ISFIFO(status.st_mode)) return CUWB_MEDIUM_PIPE;
  return CUWB_MEDIUM_OTHER;
}

cuwb_result cuwb_stream_open(int fd, enum cuwb_medium medium, cuwb_link **opened) {
  int error;
  cuwb_link *link = cuwb_link_allocate(&error);
  if (!link) return cuwb_failed(error);
  link->framer = cuwb_framer_create(link->framing, cuwb_monotonic_ns());
  if (!link->framer) {
    cuwb_link_free(link);
    return cuwb_failed(ENOMEM);
  }
  link->ops = &stream_ops;
  link->fd = fd;
  link->medium = medium;
  *opened = link;
  return cuwb_outcome_of(CUWB_OK);
}
