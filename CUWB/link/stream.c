// SPDX-License-Identifier: Apache-2.0
//
// Frames over a descriptor that carries a byte stream. One large read(2) takes whatever there is,
// and the frames are cut out of it: several times cheaper than reading a header and then the rest
// of each frame.
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

#include "link.h"

// The number of reads that may follow the deadline as long as each finds something, so that a
// caller that does not wait gets a frame that is split over a few reads.
#define READS_PAST_DEADLINE 16

// ---------------------------------------------------------------------------------- how links end

// The end of a connection, or the loss of a device.
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

// CUWB_OK: something was read. CUWB_TIMEOUT: there is nothing to read at the moment.
//
// Inlined, and stream_read is called last in cuwb_read_frame, because kernels clear the processor's
// prediction of returns: each return after a system call costs some 8 ns.
__attribute__((always_inline)) static inline cuwb_result read_some(cuwb_link *link) {
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

// Waits until there is something to read (CUWB_OK). CUWB_TIMEOUT: the time has passed (*over), or
// the silence is long enough for the framer to decide something.
static cuwb_result wait_readable(cuwb_link *link, uint64_t deadline, bool *over) {
  uint64_t decision = cuwb_framer_deadline(link->framer);
  uint64_t until = decision < deadline ? decision : deadline;
  uint64_t started = cuwb_monotonic_ns();
  short seen;
  bool woken;
  int error = cuwb_wait(link->fd, POLLIN, link->wake_fd, until, &seen, &woken);
  if (error) return cuwb_failed(error);
  // If the flag is not set, the wake was reported before its thread wrote to the eventfd. This is
  // its late write.
  if (woken && cuwb_link_acknowledge_wake(link)) return cuwb_outcome_of(CUWB_WOKEN);
  if (seen) {
    link->drained = false;
    // Nothing depended on the silence while it lasted, but the byte that ends it begins a frame.
    // Only the time spent waiting counts, because bytes may have arrived at other times.
    uint64_t now = decision == CUWB_NO_DEADLINE ? cuwb_monotonic_ns() : started;
    if (now - started >= cuwb_framer_gap(link->framer)) cuwb_framer_quiet(link->framer, now);
    // A hang-up with nothing to read: only read(2) reports its meaning.
    if (!(seen & POLLIN)) {
      cuwb_result result = read_some(link);
      return result.outcome == CUWB_TIMEOUT ? ended(link) : result;
    }
    return cuwb_outcome_of(CUWB_OK);
  }
  if (woken) return cuwb_outcome_of(CUWB_OK);
  // Not the current time: this thread may not have run for a while since the poll ended, and bytes
  // may have arrived meanwhile.
  cuwb_framer_quiet(link->framer, until > started ? until : started);
  *over = deadline <= until;
  return cuwb_outcome_of(CUWB_TIMEOUT);
}

// CUWB_TIMEOUT: there is no whole frame. The copy of a measurement takes 2 to 4 ns, and a read
// takes some 1,800 ns. Without it the frame would have to be valid until the next read, which the
// packet queues of the other links, written by a second thread, could not promise without a copy of
// their own.
static cuwb_result deliver(cuwb_link *link, void *memory, size_t capacity, cuwb_frame *frame) {
  cuwb_found found;
  if (!cuwb_framer_find(link->framer, &found)) return cuwb_outcome_of(CUWB_TIMEOUT);
  *frame = found.frame;
  if (found.frame.length > capacity) return cuwb_outcome_of(CUWB_TOO_LONG);
  memcpy(memory, found.bytes, found.frame.length);
  cuwb_framer_take(link->framer);
  cuwb_count(&link->stats.frames_read, 1);
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
      // The last read filled the memory, so there may be more.
      result = read_some(link);
      // Bytes that never form a frame must not keep the caller here forever.
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

static void stream_framing_changed(cuwb_link *link) {
  cuwb_framer_set_framing(link->framer, link->framing);
}

// ---------------------------------------------------------------------------------------- writing

// Pipes have no MSG_NOSIGNAL. SIGPIPE is sent to the writing thread, which can block the signal and
// remove it again, unless a SIGPIPE was pending already.
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

// The remaining bytes of the wrapper and of the frame.
struct parts {
  struct iovec at[2];
};

static ssize_t write_some(const cuwb_link *link, struct parts *left) {
  // Some devices write an empty part separately.
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

// If the time passes in the middle of a frame, its beginning has been sent and cannot be taken
// back. The chip discards it after a pause (Qorvo's firmware after 100 ms), so a caller should
// pause before it tries again.
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
    // poll(2) would report the hang-up repeatedly.
    if (hung_up) return ended(link);

    // The clock is read only if the kernel makes us wait.
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
  if (link->unlock) link->unlock(link->fd);
  close(link->fd);
  cuwb_framer_destroy(link->framer);
}

static const struct cuwb_link_ops stream_ops = {
    .read_frame = stream_read,
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
