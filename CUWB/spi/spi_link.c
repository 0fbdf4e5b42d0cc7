// SPDX-License-Identifier: Apache-2.0
//
// The link operations that are the same for every protocol on SPI.
#include <stdlib.h>

#include "spi_chip.h"

// Room for some two hundred notifications that arrive during a write.
#define QUEUE_CAPACITY (64 * 1024)

// The interval at which the level of IRQ is checked without an edge, in case an edge is missed.
#define LEVEL_CHECK_NS (500 * CUWB_MS)

// ---------------------------------------------------------------------------------------- reading

static cuwb_result spi_read(cuwb_link *link, void *memory, size_t capacity, int32_t timeout_ms,
                            cuwb_frame *frame) {
  struct cuwb_spi_chip *chip = link->device;
  uint64_t deadline = CUWB_NO_DEADLINE;
  if (timeout_ms >= 0) deadline = cuwb_spi_now(chip) + (uint64_t)timeout_ms * CUWB_MS;
  bool over = false;
  for (;;) {
    pthread_mutex_lock(&chip->lock);
    cuwb_result result = cuwb_packet_queue_take(&chip->packets, memory, capacity, frame);
    bool waits = false;
    if (result.outcome == CUWB_TIMEOUT) {
      result = chip->protocol->receive(chip);
      waits = result.outcome == CUWB_TIMEOUT;
      if (result.outcome == CUWB_OK) {
        result = cuwb_packet_queue_take(&chip->packets, memory, capacity, frame);
      }
    }
    pthread_mutex_unlock(&chip->lock);
    if (result.outcome == CUWB_OK) cuwb_count(&link->stats.frames_read, 1);
    if (result.outcome != CUWB_TIMEOUT) return result;

    if (cuwb_link_consume_wake(link)) return cuwb_outcome_of(CUWB_WOKEN);
    uint64_t now = cuwb_spi_now(chip);
    if (over || (!waits && now >= deadline)) return cuwb_outcome_of(CUWB_TIMEOUT);
    if (!waits) continue;
    uint64_t until = now + LEVEL_CHECK_NS < deadline ? now + LEVEL_CHECK_NS : deadline;
    bool woken = false;
    int error =
        chip->bus.wait(chip->bus.context, 1u << CUWB_LINE_IRQ, link->wake_fd, until, &woken);
    if (error) return cuwb_failed_or_gone(error);
    if (woken && cuwb_link_acknowledge_wake(link)) return cuwb_outcome_of(CUWB_WOKEN);
    // Checks once more after the deadline, so that packets that have arrived by then are delivered.
    over = cuwb_spi_now(chip) >= deadline;
  }
}

// ---------------------------------------------------------------------------------------- writing

static cuwb_result spi_write(cuwb_link *link, const void *bytes, size_t length,
                             int32_t timeout_ms) {
  // The time-out has no effect, because each step of a protocol has a limit of its own.
  (void)timeout_ms;
  struct cuwb_spi_chip *chip = link->device;
  if (length < CUWB_HEADER_LENGTH) return cuwb_outcome_of(CUWB_INVALID);
  if (length + chip->protocol->overhead > chip->bus.longest || length > CUWB_FRAME_MAX) {
    return cuwb_failed(EMSGSIZE);
  }
  pthread_mutex_lock(&chip->lock);
  cuwb_result result = chip->protocol->send(chip, bytes, length);
  bool arrived = !cuwb_packet_queue_is_empty(&chip->packets);
  pthread_mutex_unlock(&chip->lock);
  if (arrived) cuwb_link_interrupt_wait(link);
  if (result.outcome == CUWB_OK) cuwb_count(&link->stats.bytes_written, length);
  return result;
}

// ------------------------------------------------------------------------------------ boot loader

static cuwb_result outcome_of_error(int error) {
  if (error == 0) return cuwb_outcome_of(CUWB_OK);
  return error == ETIMEDOUT ? cuwb_outcome_of(CUWB_TIMEOUT) : cuwb_failed_or_gone(error);
}

static cuwb_result spi_boot_begin(cuwb_link *link) {
  struct cuwb_spi_chip *chip = link->device;
  if (!chip->protocol->boot_read) return cuwb_outcome_of(CUWB_INVALID);
  pthread_mutex_lock(&chip->lock);
  // If no line switches the chip off, the user has to have done so by hand.
  int error = chip->protocol->start(chip, CUWB_START_CYCLE);
  pthread_mutex_unlock(&chip->lock);
  return outcome_of_error(error);
}

