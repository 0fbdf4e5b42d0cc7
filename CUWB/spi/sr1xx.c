// SPDX-License-Identifier: Apache-2.0
//
// NXP SR1xx on SPI. The facts are from NXP's driver (sr1xx.c in NXP/uwb-driver-testapp), its
// predecessor nxp-sr1xx.c, and Google's driver for the Pixel Watch; none of their code is used.
//
// To write, the host sends the header and the payload in a selection each, with a pause between
// them. Only the chip begins a read:
//
//   IRQ  ___/~~~~~~~~\___/~~~~~~~~~~~~~~~~\____     a packet waits; RI was seen; it is loaded;
//   RI   ________/~~~~~~~~~~~~~~~~~~~~~~~~~~~\_     it was read
//   CS   ~~~~~~~~~~~~~~~~~~~~~~~~\__/~\___/~~~~     header, payload
#include "../framing/nxp_packet.h"
#include "spi_chip.h"

// The pause after each edge of CE. Source: NXP's drivers wait 10 to 12 ms.
#define POWER_NS (10 * CUWB_MS)
// The pause between header and payload of a write. Source: the predecessor of NXP's driver waits
// 30 us, NXP's and Google's drivers 100 us.
#define PAYLOAD_NS (100 * CUWB_US)
// The longest time for the chip to load the packet after RI. Source: NXP's driver.
#define LOADED_NS (500 * CUWB_MS)
// The time after which an edge counts as missed. From then on, the level alone decides. NXP's
// driver uses the level after 1 ms, but does not detect edges.
#define MISSED_NS (10 * CUWB_MS)
// The longest time for IRQ to fall after a packet was read. Source: NXP's driver.
#define TAKEN_NS (10 * CUWB_MS)
// The number of handshakes in a row that may fail: 3 s in the worst case.
#define PATIENCE 6
// The number of packets in a row that may be empty, as when IRQ is stuck or nothing drives MISO.
#define EMPTY_PATIENCE 100
// The number of packets that are read before a write goes out even though another one waits.
// Source: Google's driver tries ten times.
#define PACKETS_BEFORE_WRITE 10

static int start(struct cuwb_spi_chip *chip, cuwb_start start) {
  int error = cuwb_spi_drive(chip, CUWB_LINE_READ, false);
  if (!error && start == CUWB_START_CYCLE && cuwb_spi_has_line(chip, CUWB_LINE_POWER)) {
    error = cuwb_spi_drive(chip, CUWB_LINE_POWER, false);
    cuwb_spi_pause(chip, POWER_NS);
  }
  if (!error && cuwb_spi_has_line(chip, CUWB_LINE_POWER)) {
    error = cuwb_spi_drive(chip, CUWB_LINE_POWER, true);
    cuwb_spi_pause(chip, POWER_NS);
  }
  chip->is_up = false;
  return error;
}

// Waits for IRQ to fall and to rise again. Returns ETIMEDOUT if it did not rise.
static int wait_loaded(struct cuwb_spi_chip *chip) {
  uint64_t deadline = cuwb_spi_now(chip) + LOADED_NS;
  for (;;) {
    uint64_t now = cuwb_spi_now(chip);
    if (now >= deadline) return ETIMEDOUT;
    uint64_t slice = now + MISSED_NS < deadline ? now + MISSED_NS : deadline;
    int error = cuwb_spi_wait(chip, CUWB_LINE_IRQ, slice);
    if (error) return error;
    cuwb_edges edges;
    error = cuwb_spi_take_edges(chip, CUWB_LINE_IRQ, &edges);
    if (error) return error;
    // A low level means that the chip has detected RI and is loading. A high level without an edge
    // has two causes: the pulse was too short for the host's GPIO, or the chip has not detected RI.
    // The header shows which.
    bool high;
    error = cuwb_spi_sense(chip, CUWB_LINE_IRQ, &high);
    if (error || high) return error;
  }
}

// Reads a loaded packet. Returns 0, with a *length of 0 if there was none, ETIMEDOUT, or the
// kernel's errno.
static int read_packet(struct cuwb_spi_chip *chip, uint32_t *length) {
  uint8_t *bytes = chip->scratch;
  *length = 0;
  cuwb_segment header = {.in = bytes, .length = CUWB_HEADER_LENGTH};
  int error = cuwb_spi_transfer(chip, &header, 1);
  if (error) return error;
  if (!chip->is_up && cuwb_nxp_is_junk(bytes)) {
    cuwb_spi_skip(chip, CUWB_HEADER_LENGTH);
    return 0;
  }
  uint32_t payload = cuwb_nxp_payload_length(bytes);
  if (CUWB_HEADER_LENGTH + payload > CUWB_NXP_PACKET_MAX) {
    cuwb_spi_skip(chip, CUWB_HEADER_LENGTH);
    return ETIMEDOUT;
  }
  // The bytes of a read that came too early; NXP's driver does not deliver them either.
  if (payload == 0) {
    cuwb_spi_skip(chip, CUWB_HEADER_LENGTH);
    return 0;
  }
  // An edge from before the payload, such as a second pulse of IRQ, does not mean that the packet
  // was read. RI would be lowered, and raised again, while IRQ is still high.
  cuwb_edges earlier;
  error = cuwb_spi_take_edges(chip, CUWB_LINE_IRQ, &earlier);
  if (error) return error;
  cuwb_segment rest = {.in = bytes + CUWB_HEADER_LENGTH, .length = payload};
  error = cuwb_spi_transfer(chip, &rest, 1);
  if (error) return error;
  *length = CUWB_HEADER_LENGTH + payload;
  cuwb_count(&chip->link->stats.reads, 1);
  cuwb_count(&chip->link->stats.bytes_read, *length);
  return 0;
}

