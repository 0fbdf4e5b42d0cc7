// SPDX-License-Identifier: Apache-2.0
//
// Shared by the protocols on SPI.
#ifndef CUWB_WIRED_H
#define CUWB_WIRED_H

#include <errno.h>
#include <pthread.h>

#include "../inbox.h"
#include "../internal.h"
#include "cuwb_wires.h"

#define CUWB_US UINT64_C(1000)
#define CUWB_MS UINT64_C(1000000)

struct cuwb_wired;

// What a protocol has to do. Called with the turn taken.
struct cuwb_wired_rules {
  // Lines without which it cannot be spoken, as bits.
  uint8_t needed;
  // Bytes around the longest packet.
  uint32_t overhead;
  int (*start)(struct cuwb_wired *wired, cuwb_start start);
  // Takes what the chip has to say. CUWB_OK: something happened, look again; CUWB_TIMEOUT: the
  // chip has nothing to say.
  cuwb_result (*receive)(struct cuwb_wired *wired);
  cuwb_result (*send)(struct cuwb_wired *wired, const uint8_t *bytes, size_t length);

  // The loader; NULL where there is none. `wait_ns` 0: the chip has offered it already.
  int (*boot_write)(struct cuwb_wired *wired, const uint8_t *bytes, uint32_t length);
  int (*boot_read)(struct cuwb_wired *wired, uint8_t *bytes, uint32_t length, uint64_t wait_ns);
};

extern const struct cuwb_wired_rules cuwb_wired_sr1xx;
extern const struct cuwb_wired_rules cuwb_wired_sr2xx;
extern const struct cuwb_wired_rules cuwb_wired_hsspi;

// A link on wires. Reads and writes exclude each other; packets that come while one is written
// wait in the inbox.
struct cuwb_wired {
  cuwb_link *link;
  cuwb_wires wires;
  const struct cuwb_wired_rules *rules;
  pthread_mutex_t turn;
  struct cuwb_inbox inbox;

  // When the last transfer ended.
  uint64_t moved_ns;
  // Failures without a success between them, and resets because of them.
  uint32_t failures;
  uint32_t resets;
  // Whether the chip has reported its state since it was switched on (NXP).
  bool is_up;
  // Whether the last read was the last one: IRQ is about to fall (HSSPI).
  bool was_last;
  uint8_t scratch[CUWB_FRAME_MAX + 8];
};

static inline bool cuwb_wired_has(const struct cuwb_wired *wired, cuwb_line line) {
  return wired->wires.lines >> line & 1;
}

static inline uint64_t cuwb_wired_now(const struct cuwb_wired *wired) {
  return wired->wires.now(wired->wires.context);
}

static inline void cuwb_wired_pause(const struct cuwb_wired *wired, uint64_t duration_ns) {
  wired->wires.pause(wired->wires.context, duration_ns);
}

// As bits.
uint8_t cuwb_wired_lines_needed(cuwb_wired_protocol protocol);

// Does nothing where the line is not connected.
int cuwb_wired_drive(const struct cuwb_wired *wired, cuwb_line line, bool high);

static inline int cuwb_wired_sense(const struct cuwb_wired *wired, cuwb_line line, bool *high) {
  return wired->wires.sense(wired->wires.context, line, high);
}

static inline int cuwb_wired_edges(const struct cuwb_wired *wired, cuwb_line line,
                                   cuwb_edges *seen) {
  return wired->wires.edges(wired->wires.context, line, seen);
}

// Waits for an edge of one line, or until then.
static inline int cuwb_wired_wait(const struct cuwb_wired *wired, cuwb_line line,
                                  uint64_t until_ns) {
  return wired->wires.wait(wired->wires.context, (uint8_t)(1u << line), -1, until_ns);
}

// One selection of the chip. EMSGSIZE: longer than the kernel moves.
int cuwb_wired_transfer(struct cuwb_wired *wired, const cuwb_segment *segments, uint32_t count);

// A pause since the end of the last transfer, if it is not over yet.
void cuwb_wired_pause_since_transfer(const struct cuwb_wired *wired, uint64_t duration_ns);

// A kernel that refuses, as a result: the device gone, or failed.
cuwb_result cuwb_wired_refused(int error);

// A chip that did not do as it should: CUWB_OK (look again) until it has happened too often.
cuwb_result cuwb_wired_misbehaved(struct cuwb_wired *wired, uint32_t patience);

// Waits for IRQ to be high. 0, ETIMEDOUT, or what the kernel says.
int cuwb_wired_wait_irq(struct cuwb_wired *wired, uint64_t wait_ns);

// The operations of cuwb_link_ops; loader.c.
cuwb_result cuwb_wired_boot_begin(cuwb_link *link);
cuwb_result cuwb_wired_boot_write(cuwb_link *link, const void *bytes, size_t length);
cuwb_result cuwb_wired_boot_read(cuwb_link *link, void *memory, size_t length, int32_t timeout_ms);
cuwb_result cuwb_wired_boot_end(cuwb_link *link);

// Bytes that belong to no packet.
void cuwb_wired_skip(struct cuwb_wired *wired, uint64_t bytes);

// A packet has come.
void cuwb_wired_deliver(struct cuwb_wired *wired, const uint8_t *bytes, size_t length);

// Whether another packet finds room.
bool cuwb_wired_has_room(const struct cuwb_wired *wired);

#endif
