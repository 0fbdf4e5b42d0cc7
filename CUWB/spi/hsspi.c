// SPDX-License-Identifier: Apache-2.0
//
// Qorvo QM35 on SPI: HSSPI. The facts of the interface are from Qorvo's GPL driver (hsspi.c,
// hsspi.h and qm35.h in GrapheneOS-Archive/kernel_google-modules_uwb-zuma); none of its code is
// used.
//
// In each selection both sides send a header of four bytes at the same time (flags, upper layer,
// little-endian length), then the payload goes one way. SS_RDY is high while the chip can take part
// in a transfer, SS_IRQ while it has something to send. A pre-read returns the kind and length of
// the data. The read itself is the next selection, in which the host repeats layer and length.
#include <string.h>

#include "spi_chip.h"

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
  CHIP_LOADER = 0x0F,  // the boot ROM answers, not the firmware
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
// The duration of the high level of WAKEUP, and then of the chip's start. Source: newer drivers.
#define WAKE_US 500
#define WAKE_NS (WAKE_US * CUWB_US)
#define AWAKE_NS (3 * CUWB_MS)
// The pause between two transfers if no edge of SS_RDY was seen. Source: Qorvo's tools wait at
// least 40 us between pre-read and read; the newer driver checks again after 50 us.
#define BETWEEN_NS (50 * CUWB_US)
// The pause after a pre-read that came too early.
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

// ------------------------------------------------------------------------------ reset, wake, ready

static int reset(struct cuwb_spi_chip *chip) {
  if (!cuwb_spi_has_line(chip, CUWB_LINE_POWER)) return 0;
  int error = cuwb_spi_drive(chip, CUWB_LINE_POWER, false);
  cuwb_spi_pause(chip, RESET_NS);
  if (!error) error = cuwb_spi_drive(chip, CUWB_LINE_POWER, true);
  cuwb_spi_pause(chip, BOOT_NS);
  cuwb_edges earlier;
  if (!error) error = cuwb_spi_take_edges(chip, CUWB_LINE_READY, &earlier);
  return error;
}

static int start(struct cuwb_spi_chip *chip, cuwb_start start) {
  int error = cuwb_spi_drive(chip, CUWB_LINE_WAKE, false);
  if (error) return error;
  if (start == CUWB_START_CYCLE) return reset(chip);
  return cuwb_spi_drive(chip, CUWB_LINE_POWER, true);
}

// Wakes the chip with WAKEUP, or by selecting it without sending anything.
static int wake(struct cuwb_spi_chip *chip) {
  int error = 0;
  if (cuwb_spi_has_line(chip, CUWB_LINE_WAKE)) {
    error = cuwb_spi_drive(chip, CUWB_LINE_WAKE, true);
    cuwb_spi_pause(chip, WAKE_NS);
    if (!error) error = cuwb_spi_drive(chip, CUWB_LINE_WAKE, false);
  } else {
    cuwb_segment nothing = {.hold_us = WAKE_US};
    error = cuwb_spi_transfer(chip, &nothing, 1);
  }
  cuwb_spi_pause(chip, AWAKE_NS);
  return error;
}

// Returns 0, EAGAIN if the chip is not ready, or the kernel's errno.
static int wait_ready(struct cuwb_spi_chip *chip) {
  bool awake = true, high;
  int error = 0;
  if (cuwb_spi_has_line(chip, CUWB_LINE_AWAKE)) {
    error = cuwb_spi_sense(chip, CUWB_LINE_AWAKE, &awake);
  }
  if (!error && !awake) error = wake(chip);
  uint64_t deadline = cuwb_spi_now(chip) + READY_NS;
  // Right after a transfer the line is still high from before it.
  bool rose = false;
  while (!error) {
    uint64_t settled = chip->transferred_ns + BETWEEN_NS;
    cuwb_edges edges;
    error = cuwb_spi_take_edges(chip, CUWB_LINE_READY, &edges);
    if (!error) error = cuwb_spi_sense(chip, CUWB_LINE_READY, &high);
    if (error) return error;
    rose |= edges.rising;
    uint64_t now = cuwb_spi_now(chip);
    // An edge alone is not enough: the boot ROM raises the line for less than 100 ns, and would
    // take the transmitted bytes for a command.
    if (high && (rose || now >= settled)) return 0;
    if (now >= deadline) return EAGAIN;
    uint64_t until = high && settled < deadline ? settled : deadline;
    error = cuwb_spi_wait(chip, CUWB_LINE_READY, until);
  }
  return error;
}

// ---------------------------------------------------------------------------------------- transfer

// Makes one selection, and repeats it while the chip does not take part. Returns 0 and the chip's
// header in *reply, EAGAIN, or the kernel's errno.
static int exchange(struct cuwb_spi_chip *chip, struct header host, cuwb_segment payload,
                    struct header *reply) {
  uint8_t out[4], in[4];
  put(host, out);
  for (unsigned tries = 0; tries < TRIES; tries++) {
    int error = wait_ready(chip);
    if (error == EAGAIN) continue;
    if (error) return error;
    memset(in, 0, sizeof(in));
    cuwb_segment segments[3] = {
        {.hold_us = SELECT_US},
        {.out = out, .in = in, .length = sizeof(out)},
        payload,
    };
    // Edges before this point do not concern the next transfer.
    cuwb_edges earlier;
    error = cuwb_spi_take_edges(chip, CUWB_LINE_READY, &earlier);
    if (!error) error = cuwb_spi_transfer(chip, segments, payload.length ? 3 : 2);
    if (error) return error;
    *reply = get(in);
    if (reply->flags & CHIP_READY && !(reply->flags & CHIP_LOADER)) return 0;
    error = wake(chip);
    if (error) return error;
  }
  return EAGAIN;
}

