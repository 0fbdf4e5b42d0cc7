// SPDX-License-Identifier: Apache-2.0
//
// Qorvo QM35 on SPI: HSSPI. Facts of the interface from Qorvo's GPL driver (hsspi.c, hsspi.h, qm35.h
// in GrapheneOS-Archive/kernel_google-modules_uwb-zuma); none of its code.
//
// In each selection both sides send a header of four bytes at the same time: flags, upper layer,
// length (little endian); then the payload goes one way. SS_RDY says when the chip takes part, SS_IRQ
// that it has something to say. What it is, a pre-read finds out; the read itself is the next
// selection, in which the host repeats what it was told.
#include <string.h>

#include "wired.h"

enum {
  HOST_WRITE = 0x80,
  HOST_PREREAD = 0x40,
  HOST_READ = 0x20,
};
enum {
  CHIP_WAITING = 0x80,  // output data waiting
  CHIP_ACTIVE = 0x40,   // output active: this selection carries it
  CHIP_READY = 0x20,
  CHIP_ERROR = 0x10,
  CHIP_LOADER = 0x0F,  // the boot ROM has answered, not the firmware
};
#define LAYER_UCI 2

// Source: qm35.h.
#define RESET_NS (2 * CUWB_MS)
#define BOOT_NS (450 * CUWB_MS)
// Source: hsspi.c.
#define READY_NS (250 * CUWB_MS)
#define SELECT_US 5
#define TRIES 5
#define PATIENCE 5
#define RESETS 3
// A chip that is asleep: WAKEUP high, then until it is ready. Source: newer drivers.
#define WAKE_US 500
#define WAKE_NS (WAKE_US * CUWB_US)
#define AWAKE_NS (3 * CUWB_MS)
// Between two transfers where no edge of SS_RDY was seen. Source: Qorvo's tools wait at least 40 us
// between pre-read and read; the newer driver looks again 50 us later.
#define BETWEEN_NS (50 * CUWB_US)
// Behind a pre-read that came too early.
#define TOO_EARLY_NS (1 * CUWB_MS)

struct header {
  uint8_t flags;
  uint8_t layer;
  uint16_t length;
};

static void put(struct header header, uint8_t *bytes) {
  bytes[0] = header.flags;
  bytes[1] = header.layer;
  bytes[2] = (uint8_t)header.length;
  bytes[3] = (uint8_t)(header.length >> 8);
}

static struct header get(const uint8_t *bytes) {
  return (struct header){bytes[0], bytes[1], (uint16_t)(bytes[2] | bytes[3] << 8)};
}

// ------------------------------------------------------------------------------- reset, wake, ready

static int reset(struct cuwb_wired *wired) {
  if (!cuwb_wired_has(wired, CUWB_LINE_POWER)) return 0;
  int error = cuwb_wired_drive(wired, CUWB_LINE_POWER, false);
  cuwb_wired_pause(wired, RESET_NS);
  if (!error) error = cuwb_wired_drive(wired, CUWB_LINE_POWER, true);
  cuwb_wired_pause(wired, BOOT_NS);
  cuwb_edges forgotten;
  if (!error) error = cuwb_wired_edges(wired, CUWB_LINE_READY, &forgotten);
  return error;
}

static int start(struct cuwb_wired *wired, cuwb_start start) {
  int error = cuwb_wired_drive(wired, CUWB_LINE_WAKE, false);
  if (error) return error;
  if (start == CUWB_START_CYCLE) return reset(wired);
  return cuwb_wired_drive(wired, CUWB_LINE_POWER, true);
}

// With the line for it or else by selecting the chip without sending it anything.
static int wake(struct cuwb_wired *wired) {
  int error = 0;
  if (cuwb_wired_has(wired, CUWB_LINE_WAKE)) {
    error = cuwb_wired_drive(wired, CUWB_LINE_WAKE, true);
    cuwb_wired_pause(wired, WAKE_NS);
    if (!error) error = cuwb_wired_drive(wired, CUWB_LINE_WAKE, false);
  } else {
    cuwb_segment nothing = {.hold_us = WAKE_US};
    error = cuwb_wired_transfer(wired, &nothing, 1);
  }
  cuwb_wired_pause(wired, AWAKE_NS);
  return error;
}

