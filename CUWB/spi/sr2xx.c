// SPDX-License-Identifier: Apache-2.0
//
// NXP SR2xx on SPI. The facts are from nxp-uwb/sr250-uwbiot-zephyr (Middleware Guide, SPI
// transport) and the GPL driver sr200.c; none of their code is used.
//
// The first byte of each selection is the direction: 00 before a whole packet to the chip; FF,
// which the chip answers with a dummy byte, before the header or the payload from the chip. There
// is no handshake: IRQ is high while there is something to read, and may rise again within 28 us of
// the end of a packet, so its level is checked after each one.
#include "../framing/nxp_packet.h"
#include "spi_chip.h"

// The time for which RSTN is low. Source: Zephyr port.
#define RESET_NS (10 * CUWB_MS)
// The time from RSTN high to the first notification. Source: Middleware Guide, about 50 ms.
#define BOOT_NS (50 * CUWB_MS)
// The pause from IRQ to the read. Source: Zephyr port.
#define READ_NS (500 * CUWB_US)
// The pauses after a read, and after a write. Source: Zephyr port.
#define AFTER_READ_NS (50 * CUWB_US)
#define AFTER_WRITE_NS (80 * CUWB_US)
// The pause before a write. Source: Zephyr port.
#define BEFORE_WRITE_NS (2 * CUWB_MS)
// The number of reads in a row that may return no packet, as when IRQ is stuck or nothing drives
// MISO.
#define PATIENCE 100

static const uint8_t to_chip = 0x00;
static const uint8_t from_chip = 0xFF;

static int start(struct cuwb_spi_chip *chip, cuwb_start start) {
  int error = 0;
  if (!cuwb_spi_has_line(chip, CUWB_LINE_POWER)) return 0;
  if (start == CUWB_START_CYCLE) {
    error = cuwb_spi_drive(chip, CUWB_LINE_POWER, false);
    cuwb_spi_pause(chip, RESET_NS);
  }
  if (!error) error = cuwb_spi_drive(chip, CUWB_LINE_POWER, true);
  if (start == CUWB_START_CYCLE) cuwb_spi_pause(chip, BOOT_NS);
  chip->is_up = false;
  return error;
}

static int read_part(struct cuwb_spi_chip *chip, uint8_t *bytes, uint32_t length) {
  uint8_t dummy;
  cuwb_segment segments[2] = {
      {.out = &from_chip, .in = &dummy, .length = 1},
      {.in = bytes, .length = length},
  };
  return cuwb_spi_transfer(chip, segments, 2);
}

static cuwb_result receive(struct cuwb_spi_chip *chip) {
  // The edges are read first, so that a later edge is kept for the next wait.
  cuwb_edges earlier;
  bool high;
  int error = cuwb_spi_take_edges(chip, CUWB_LINE_IRQ, &earlier);
  if (!error) error = cuwb_spi_sense(chip, CUWB_LINE_IRQ, &high);
  if (error) return cuwb_failed_or_gone(error);
  if (!high) return cuwb_outcome_of(CUWB_TIMEOUT);

  uint8_t *bytes = chip->scratch;
  cuwb_spi_pause(chip, READ_NS);
  error = read_part(chip, bytes, CUWB_HEADER_LENGTH);
  if (error) return cuwb_failed_or_gone(error);
  uint32_t payload = cuwb_nxp_payload_length(bytes);
  bool junk = payload == 0 || CUWB_HEADER_LENGTH + payload > CUWB_NXP_PACKET_MAX ||
              (!chip->is_up && cuwb_nxp_is_junk(bytes));
  if (junk) {
    cuwb_spi_skip(chip, CUWB_HEADER_LENGTH);
    cuwb_spi_pause(chip, AFTER_READ_NS);
    return cuwb_spi_misbehaved(chip, PATIENCE);
  }
  error = read_part(chip, bytes + CUWB_HEADER_LENGTH, payload);
  if (error) return cuwb_failed_or_gone(error);
  chip->is_up |= cuwb_nxp_is_device_status(bytes);
  cuwb_count(&chip->link->stats.reads, 1);
  cuwb_count(&chip->link->stats.bytes_read, CUWB_HEADER_LENGTH + payload);
  cuwb_spi_deliver(chip, bytes, CUWB_HEADER_LENGTH + payload);
  cuwb_spi_pause(chip, AFTER_READ_NS);
  return cuwb_outcome_of(CUWB_OK);
}

// A packet that waits in the chip does not matter here. Source: Middleware Guide.
static cuwb_result send(struct cuwb_spi_chip *chip, const uint8_t *bytes, size_t length) {
  cuwb_spi_pause_since_transfer(chip, BEFORE_WRITE_NS);
  cuwb_segment segments[2] = {
      {.out = &to_chip, .length = 1},
      {.out = bytes, .length = (uint32_t)length},
  };
  int error = cuwb_spi_transfer(chip, segments, 2);
  if (error) return cuwb_failed_or_gone(error);
  cuwb_spi_pause(chip, AFTER_WRITE_NS);
  return cuwb_outcome_of(CUWB_OK);
}

// The boot loader (HDLL) uses the same selections.
static int boot_write(struct cuwb_spi_chip *chip, const uint8_t *bytes, uint32_t length) {
  cuwb_result result = send(chip, bytes, length);
  if (result.outcome == CUWB_GONE) return ENODEV;
  return result.error;
}

static int boot_read(struct cuwb_spi_chip *chip, uint8_t *bytes, uint32_t length,
                     uint64_t wait_ns) {
  int error = wait_ns ? cuwb_spi_wait_irq(chip, wait_ns) : 0;
  if (error) return error;
  cuwb_spi_pause(chip, READ_NS);
  error = read_part(chip, bytes, length);
  cuwb_spi_pause(chip, AFTER_READ_NS);
  return error;
}

const struct cuwb_spi_protocol_ops cuwb_spi_sr2xx = {
    .needed = 1u << CUWB_LINE_IRQ,
    .overhead = 1,
    .start = start,
    .receive = receive,
    .send = send,
    .boot_write = boot_write,
    .boot_read = boot_read,
};
