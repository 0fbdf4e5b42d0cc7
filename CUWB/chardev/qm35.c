// SPDX-License-Identifier: Apache-2.0
//
// Qorvo's kernel driver for the QM35: each read and each write is one packet. The facts of the
// interface are from the driver (qm35-spi.c and uci_ioctls.h in
// GrapheneOS-Archive/kernel_google-modules_uwb-zuma).
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../link/link.h"
#include "cuwb_chardev.h"
#include "ioctl_requests.h"

// The pause between two attempts of a write that the driver refuses with EAGAIN. The driver has no
// POLLOUT.
#define AGAIN_MS 1

static cuwb_result qm35_read(cuwb_link *link, void *memory, size_t capacity, int32_t timeout_ms,
                            cuwb_frame *frame) {
  uint64_t deadline = cuwb_deadline(timeout_ms);
  for (;;) {
    ssize_t count = read(link->fd, memory, capacity);
    if (count > 0) {
      *frame = (cuwb_frame){.length = (uint32_t)count, .received_ns = cuwb_monotonic_ns()};
      cuwb_count(&link->stats.reads, 1);
      cuwb_count(&link->stats.bytes_read, (uint64_t)count);
      cuwb_count(&link->stats.frames_read, 1);
      return cuwb_outcome_of(CUWB_OK);
    }
    if (count == 0) return cuwb_outcome_of(CUWB_GONE);
    if (errno == EINTR) continue;
    if (errno == EMSGSIZE) {
      // The driver keeps the packet and does not report its length.
      *frame = (cuwb_frame){.length = CUWB_FRAME_MAX};
      return capacity < CUWB_FRAME_MAX ? cuwb_outcome_of(CUWB_TOO_LONG) : cuwb_failed(EMSGSIZE);
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK) return cuwb_failed_or_gone(errno);

    short seen;
    bool woken;
    int error = cuwb_wait(link->fd, POLLIN, link->wake_fd, deadline, &seen, &woken);
    if (error) return cuwb_failed(error);
    if (woken && cuwb_link_acknowledge_wake(link)) return cuwb_outcome_of(CUWB_WOKEN);
    if (seen & (POLLERR | POLLHUP | POLLNVAL)) return cuwb_outcome_of(CUWB_GONE);
    if (!seen && !woken) return cuwb_outcome_of(CUWB_TIMEOUT);
  }
}

static cuwb_result qm35_write(cuwb_link *link, const void *bytes, size_t length,
                             int32_t timeout_ms) {
  uint64_t deadline = cuwb_deadline(timeout_ms);
  for (;;) {
    // The driver blocks until the chip has the packet, even with O_NONBLOCK.
    ssize_t count = write(link->fd, bytes, length);
    if (count == (ssize_t)length) {
      cuwb_count(&link->stats.bytes_written, length);
      return cuwb_outcome_of(CUWB_OK);
    }
    // If the driver wrote only a part, a second write could not complete the packet.
    if (count >= 0) return cuwb_failed(EIO);
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return cuwb_failed_or_gone(errno);
    if (cuwb_monotonic_ns() >= deadline) return cuwb_outcome_of(CUWB_TIMEOUT);
    cuwb_sleep_ms(AGAIN_MS);
  }
}

static void qm35_close(cuwb_link *link) { close(link->fd); }

static const struct cuwb_link_ops qm35_ops = {
    .read_frame = qm35_read,
    .write_frame = qm35_write,
    .close = qm35_close,
};

// Switches the chip on, or resets it. Returns 0 or an errno.
static int start_chip(int fd, cuwb_start start, uint32_t *state) {
  unsigned int value = 0;
  if (ioctl(fd, QM35_GET_STATE, &value) < 0) return errno == EINVAL ? ENOTTY : errno;
  *state = value;
  if (value == CUWB_QM35_COREDUMP || value == CUWB_QM35_LOADING_FIRMWARE) return EBUSY;
  if (value == CUWB_QM35_OFF) {
    unsigned int on = 1;
    if (ioctl(fd, QM35_POWER, &on) < 0) return errno;
  }
  if (start == CUWB_START_CYCLE && ioctl(fd, QM35_RESET, &value) < 0) return errno;
  if (ioctl(fd, QM35_GET_STATE, &value) == 0) *state = value;
  return 0;
}

cuwb_result cuwb_open_qm35(const char *path, cuwb_start start, cuwb_link **opened,
                          uint32_t *state) {
  *state = CUWB_QM35_UNKNOWN;
  int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return cuwb_failed(errno);
  int error = start_chip(fd, start, state);
  cuwb_result result = error ? cuwb_failed(error) : cuwb_open_packets(fd, opened);
  if (result.outcome != CUWB_OK) close(fd);
  return result;
}

cuwb_result cuwb_open_packets(int descriptor, cuwb_link **opened) {
  int error;
  cuwb_link *link = cuwb_link_allocate(&error);
  if (!link) return cuwb_failed(error);
  link->ops = &qm35_ops;
  link->fd = descriptor;
  *opened = link;
  return cuwb_outcome_of(CUWB_OK);
}