// 0, EAGAIN: the chip is not ready, or what the kernel says.
static int wait_ready(struct cuwb_wired *wired) {
  bool awake = true, high;
  int error = 0;
  if (cuwb_wired_has(wired, CUWB_LINE_AWAKE)) {
    error = cuwb_wired_sense(wired, CUWB_LINE_AWAKE, &awake);
  }
  if (!error && !awake) error = wake(wired);
  uint64_t deadline = cuwb_wired_now(wired) + READY_NS;
  // Directly behind a transfer the line is still high from before it.
  bool rose = false;
  while (!error) {
    uint64_t settled = wired->moved_ns + BETWEEN_NS;
    cuwb_edges edges;
    error = cuwb_wired_edges(wired, CUWB_LINE_READY, &edges);
    if (!error) error = cuwb_wired_sense(wired, CUWB_LINE_READY, &high);
    if (error) return error;
    rose |= edges.rising;
    uint64_t now = cuwb_wired_now(wired);
    // The level counts even behind an edge: the boot ROM is known to raise the line for less than
    // 100 ns, and would take what is sent then for a command.
    if (high && (rose || now >= settled)) return 0;
    if (now >= deadline) return EAGAIN;
    uint64_t until = high && settled < deadline ? settled : deadline;
    error = cuwb_wired_wait(wired, CUWB_LINE_READY, until);
  }
  return error;
}

// ---------------------------------------------------------------------------------------- transfer

// One selection, again while the chip does not take part. 0 with the chip's header, EAGAIN, or what
// the kernel says.
static int exchange(struct cuwb_wired *wired, struct header host, cuwb_segment payload,
                    struct header *chip) {
  uint8_t out[4], in[4];
  put(host, out);
  for (unsigned tries = 0; tries < TRIES; tries++) {
    int error = wait_ready(wired);
    if (error == EAGAIN) continue;
    if (error) return error;
    memset(in, 0, sizeof(in));
    cuwb_segment segments[3] = {
        {.hold_us = SELECT_US},
        {.out = out, .in = in, .length = sizeof(out)},
        payload,
    };
    // Edges up to here are of no interest for the next transfer.
    cuwb_edges forgotten;
    error = cuwb_wired_edges(wired, CUWB_LINE_READY, &forgotten);
    if (!error) error = cuwb_wired_transfer(wired, segments, payload.length ? 3 : 2);
    if (error) return error;
    *chip = get(in);
    if (chip->flags & CHIP_READY && !(chip->flags & CHIP_LOADER)) return 0;
    error = wake(wired);
    if (error) return error;
  }
  return EAGAIN;
}

// The chip has failed: too often, and it is reset; too many resets, and it is given up.
static cuwb_result failed(struct cuwb_wired *wired) {
  cuwb_result result = cuwb_wired_misbehaved(wired, PATIENCE);
  if (result.outcome == CUWB_OK) return result;
  if (!cuwb_wired_has(wired, CUWB_LINE_POWER) || wired->resets == RESETS) return result;
  wired->resets++;
  wired->failures = 0;
  cuwb_wired_pause(wired, BOOT_NS);
  int error = reset(wired);
  return error ? cuwb_wired_refused(error) : cuwb_outcome_of(CUWB_OK);
}

static void succeeded(struct cuwb_wired *wired) { wired->failures = wired->resets = 0; }

// ---------------------------------------------------------------------------------------- receiving

// One or more whole packets; data has a 16-bit length, whatever else the one in byte 3.
static void deliver_all(struct cuwb_wired *wired, const uint8_t *bytes, size_t length) {
  while (length >= CUWB_HEADER_LENGTH) {
    size_t payload = bytes[0] >> 5 == 0 ? bytes[2] | (size_t)bytes[3] << 8 : bytes[3];
    size_t whole = CUWB_HEADER_LENGTH + payload;
    if (whole > length) break;
    cuwb_wired_deliver(wired, bytes, whole);
    bytes += whole;
    length -= whole;
  }
  if (length > 0) cuwb_wired_skip(wired, length);
}