// Handles a failure of the chip: resets it after more than PATIENCE in a row, and gives up after
// RESETS resets.
static cuwb_result failed(struct cuwb_spi_chip *chip) {
  cuwb_result result = cuwb_spi_misbehaved(chip, PATIENCE);
  if (result.outcome == CUWB_OK) return result;
  if (!cuwb_spi_has_line(chip, CUWB_LINE_POWER) || chip->resets == RESETS) return result;
  chip->resets++;
  chip->failures = 0;
  cuwb_spi_pause(chip, BOOT_NS);
  int error = reset(chip);
  return error ? cuwb_failed_or_gone(error) : cuwb_outcome_of(CUWB_OK);
}

static void succeeded(struct cuwb_spi_chip *chip) { chip->failures = chip->resets = 0; }

// --------------------------------------------------------------------------------------- receiving

// Queues the packets of a block. Data packets have a 16-bit length; all other packets have their
// length in byte 3.
static void deliver_all(struct cuwb_spi_chip *chip, const uint8_t *bytes, size_t length) {
  while (length >= CUWB_HEADER_LENGTH) {
    size_t payload = bytes[0] >> 5 == 0 ? bytes[2] | (size_t)bytes[3] << 8 : bytes[3];
    size_t whole = CUWB_HEADER_LENGTH + payload;
    if (whole > length) break;
    cuwb_spi_deliver(chip, bytes, whole);
    bytes += whole;
    length -= whole;
  }
  if (length > 0) cuwb_spi_skip(chip, length);
}

// Reads the announced packet.
static cuwb_result read_announced(struct cuwb_spi_chip *chip, struct header announced) {
  struct header host = {HOST_READ, announced.layer, announced.length};
  // Memory dumps and logs are not UCI. Only their header is read, as Qorvo's driver does with a
  // layer that no program has opened.
  bool wanted = announced.layer == LAYER_UCI && announced.length <= CUWB_FRAME_MAX;
  cuwb_segment payload = {.in = chip->scratch, .length = wanted ? announced.length : 0};
  struct header reply;
  int error = exchange(chip, host, payload, &reply);
  if (error == EAGAIN) return failed(chip);
  if (error) return cuwb_failed_or_gone(error);
  bool matches = (reply.flags & (CHIP_ACTIVE | CHIP_ERROR)) == CHIP_ACTIVE &&
                 reply.layer == announced.layer && reply.length == announced.length;
  if (!matches) return failed(chip);
  succeeded(chip);
  chip->was_last = !(reply.flags & CHIP_WAITING);
  if (!wanted) {
    cuwb_spi_skip(chip, announced.length);
    return cuwb_outcome_of(CUWB_OK);
  }
  cuwb_count(&chip->link->stats.reads, 1);
  cuwb_count(&chip->link->stats.bytes_read, announced.length);
  deliver_all(chip, chip->scratch, announced.length);
  return cuwb_outcome_of(CUWB_OK);
}

// Sets *high to whether the chip has a packet.
static int sense_irq(struct cuwb_spi_chip *chip, bool *high) {
  if (chip->was_last) cuwb_spi_pause_since_transfer(chip, BETWEEN_NS);
  chip->was_last = false;
  cuwb_edges earlier;
  int error = cuwb_spi_take_edges(chip, CUWB_LINE_IRQ, &earlier);
  return error ? error : cuwb_spi_sense(chip, CUWB_LINE_IRQ, high);
}

static cuwb_result receive(struct cuwb_spi_chip *chip) {
  bool high;
  int error = sense_irq(chip, &high);
  if (error) return cuwb_failed_or_gone(error);
  if (!high) return cuwb_outcome_of(CUWB_TIMEOUT);
  struct header reply;
  error = exchange(chip, (struct header){HOST_PREREAD, 0, 0}, (cuwb_segment){0}, &reply);
  if (error == EAGAIN) return failed(chip);
  if (error) return cuwb_failed_or_gone(error);
  if (reply.flags & CHIP_WAITING) return read_announced(chip, reply);
  // The firmware raises SS_IRQ a little before it has the packet.
  cuwb_spi_pause(chip, TOO_EARLY_NS);
  return failed(chip);
}

// ---------------------------------------------------------------------------------------- sending

static cuwb_result send(struct cuwb_spi_chip *chip, const uint8_t *bytes, size_t length) {
  bool high;
  int error = sense_irq(chip, &high);
  if (error) return cuwb_failed_or_gone(error);
  bool preread = high && cuwb_spi_has_room(chip);
  struct header host = {HOST_WRITE | (preread ? HOST_PREREAD : 0), LAYER_UCI, (uint16_t)length};
  cuwb_segment payload = {.out = bytes, .length = (uint32_t)length};
  struct header reply;
  error = exchange(chip, host, payload, &reply);
  if (error == EAGAIN) {
    cuwb_result result = failed(chip);
    return result.outcome == CUWB_OK ? cuwb_outcome_of(CUWB_TIMEOUT) : result;
  }
  if (error) return cuwb_failed_or_gone(error);
  succeeded(chip);
  if (!preread || !(reply.flags & CHIP_WAITING)) return cuwb_outcome_of(CUWB_OK);
  cuwb_result result = read_announced(chip, reply);
  // The packet was sent. If the read failed, the reader will meet the same failure.
  return result.outcome == CUWB_GONE ? result : cuwb_outcome_of(CUWB_OK);
}

const struct cuwb_spi_protocol_ops cuwb_spi_hsspi = {
    .needed = 1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READY,
    .overhead = 4,
    .start = start,
    .receive = receive,
    .send = send,
};
