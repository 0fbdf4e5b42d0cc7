// SPDX-License-Identifier: Apache-2.0
//
// NXP's boards with a microcontroller between USB and the chip. The facts are from the PnP headers
// of nxp-uwb/sr250-uwbiot-zephyr and the host's sequence in
// nxp-appcodehub/an-sr250-uwb-plug-and-play-demo.
//
// The host wraps every packet in a type and a 16-bit big-endian length. The board sends bare UCI,
// except for its answer to a reset.
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cuwb_chips.h"
#include "link.h"

enum {
  TYPE_UCI = 0x01,
  TYPE_RESET = 0x04,
  TYPE_LEAVE_LOADER = 0x12,
};

static const uint8_t reset_answer[4] = {0x01, 0x02, 0x03, 0x04};

#define TRIES 2
#define ANSWER_MS 500

static cuwb_result command(cuwb_link *link, uint8_t type) {
  // The length in the header is 0.
  uint8_t bytes[3] = {type, 0, 0};
  return link->ops->write_frame(link, bytes, sizeof(bytes), ANSWER_MS);
}

// Reads byte by byte, so that all bytes after the answer are left to the framer. Bytes that the
// chip sent earlier come before the answer.
static cuwb_result await_reset_answer(cuwb_link *link) {
  uint8_t last[sizeof(reset_answer)] = {0};
  uint64_t deadline = cuwb_deadline(ANSWER_MS);
  for (;;) {
    if (cuwb_monotonic_ns() >= deadline) return cuwb_outcome_of(CUWB_TIMEOUT);
    uint8_t byte;
    ssize_t count = read(link->fd, &byte, 1);
    if (count == 1) {
      memmove(last, last + 1, sizeof(last) - 1);
      last[sizeof(last) - 1] = byte;
      if (memcmp(last, reset_answer, sizeof(last)) == 0) return cuwb_outcome_of(CUWB_OK);
      continue;
    }
    if (count == 0) return cuwb_outcome_of(CUWB_GONE);
    if (errno == EINTR) continue;
    if (errno == EIO || errno == ENXIO || errno == ENODEV) return cuwb_outcome_of(CUWB_GONE);
    if (errno != EAGAIN && errno != EWOULDBLOCK) return cuwb_failed(errno);
    short seen;
    bool woken;
    int error = cuwb_wait(link->fd, POLLIN, -1, deadline, &seen, &woken);
    if (error) return cuwb_failed(error);
    if (seen & (POLLERR | POLLNVAL)) return cuwb_outcome_of(CUWB_GONE);
  }
}

static cuwb_result reset(cuwb_link *link) {
  cuwb_result result = cuwb_outcome_of(CUWB_TIMEOUT);
  for (unsigned tries = 0; tries < TRIES && result.outcome == CUWB_TIMEOUT; tries++) {
    result = command(link, TYPE_RESET);
    if (result.outcome == CUWB_OK) result = await_reset_answer(link);
  }
  if (result.outcome == CUWB_TIMEOUT) return cuwb_outcome_of(CUWB_NO_ANSWER);
  return result;
}

cuwb_result cuwb_open_bridge(const char *path, cuwb_bridge_options options, cuwb_link **opened) {
  cuwb_link *link;
  cuwb_result result = cuwb_open_serial(path, options.serial, &link);
  if (result.outcome != CUWB_OK) return result;
  if (options.start == CUWB_START_CYCLE) {
    result = reset(link);
    // The answer to this command is the chip's first notification, which is an ordinary frame.
    if (result.outcome == CUWB_OK && options.leaves_loader) {
      result = command(link, TYPE_LEAVE_LOADER);
    }
  }
  if (result.outcome != CUWB_OK) {
    cuwb_link_close(link);
    return result;
  }
  // The bytes of these commands were not frames.
  link->stats = (cuwb_stats){0};
  link->wrapper = TYPE_UCI;
  cuwb_framing framing = cuwb_link_get_framing(link);
  framing.extended_length = true;
  cuwb_link_set_framing(link, framing);
  *opened = link;
  return result;
}
