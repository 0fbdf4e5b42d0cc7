// SPDX-License-Identifier: Apache-2.0
//
// NXP SR1xx on SPI. Facts: NXP/uwb-driver-testapp (sr1xx.c, the driver "D8"), its relatives, and
// Google's driver for the Pixel Watch; none of their code.
//
// Writing: the header and the payload each in a selection of its own, with a pause between them.
// Reading, which only the chip begins:
//
//   IRQ  ___/~~~~~~~~\___/~~~~~~~~~~~~~~~~\____     there is a packet; RI was seen; it is loaded; it
//   RI   ________/~~~~~~~~~~~~~~~~~~~~~~~~~~~\_     was taken
//   CS   ~~~~~~~~~~~~~~~~~~~~~~~~\__/~\___/~~~~     header, payload
#include "nxp.h"

// After each edge of CE. Source: D8 and its predecessor, 10 to 12 ms.
#define POWER_NS (10 * CUWB_MS)
// Between header and payload of a write. Source: 30 us at the least; D8 and Google wait 100 us.
#define PAYLOAD_NS (100 * CUWB_US)
// Until the packet is loaded after RI. Source: D8.
#define LOADED_NS (500 * CUWB_MS)
// Until an edge counts as missed and the level alone decides. D8 goes by the level after 1 ms, but
// sees no edges.
#define MISSED_NS (10 * CUWB_MS)
// Until IRQ is low after a packet was taken. Source: D8.
#define TAKEN_NS (10 * CUWB_MS)
// Handshakes that may fail one after the other: 3 s at the worst.
#define PATIENCE 6
// Packets without contents in a row: IRQ is stuck, or nothing drives MISO.
#define EMPTY_PATIENCE 100
// Packets that are taken before a write goes out although another one is there. Source: Google's
// driver tries ten times.
#define PACKETS_BEFORE_WRITE 10

static int start(struct cuwb_wired *wired, cuwb_start start) {
  int error = cuwb_wired_drive(wired, CUWB_LINE_READ, false);
  if (!error && start == CUWB_START_CYCLE && cuwb_wired_has(wired, CUWB_LINE_POWER)) {
    error = cuwb_wired_drive(wired, CUWB_LINE_POWER, false);
    cuwb_wired_pause(wired, POWER_NS);
  }
  if (!error && cuwb_wired_has(wired, CUWB_LINE_POWER)) {
    error = cuwb_wired_drive(wired, CUWB_LINE_POWER, true);
    cuwb_wired_pause(wired, POWER_NS);
  }
  wired->is_up = false;
  return error;
}

// Waits for IRQ to fall and to rise again, from here on. ETIMEDOUT: it did not rise.
static int wait_loaded(struct cuwb_wired *wired) {
  uint64_t deadline = cuwb_wired_now(wired) + LOADED_NS;
  for (;;) {
    uint64_t now = cuwb_wired_now(wired);
    if (now >= deadline) return ETIMEDOUT;
    uint64_t slice = now + MISSED_NS < deadline ? now + MISSED_NS : deadline;
    int error = cuwb_wired_wait(wired, CUWB_LINE_IRQ, slice);
    if (error) return error;
    cuwb_edges edges;
    error = cuwb_wired_edges(wired, CUWB_LINE_IRQ, &edges);
    if (error) return error;
    // Low: it has seen RI and is loading. High without an edge: a pulse too short for the host's
    // GPIO, or RI was not seen; then the header shows which.
    bool high;
    error = cuwb_wired_sense(wired, CUWB_LINE_IRQ, &high);
    if (error || high) return error;
  }
}

// The packet is loaded. 0, ETIMEDOUT, or what the kernel says.
static int take_packet(struct cuwb_wired *wired, uint32_t *length) {
  uint8_t *bytes = wired->scratch;
  *length = 0;
  cuwb_segment header = {.in = bytes, .length = CUWB_HEADER_LENGTH};
  int error = cuwb_wired_transfer(wired, &header, 1);
  if (error) return error;
  if (!wired->is_up && nxp_is_junk(bytes)) {
    cuwb_wired_skip(wired, CUWB_HEADER_LENGTH);
    return 0;
  }
  uint32_t payload = nxp_payload_length(bytes);
  if (CUWB_HEADER_LENGTH + payload > NXP_PACKET_MAX) {
    cuwb_wired_skip(wired, CUWB_HEADER_LENGTH);
    return ETIMEDOUT;
  }
  // Never delivered by NXP's driver either: it is what reading too early looks like.
  if (payload == 0) {
    cuwb_wired_skip(wired, CUWB_HEADER_LENGTH);
    return 0;
  }
  // Edges from before are not those of a packet that was taken: after a second pulse of IRQ one is
  // left over, and RI would be lowered, and raised again, while IRQ is still high.
  cuwb_edges before;
  error = cuwb_wired_edges(wired, CUWB_LINE_IRQ, &before);
  if (error) return error;
  cuwb_segment rest = {.in = bytes + CUWB_HEADER_LENGTH, .length = payload};
  error = cuwb_wired_transfer(wired, &rest, 1);
  if (error) return error;
  *length = CUWB_HEADER_LENGTH + payload;
  cuwb_count(&wired->link->stats.reads, 1);
  cuwb_count(&wired->link->stats.bytes_read, *length);
  return 0;
}