static cuwb_result spi_boot_write(cuwb_link *link, const void *bytes, size_t length) {
  struct cuwb_spi_chip *chip = link->device;
  if (!chip->protocol->boot_read) return cuwb_outcome_of(CUWB_INVALID);
  if (length > CUWB_FRAME_MAX) return cuwb_failed(EMSGSIZE);
  pthread_mutex_lock(&chip->lock);
  int error = chip->protocol->boot_write(chip, bytes, (uint32_t)length);
  pthread_mutex_unlock(&chip->lock);
  return outcome_of_error(error);
}

static cuwb_result spi_boot_read(cuwb_link *link, void *memory, size_t length,
                                 int32_t timeout_ms) {
  struct cuwb_spi_chip *chip = link->device;
  if (!chip->protocol->boot_read || timeout_ms < 0) return cuwb_outcome_of(CUWB_INVALID);
  if (length > CUWB_FRAME_MAX) return cuwb_failed(EMSGSIZE);
  uint64_t wait = (uint64_t)timeout_ms * CUWB_MS;
  pthread_mutex_lock(&chip->lock);
  int error = chip->protocol->boot_read(chip, memory, (uint32_t)length, wait);
  pthread_mutex_unlock(&chip->lock);
  return outcome_of_error(error);
}

// The firmware's protocol needs no preparation.
static cuwb_result spi_boot_end(cuwb_link *link) {
  struct cuwb_spi_chip *chip = link->device;
  chip->is_up = false;
  return cuwb_outcome_of(chip->protocol->boot_read ? CUWB_OK : CUWB_INVALID);
}

// ---------------------------------------------------------------------------------- open and close

static void spi_close(cuwb_link *link) {
  struct cuwb_spi_chip *chip = link->device;
  chip->bus.close(chip->bus.context);
  cuwb_packet_queue_destroy(&chip->packets);
  pthread_mutex_destroy(&chip->lock);
  free(chip);
}

static const struct cuwb_link_ops spi_ops = {
    .read_frame = spi_read,
    .write_frame = spi_write,
    .close = spi_close,
    .boot_begin = spi_boot_begin,
    .boot_write = spi_boot_write,
    .boot_read = spi_boot_read,
    .boot_end = spi_boot_end,
};

static const struct cuwb_spi_protocol_ops *ops_of(cuwb_spi_protocol protocol) {
  switch (protocol) {
  case CUWB_SPI_SR1XX: return &cuwb_spi_sr1xx;
  case CUWB_SPI_SR2XX: return &cuwb_spi_sr2xx;
  case CUWB_SPI_HSSPI: return &cuwb_spi_hsspi;
  }
  return NULL;
}

uint8_t cuwb_spi_lines_needed(cuwb_spi_protocol protocol) {
  const struct cuwb_spi_protocol_ops *ops = ops_of(protocol);
  return ops ? ops->needed : 0;
}

cuwb_result cuwb_open_spi_bus(cuwb_spi_bus bus, cuwb_spi_protocol protocol, cuwb_start start,
                              cuwb_link **opened) {
  const struct cuwb_spi_protocol_ops *ops = ops_of(protocol);
  if (!ops || (bus.lines & ops->needed) != ops->needed) return cuwb_outcome_of(CUWB_INVALID);
  int error = ENOMEM;
  struct cuwb_spi_chip *chip = calloc(1, sizeof(*chip));
  if (!chip) return cuwb_failed(error);
  chip->bus = bus;
  chip->protocol = ops;
  error = cuwb_packet_queue_create(&chip->packets, QUEUE_CAPACITY);
  if (error) goto free_chip;
  pthread_mutex_init(&chip->lock, NULL);
  cuwb_link *link = cuwb_link_allocate(&error);
  if (!link) goto free_packets;
  link->ops = &spi_ops;
  link->device = chip;
  chip->link = link;
  error = ops->start(chip, start);
  if (error) goto free_link;
  *opened = link;
  return cuwb_outcome_of(CUWB_OK);

free_link:
  cuwb_link_free(link);
free_packets:
  pthread_mutex_destroy(&chip->lock);
  cuwb_packet_queue_destroy(&chip->packets);
free_chip:
  free(chip);
  return cuwb_failed_or_gone(error);
}