// Reads what the chip has announced.
static cuwb_result read_announced(struct cuwb_wired *wired, struct header announced) {
  struct header host = {HOST_READ, announced.layer, announced.length};
  // Memory dumps and logs are no packets: like the driver does for a layer that nobody has asked
  // for, only their header is taken.
  bool wanted = announced.layer == LAYER_UCI && announced.length <= CUWB_FRAME_MAX;
  cuwb_segment payload = {.in = wired->scratch, .length = wanted ? announced.length : 0};
  struct header chip;
  int error = exchange(wired, host, payload, &chip);
  if (error == EAGAIN) return failed(wired);
  if (error) return cuwb_wired_refused(error);
  bool right = (chip.flags & (CHIP_ACTIVE | CHIP_ERROR)) == CHIP_ACTIVE &&
               chip.layer == announced.layer && chip.length == announced.length;
  if (!right) return failed(wired);
  succeeded(wired);
  wired->was_last = !(chip.flags & CHIP_WAITING);
  if (!wanted) {
    cuwb_wired_skip(wired, announced.length);
    return cuwb_outcome_of(CUWB_OK);
  }
  cuwb_count(&wired->link->stats.reads, 1);
  cuwb_count(&wired->link->stats.bytes_read, announced.length);
  deliver_all(wired, wired->scratch, announced.length);
  return cuwb_outcome_of(CUWB_OK);
}

static int has_something(struct cuwb_wired *wired, bool *high) {
  if (wired->was_last) cuwb_wired_pause_since_transfer(wired, BETWEEN_NS);
  wired->was_last = false;
  cuwb_edges before;
  int error = cuwb_wired_edges(wired, CUWB_LINE_IRQ, &before);
  return error ? error : cuwb_wired_sense(wired, CUWB_LINE_IRQ, high);
}

static cuwb_result receive(struct cuwb_wired *wired) {
  bool high;
  int error = has_something(wired, &high);
  if (error) return cuwb_wired_refused(error);
  if (!high) return cuwb_outcome_of(CUWB_TIMEOUT);
  struct header chip;
  error = exchange(wired, (struct header){HOST_PREREAD, 0, 0}, (cuwb_segment){0}, &chip);
  if (error == EAGAIN) return failed(wired);
  if (error) return cuwb_wired_refused(error);
  if (chip.flags & CHIP_WAITING) return read_announced(wired, chip);
  // Its firmware may be a little late.
  cuwb_wired_pause(wired, TOO_EARLY_NS);
  return failed(wired);
}

// ---------------------------------------------------------------------------------------- sending

static cuwb_result send(struct cuwb_wired *wired, const uint8_t *bytes, size_t length) {
  bool high;
  int error = has_something(wired, &high);
  if (error) return cuwb_wired_refused(error);
  bool preread = high && cuwb_wired_has_room(wired);
  struct header host = {HOST_WRITE | (preread ? HOST_PREREAD : 0), LAYER_UCI, (uint16_t)length};
  cuwb_segment payload = {.out = bytes, .length = (uint32_t)length};
  struct header chip;
  error = exchange(wired, host, payload, &chip);
  if (error == EAGAIN) {
    cuwb_result result = failed(wired);
    return result.outcome == CUWB_OK ? cuwb_outcome_of(CUWB_TIMEOUT) : result;
  }
  if (error) return cuwb_wired_refused(error);
  succeeded(wired);
  if (!preread || !(chip.flags & CHIP_WAITING)) return cuwb_outcome_of(CUWB_OK);
  cuwb_result result = read_announced(wired, chip);
  // The packet is out; what the reading has met, the reader will meet again.
  return result.outcome == CUWB_GONE ? result : cuwb_outcome_of(CUWB_OK);
}

const struct cuwb_wired_rules cuwb_wired_hsspi = {
    .needed = 1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READY,
    .overhead = 4,
    .start = start,
    .receive = receive,
    .send = send,
};