static int wait_taken(struct cuwb_wired *wired) {
  uint64_t deadline = cuwb_wired_now(wired) + TAKEN_NS;
  for (;;) {
    bool high;
    int error = cuwb_wired_sense(wired, CUWB_LINE_IRQ, &high);
    if (error || !high) return error;
    if (cuwb_wired_now(wired) >= deadline) return 0;
    error = cuwb_wired_wait(wired, CUWB_LINE_IRQ, deadline);
    if (error) return error;
    cuwb_edges edges;
    error = cuwb_wired_edges(wired, CUWB_LINE_IRQ, &edges);
    // It fell: whatever its level is by now, the packet was taken.
    if (error || edges.falling) return error;
  }
}

static cuwb_result receive(struct cuwb_wired *wired) {
  bool high;
  int error = cuwb_wired_sense(wired, CUWB_LINE_IRQ, &high);
  // Forgotten just before RI rises: IRQ is known to pulse twice before RI takes effect.
  cuwb_edges before;
  if (!error) error = cuwb_wired_edges(wired, CUWB_LINE_IRQ, &before);
  if (error) return cuwb_wired_refused(error);
  // An edge between the two is no longer there to be waited for.
  if (!high && before.rising) error = cuwb_wired_sense(wired, CUWB_LINE_IRQ, &high);
  if (error) return cuwb_wired_refused(error);
  // Gone low by itself, as it may after a write.
  if (!high) return cuwb_outcome_of(CUWB_TIMEOUT);

  uint32_t length = 0;
  error = cuwb_wired_drive(wired, CUWB_LINE_READ, true);
  if (!error) error = wait_loaded(wired);
  if (!error) error = take_packet(wired, &length);
  if (!error) error = wait_taken(wired);
  // Whatever has happened: with RI high the chip would wait for ever.
  int lowered = cuwb_wired_drive(wired, CUWB_LINE_READ, false);
  if (error == ETIMEDOUT) return cuwb_wired_misbehaved(wired, PATIENCE);
  if (error || lowered) return cuwb_wired_refused(error ? error : lowered);
  if (length == 0) return cuwb_wired_misbehaved(wired, EMPTY_PATIENCE);
  wired->is_up |= nxp_is_device_status(wired->scratch);
  cuwb_wired_deliver(wired, wired->scratch, length);
  return cuwb_outcome_of(CUWB_OK);
}

static cuwb_result send(struct cuwb_wired *wired, const uint8_t *bytes, size_t length) {
  // A packet that the chip offers is taken first: a command that collides with it can lock the
  // chip's interface up (Truesense-it/StellaUWB PR 9).
  for (unsigned packets = 0; packets < PACKETS_BEFORE_WRITE; packets++) {
    if (!cuwb_wired_has_room(wired)) return cuwb_outcome_of(CUWB_TIMEOUT);
    cuwb_result result = receive(wired);
    if (result.outcome == CUWB_TIMEOUT) break;
    if (result.outcome != CUWB_OK) return result;
    // It offers something and does not hand it over. NXP's driver writes all the same.
    if (wired->failures > 0) break;
  }
  cuwb_segment header = {.out = bytes, .length = CUWB_HEADER_LENGTH};
  int error = cuwb_wired_transfer(wired, &header, 1);
  if (!error && length > CUWB_HEADER_LENGTH) {
    cuwb_wired_pause(wired, PAYLOAD_NS);
    cuwb_segment payload = {.out = bytes + CUWB_HEADER_LENGTH,
                            .length = (uint32_t)(length - CUWB_HEADER_LENGTH)};
    error = cuwb_wired_transfer(wired, &payload, 1);
  }
  return error ? cuwb_wired_refused(error) : cuwb_outcome_of(CUWB_OK);
}

// The loader (HBCI) uses IRQ alone, and reads and writes as they are.
static int boot_write(struct cuwb_wired *wired, const uint8_t *bytes, uint32_t length) {
  cuwb_segment segment = {.out = bytes, .length = length};
  return cuwb_wired_transfer(wired, &segment, 1);
}

static int boot_read(struct cuwb_wired *wired, uint8_t *bytes, uint32_t length,
                     uint64_t wait_ns) {
  int error = wait_ns ? cuwb_wired_wait_irq(wired, wait_ns) : 0;
  cuwb_edges forgotten;
  if (!error) error = cuwb_wired_edges(wired, CUWB_LINE_IRQ, &forgotten);
  cuwb_segment segment = {.in = bytes, .length = length};
  if (!error) error = cuwb_wired_transfer(wired, &segment, 1);
  // Otherwise the level of this answer could be taken for the next one.
  return error ? error : wait_taken(wired);
}

const struct cuwb_wired_rules cuwb_wired_sr1xx = {
    .needed = 1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READ,
    .overhead = 0,
    .start = start,
    .receive = receive,
    .send = send,
    .boot_write = boot_write,
    .boot_read = boot_read,
};