// Waits for IRQ to fall after a packet was read.
static int wait_taken(struct cuwb_spi_chip *chip) {
  uint64_t deadline = cuwb_spi_now(chip) + TAKEN_NS;
  for (;;) {
    bool high;
    int error = cuwb_spi_sense(chip, CUWB_LINE_IRQ, &high);
    if (error || !high) return error;
    if (cuwb_spi_now(chip) >= deadline) return 0;
    error = cuwb_spi_wait(chip, CUWB_LINE_IRQ, deadline);
    if (error) return error;
    cuwb_edges edges;
    error = cuwb_spi_take_edges(chip, CUWB_LINE_IRQ, &edges);
    // IRQ fell, whatever its level is now.
    if (error || edges.falling) return error;
  }
}

static cuwb_result receive(struct cuwb_spi_chip *chip) {
  bool high;
  int error = cuwb_spi_sense(chip, CUWB_LINE_IRQ, &high);
  // Cleared just before RI rises, because IRQ may pulse twice before RI takes effect.
  cuwb_edges earlier;
  if (!error) error = cuwb_spi_take_edges(chip, CUWB_LINE_IRQ, &earlier);
  if (error) return cuwb_failed_or_gone(error);
  // The next wait no longer detects an edge between the two calls.
  if (!high && earlier.rising) error = cuwb_spi_sense(chip, CUWB_LINE_IRQ, &high);
  if (error) return cuwb_failed_or_gone(error);
  // IRQ may fall by itself after a write.
  if (!high) return cuwb_outcome_of(CUWB_TIMEOUT);

  uint32_t length = 0;
  error = cuwb_spi_drive(chip, CUWB_LINE_READ, true);
  if (!error) error = wait_loaded(chip);
  if (!error) error = read_packet(chip, &length);
  if (!error) error = wait_taken(chip);
  // RI is lowered in any case: with RI high the chip would wait forever.
  int lowered = cuwb_spi_drive(chip, CUWB_LINE_READ, false);
  if (error == ETIMEDOUT) return cuwb_spi_misbehaved(chip, PATIENCE);
  if (error || lowered) return cuwb_failed_or_gone(error ? error : lowered);
  if (length == 0) return cuwb_spi_misbehaved(chip, EMPTY_PATIENCE);
  chip->is_up |= cuwb_nxp_is_device_status(chip->scratch);
  cuwb_spi_deliver(chip, chip->scratch, length);
  return cuwb_outcome_of(CUWB_OK);
}

static cuwb_result send(struct cuwb_spi_chip *chip, const uint8_t *bytes, size_t length) {
  // The waiting packet is read first: a command that collides with it can lock up the chip's
  // interface (Truesense-it/StellaUWB, pull request 9).
  for (unsigned packets = 0; packets < PACKETS_BEFORE_WRITE; packets++) {
    if (!cuwb_spi_has_room(chip)) return cuwb_outcome_of(CUWB_TIMEOUT);
    cuwb_result result = receive(chip);
    if (result.outcome == CUWB_TIMEOUT) break;
    if (result.outcome != CUWB_OK) return result;
    // IRQ is high and the chip does not load a packet. NXP's driver writes in this case too.
    if (chip->failures > 0) break;
  }
  cuwb_segment header = {.out = bytes, .length = CUWB_HEADER_LENGTH};
  int error = cuwb_spi_transfer(chip, &header, 1);
  if (!error && length > CUWB_HEADER_LENGTH) {
    cuwb_spi_pause(chip, PAYLOAD_NS);
    cuwb_segment payload = {.out = bytes + CUWB_HEADER_LENGTH,
                            .length = (uint32_t)(length - CUWB_HEADER_LENGTH)};
    error = cuwb_spi_transfer(chip, &payload, 1);
  }
  return error ? cuwb_failed_or_gone(error) : cuwb_outcome_of(CUWB_OK);
}

// The boot loader (HBCI) uses IRQ alone, without RI.
static int boot_write(struct cuwb_spi_chip *chip, const uint8_t *bytes, uint32_t length) {
  cuwb_segment segment = {.out = bytes, .length = length};
  return cuwb_spi_transfer(chip, &segment, 1);
}

static int boot_read(struct cuwb_spi_chip *chip, uint8_t *bytes, uint32_t length,
                     uint64_t wait_ns) {
  int error = wait_ns ? cuwb_spi_wait_irq(chip, wait_ns) : 0;
  cuwb_edges earlier;
  if (!error) error = cuwb_spi_take_edges(chip, CUWB_LINE_IRQ, &earlier);
  cuwb_segment segment = {.in = bytes, .length = length};
  if (!error) error = cuwb_spi_transfer(chip, &segment, 1);
  // Otherwise the level for this answer could be taken for the level for the next answer.
  return error ? error : wait_taken(chip);
}

const struct cuwb_spi_protocol_ops cuwb_spi_sr1xx = {
    .needed = 1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READ,
    .overhead = 0,
    .start = start,
    .receive = receive,
    .send = send,
    .boot_write = boot_write,
    .boot_read = boot_read,
};
