// SPDX-License-Identifier: Apache-2.0
//
// The loaders of NXP's chips, as far as the wires.
#include "wired.h"

// So often the level of IRQ is looked at although no edge was seen, in case one was missed.
#define LOOK_AGAIN_NS (10 * CUWB_MS)

int cuwb_wired_wait_irq(struct cuwb_wired *wired, uint64_t wait_ns) {
  uint64_t deadline = cuwb_wired_now(wired) + wait_ns;
  for (;;) {
    bool high;
    cuwb_edges edges;
    int error = cuwb_wired_edges(wired, CUWB_LINE_IRQ, &edges);
    if (!error) error = cuwb_wired_sense(wired, CUWB_LINE_IRQ, &high);
    if (error || high) return error;
    uint64_t now = cuwb_wired_now(wired);
    if (now >= deadline) return ETIMEDOUT;
    // In case an edge is missed.
    uint64_t look = now + LOOK_AGAIN_NS;
    error = cuwb_wired_wait(wired, CUWB_LINE_IRQ, look < deadline ? look : deadline);
    if (error) return error;
  }
}

static cuwb_result outcome_of_error(int error) {
  if (error == 0) return cuwb_outcome_of(CUWB_OK);
  return error == ETIMEDOUT ? cuwb_outcome_of(CUWB_TIMEOUT) : cuwb_wired_refused(error);
}

cuwb_result cuwb_wired_boot_begin(cuwb_link *link) {
  struct cuwb_wired *wired = link->device;
  if (!wired->rules->boot_read) return cuwb_outcome_of(CUWB_INVALID);
  pthread_mutex_lock(&wired->turn);
  // Without a line to switch it off it has to have been switched off by hand.
  int error = wired->rules->start(wired, CUWB_START_CYCLE);
  pthread_mutex_unlock(&wired->turn);
  return outcome_of_error(error);
}

cuwb_result cuwb_wired_boot_write(cuwb_link *link, const void *bytes, size_t length) {
  struct cuwb_wired *wired = link->device;
  if (!wired->rules->boot_read) return cuwb_outcome_of(CUWB_INVALID);
  if (length > CUWB_FRAME_MAX) return cuwb_failed(EMSGSIZE);
  pthread_mutex_lock(&wired->turn);
  int error = wired->rules->boot_write(wired, bytes, (uint32_t)length);
  pthread_mutex_unlock(&wired->turn);
  return outcome_of_error(error);
}

cuwb_result cuwb_wired_boot_read(cuwb_link *link, void *memory, size_t length,
                                   int32_t timeout_ms) {
  struct cuwb_wired *wired = link->device;
  if (!wired->rules->boot_read || timeout_ms < 0) return cuwb_outcome_of(CUWB_INVALID);
  if (length > CUWB_FRAME_MAX) return cuwb_failed(EMSGSIZE);
  uint64_t wait = (uint64_t)timeout_ms * CUWB_MS;
  pthread_mutex_lock(&wired->turn);
  int error = wired->rules->boot_read(wired, memory, (uint32_t)length, wait);
  pthread_mutex_unlock(&wired->turn);
  return outcome_of_error(error);
}

// The protocol of the firmware needs no preparation.
cuwb_result cuwb_wired_boot_end(cuwb_link *link) {
  struct cuwb_wired *wired = link->device;
  wired->is_up = false;
  return cuwb_outcome_of(wired->rules->boot_read ? CUWB_OK : CUWB_INVALID);
}
