// SPDX-License-Identifier: Apache-2.0
//
// The state of a chip on SPI, and the functions that its protocols share. A protocol uses only
// these functions; spi_link.c uses the protocols.
#ifndef CUWB_SPI_CHIP_H
#define CUWB_SPI_CHIP_H

#include <errno.h>
#include <pthread.h>

#include "../link/link.h"
#include "cuwb_spi_bus.h"

#pragma GCC visibility push(hidden)

#define CUWB_US UINT64_C(1000)
#define CUWB_MS UINT64_C(1000000)

struct cuwb_spi_chip;

// The functions of a protocol. Each is called with the chip's lock held.
struct cuwb_spi_protocol_ops {
  // The lines that the protocol requires, as bits.
  uint8_t needed;
  // Bytes that the protocol adds to the longest packet.
  uint32_t overhead;
  int (*start)(struct cuwb_spi_chip *chip, cuwb_start start);
  // Reads the chip's packets. CUWB_OK: something happened, call again. CUWB_TIMEOUT: the chip has
  // no packet.
  cuwb_result (*receive)(struct cuwb_spi_chip *chip);
  cuwb_result (*send)(struct cuwb_spi_chip *chip, const uint8_t *bytes, size_t length);

  // The boot loader; NULL where there is none. With a `wait_ns` of 0 the chip has already raised
  // IRQ for these bytes.
  int (*boot_write)(struct cuwb_spi_chip *chip, const uint8_t *bytes, uint32_t length);
  int (*boot_read)(struct cuwb_spi_chip *chip, uint8_t *bytes, uint32_t length, uint64_t wait_ns);
};

extern const struct cuwb_spi_protocol_ops cuwb_spi_sr1xx;
extern const struct cuwb_spi_protocol_ops cuwb_spi_sr2xx;
extern const struct cuwb_spi_protocol_ops cuwb_spi_hsspi;

// Reads and writes exclude each other. Packets that arrive during a write wait in the queue.
struct cuwb_spi_chip {
  cuwb_link *link;
  cuwb_spi_bus bus;
  const struct cuwb_spi_protocol_ops *protocol;
  pthread_mutex_t lock;
  struct cuwb_packet_queue packets;

  // The end of the last transfer.
  uint64_t transferred_ns;
  // The numbers of failures since the last success, and of resets because of them.
  uint32_t failures;
  uint32_t resets;
  // Whether the chip has reported its state since it was switched on (NXP).
  bool is_up;
  // Whether the last read announced no further packet, so that IRQ is about to fall (HSSPI).
  bool was_last;
  uint8_t scratch[CUWB_FRAME_MAX + 8];
};

static inline bool cuwb_spi_has_line(const struct cuwb_spi_chip *chip, cuwb_line line) {
  return chip->bus.lines >> line & 1;
}

static inline uint64_t cuwb_spi_now(const struct cuwb_spi_chip *chip) {
  return chip->bus.now(chip->bus.context);
}

static inline void cuwb_spi_pause(const struct cuwb_spi_chip *chip, uint64_t duration_ns) {
  chip->bus.pause(chip->bus.context, duration_ns);
}

// Sets a line; does nothing if the line is not connected.
int cuwb_spi_drive(const struct cuwb_spi_chip *chip, cuwb_line line, bool high);

static inline int cuwb_spi_sense(const struct cuwb_spi_chip *chip, cuwb_line line, bool *high) {
  return chip->bus.sense(chip->bus.context, line, high);
}

static inline int cuwb_spi_take_edges(const struct cuwb_spi_chip *chip, cuwb_line line,
                                      cuwb_edges *seen) {
  return chip->bus.edges(chip->bus.context, line, seen);
}

// Waits for an edge of one line until `until_ns`.
static inline int cuwb_spi_wait(const struct cuwb_spi_chip *chip, cuwb_line line,
                                uint64_t until_ns) {
  return chip->bus.wait(chip->bus.context, (uint8_t)(1u << line), -1, until_ns, NULL);
}

// Waits until IRQ is high. Returns 0, ETIMEDOUT or the kernel's errno.
int cuwb_spi_wait_irq(const struct cuwb_spi_chip *chip, uint64_t wait_ns);

// Selects the chip once. Returns EMSGSIZE if the segments are longer than the kernel moves at a
// time.
int cuwb_spi_transfer(struct cuwb_spi_chip *chip, const cuwb_segment *segments, uint32_t count);

// Pauses until `duration_ns` have passed since the end of the last transfer.
void cuwb_spi_pause_since_transfer(const struct cuwb_spi_chip *chip, uint64_t duration_ns);

// Counts a protocol failure. CUWB_OK: try again; CUWB_NO_ANSWER: it has failed too often.
cuwb_result cuwb_spi_misbehaved(struct cuwb_spi_chip *chip, uint32_t patience);

// Counts bytes that belong to no packet.
void cuwb_spi_skip(struct cuwb_spi_chip *chip, uint64_t bytes);

// Returns the lines that a protocol requires, as bits.
uint8_t cuwb_spi_lines_needed(cuwb_spi_protocol protocol);

// Queues a received packet.
void cuwb_spi_deliver(struct cuwb_spi_chip *chip, const uint8_t *bytes, size_t length);

// Returns whether the queue has room for another packet of any length.
bool cuwb_spi_has_room(const struct cuwb_spi_chip *chip);

#pragma GCC visibility pop

#endif
