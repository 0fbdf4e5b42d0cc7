// SPDX-License-Identifier: Apache-2.0
//
// NXP SR2xx on SPI. Facts: nxp-uwb/sr250-uwbiot-zephyr (Middleware Guide, SPI transport) and the
// GPL driver sr200.c; none of their code.
//
// Each selection begins with a byte that says which way it goes: 00 and a whole packet to the
// chip; FF, while the chip sends a byte of no meaning, and then the header or the payload from it.
// There is no handshake: IRQ is high while there is something to read, and may rise again within
// 28 us of the end of a packet, so its level is looked at after each one.
#include "nxp.h"

// RSTN low. Source: Zephyr port.
#define RESET_NS (10 * CUWB_MS)
// From RSTN high until the chip speaks. Source: Middleware Guide, about 50 ms.
#define BOOT_NS (50 * CUWB_MS)
// From IRQ to the read. Source: Zephyr port.
#define READ_NS (500 * CUWB_US)
// After a read, and after a write. Source: Zephyr port.
#define AFTER_READ_NS (50 * CUWB_US)
#define AFTER_WRITE_NS (80 * CUWB_US)
// Before a write. Source: Zephyr port.
#define BEFORE_WRITE_NS (2 * CUWB_MS)
// Reads in a row that bring no packet: IRQ is stuck, or nothing drives MISO.
#define PATIENCE 100

static const uint8_t to_chip = 0x00;
static const uint8_t from_chip = 0xFF;

static int start(struct cuwb_wired *wired, cuwb_start start) {
  int error = 0;
  if (!cuwb_wired_has(wired, CUWB_LINE_POWER)) return 0;
  if (start == CUWB_START_CYCLE) {
    error = cuwb_wired_drive(wired, CUWB_LINE_POWER, false);
    cuwb_wired_pause(wired, RESET_NS);
  }
  if (!error) error = cuwb_wired_drive(wired, CUWB_LINE_POWER, true);
  if (start == CUWB_START_CYCLE) cuwb_wired_pause(wired, BOOT_NS);
  wired->is_up = false;
  return error;
}

static int read_part(struct cuwb_wired *wired, uint8_t *bytes, uint32_t length) {
  uint8_t meaningless;
  cuwb_segment segments[2] = {
      {.out = &from_chip, .in = &meaningless, .length = 1},
      {.in = bytes, .length = length},
  };
  return cuwb_wired_transfer(wired, segments, 2);
}

static cuwb_result receive(struct cuwb_wired *wired) {
  // First the edges: one that comes behind this is there for the next wait.
  cuwb_edges before;
  bool high;
  int error = cuwb_wired_edges(wired, CUWB_LINE_IRQ, &before);
  if (!error) error = cuwb_wired_sense(wired, CUWB_LINE_IRQ, &high);
  if (error) return cuwb_wired_refused(error);
  if (!high) return cuwb_outcome_of(CUWB_TIMEOUT);

  uint8_t *bytes = wired->scratch;
  cuwb_wired_pause(wired, READ_NS);
  error = read_part(wired, bytes, CUWB_HEADER_LENGTH);
  if (error) return cuwb_wired_refused(error);
  uint32_t payload = nxp_payload_length(bytes);
  bool junk = payload == 0 || CUWB_HEADER_LENGTH + payload > NXP_PACKET_MAX ||
              (!wired->is_up && nxp_is_junk(bytes));
  if (junk) {
    cuwb_wired_skip(wired, CUWB_HEADER_LENGTH);
    cuwb_wired_pause(wired, AFTER_READ_NS);
    return cuwb_wired_misbehaved(wired, PATIENCE);
  }
  error = read_part(wired, bytes + CUWB_HEADER_LENGTH, payload);
  if (error) return cuwb_wired_refused(error);
  wired->is_up |= nxp_is_device_status(bytes);
  cuwb_count(&wired->link->stats.reads, 1);
  cuwb_count(&wired->link->stats.bytes_read, CUWB_HEADER_LENGTH + payload);
  cuwb_wired_deliver(wired, bytes, CUWB_HEADER_LENGTH + payload);
  cuwb_wired_pause(wired, AFTER_READ_NS);
  return cuwb_outcome_of(CUWB_OK);
}

// A packet that waits in the chip is no obstacle. Source: Middleware Guide.
static cuwb_result send(struct cuwb_wired *wired, const uint8_t *bytes, size_t length) {
  cuwb_wired_pause_since_transfer(wired, BEFORE_WRITE_NS);
  cuwb_segment segments[2] = {
      {.out = &to_chip, .length = 1},
      {.out = bytes, .length = (uint32_t)length},
  };
  int error = cuwb_wired_transfer(wired, segments, 2);
  if (error) return cuwb_wired_refused(error);
  cuwb_wired_pause(wired, AFTER_WRITE_NS);
  return cuwb_outcome_of(CUWB_OK);
}

// The loader (HDLL) is spoken to in the same way.
static int boot_write(struct cuwb_wired *wired, const uint8_t *bytes, uint32_t length) {
  cuwb_result result = send(wired, bytes, length);
  if (result.outcome == CUWB_GONE) return ENODEV;
  return result.error;
}

static int boot_read(struct cuwb_wired *wired, uint8_t *bytes, uint32_t length,
                     uint64_t wait_ns) {
  int error = wait_ns ? cuwb_wired_wait_irq(wired, wait_ns) : 0;
  if (error) return error;
  cuwb_wired_pause(wired, READ_NS);
  error = read_part(wired, bytes, length);
  cuwb_wired_pause(wired, AFTER_READ_NS);
  return error;
}

const struct cuwb_wired_rules cuwb_wired_sr2xx = {
    .needed = 1u << CUWB_LINE_IRQ,
    .overhead = 1,
    .start = start,
    .receive = receive,
    .send = send,
    .boot_write = boot_write,
    .boot_read = boot_read,
};
