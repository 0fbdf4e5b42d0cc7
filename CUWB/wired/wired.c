// SPDX-License-Identifier: Apache-2.0
//
// What all protocols on SPI have in common: who may use the wires, waiting, the way out of trouble.
#include "wired.h"

#include <stdlib.h>
#include <string.h>

// Packets that came while one was written: some two hundred notifications.
#define INBOX_CAPACITY (64 * 1024)

// So often the level of IRQ is looked at although no edge was seen, in case one was missed.
#define LOOK_AGAIN_NS (500 * CUWB_MS)

// ------------------------------------------------------------------------------ for the protocols

int cuwb_wired_drive(const struct cuwb_wired *wired, cuwb_line line, bool high) {
  if (!cuwb_wired_has(wired, line)) return 0;
  return wired->wires.drive(wired->wires.context, line, high);
}

int cuwb_wired_transfer(struct cuwb_wired *wired, const cuwb_segment *segments, uint32_t count) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < count; i++) total += segments[i].length;
  if (total > wired->wires.longest) return EMSGSIZE;
  int error = wired->wires.transfer(wired->wires.context, segments, count);
  wired->moved_ns = cuwb_wired_now(wired);
  return error;
}

void cuwb_wired_pause_since_transfer(const struct cuwb_wired *wired, uint64_t duration_ns) {
  uint64_t now = cuwb_wired_now(wired);
  uint64_t over = wired->moved_ns + duration_ns;
  if (over > now) cuwb_wired_pause(wired, over - now);
}

cuwb_result cuwb_wired_refused(int error) {
  switch (error) {
  // The controller or the GPIO chip has gone, or its driver was unbound.
  case ENODEV:
  case ENXIO:
  case ESHUTDOWN:
    return cuwb_outcome_of(CUWB_GONE);
  default:
    return cuwb_failed(error);
  }
}

cuwb_result cuwb_wired_misbehaved(struct cuwb_wired *wired, uint32_t patience) {
  cuwb_count(&wired->link->stats.resynchronisations, 1);
  wired->failures++;
  return cuwb_outcome_of(wired->failures > patience ? CUWB_NO_ANSWER : CUWB_OK);
}

void cuwb_wired_skip(struct cuwb_wired *wired, uint64_t bytes) {
  cuwb_count(&wired->link->stats.bytes_skipped, bytes);
}

bool cuwb_wired_has_room(const struct cuwb_wired *wired) {
  return cuwb_inbox_has_room(&wired->inbox, CUWB_FRAME_MAX);
}

void cuwb_wired_deliver(struct cuwb_wired *wired, const uint8_t *bytes, size_t length) {
  wired->failures = 0;
  cuwb_frame frame = {.length = (uint32_t)length, .received_ns = cuwb_wired_now(wired)};
  if (!cuwb_inbox_put(&wired->inbox, bytes, frame)) cuwb_wired_skip(wired, length);
}

// ---------------------------------------------------------------------------------------- reading

static cuwb_result wired_read(cuwb_link *link, void *memory, size_t capacity, int32_t timeout_ms,
                              cuwb_frame *frame) {
  struct cuwb_wired *wired = link->device;
  uint64_t deadline = CUWB_FOR_EVER;
  if (timeout_ms >= 0) deadline = cuwb_wired_now(wired) + (uint64_t)timeout_ms * CUWB_MS;
  bool over = false;
  for (;;) {
    pthread_mutex_lock(&wired->turn);
    cuwb_result result = cuwb_inbox_take(&wired->inbox, memory, capacity, frame);
    bool waits = false;
    if (result.outcome == CUWB_TIMEOUT) {
      result = wired->rules->receive(wired);
      waits = result.outcome == CUWB_TIMEOUT;
      if (result.outcome == CUWB_OK) {
        result = cuwb_inbox_take(&wired->inbox, memory, capacity, frame);
      }
    }
    pthread_mutex_unlock(&wired->turn);
    if (result.outcome != CUWB_TIMEOUT) return result;

    if (cuwb_link_consume_wake(link)) return cuwb_outcome_of(CUWB_WOKEN);
    uint64_t now = cuwb_wired_now(wired);
    if (over || (!waits && now >= deadline)) return cuwb_outcome_of(CUWB_TIMEOUT);
    if (!waits) continue;
    uint64_t until = now + LOOK_AGAIN_NS < deadline ? now + LOOK_AGAIN_NS : deadline;
    int error = wired->wires.wait(wired->wires.context, 1u << CUWB_LINE_IRQ, link->wake_fd, until);
    if (error) return cuwb_wired_refused(error);
    if (cuwb_link_answer_wake(link)) return cuwb_outcome_of(CUWB_WOKEN);
    // One more look behind the deadline: what has come by then is delivered.
    over = cuwb_wired_now(wired) >= deadline;
  }
}

static bool wired_frame_buffered(cuwb_link *link) {
  struct cuwb_wired *wired = link->device;
  pthread_mutex_lock(&wired->turn);
  bool there = !cuwb_inbox_is_empty(&wired->inbox);
  pthread_mutex_unlock(&wired->turn);
  return there;
}

// The protocol says how long a packet is; a chip on SPI needs no rules beyond it.
static void wired_framing_changed(cuwb_link *link) { (void)link; }

// ---------------------------------------------------------------------------------------- writing

static cuwb_result wired_write(cuwb_link *link, const void *bytes, size_t length,
                               int32_t timeout_ms) {
  // Every step of a protocol has a limit of its own.
  (void)timeout_ms;
  struct cuwb_wired *wired = link->device;
  if (length < CUWB_HEADER_LENGTH) return cuwb_outcome_of(CUWB_INVALID);
  if (length + wired->rules->overhead > wired->wires.longest || length > CUWB_FRAME_MAX) {
    return cuwb_failed(EMSGSIZE);
  }
  pthread_mutex_lock(&wired->turn);
  cuwb_result result = wired->rules->send(wired, bytes, length);
  bool arrived = !cuwb_inbox_is_empty(&wired->inbox);
  pthread_mutex_unlock(&wired->turn);
  if (arrived) cuwb_link_nudge(link);
  if (result.outcome == CUWB_OK) cuwb_count(&link->stats.bytes_written, length);
  return result;
}

// ---------------------------------------------------------------------------------- open and close

static void wired_close(cuwb_link *link) {
  struct cuwb_wired *wired = link->device;
  wired->wires.close(wired->wires.context);
  cuwb_inbox_destroy(&wired->inbox);
  pthread_mutex_destroy(&wired->turn);
  free(wired);
}

static const struct cuwb_link_ops wired_ops = {
    .read_frame = wired_read,
    .frame_buffered = wired_frame_buffered,
    .framing_changed = wired_framing_changed,
    .write_frame = wired_write,
    .close = wired_close,
    .boot_begin = cuwb_wired_boot_begin,
    .boot_write = cuwb_wired_boot_write,
    .boot_read = cuwb_wired_boot_read,
    .boot_end = cuwb_wired_boot_end,
};

static const struct cuwb_wired_rules *rules_of(cuwb_wired_protocol protocol) {
  switch (protocol) {
  case CUWB_WIRED_SR1XX: return &cuwb_wired_sr1xx;
  case CUWB_WIRED_SR2XX: return &cuwb_wired_sr2xx;
  case CUWB_WIRED_HSSPI: return &cuwb_wired_hsspi;
  }
  return NULL;
}

uint8_t cuwb_wired_lines_needed(cuwb_wired_protocol protocol) {
  const struct cuwb_wired_rules *rules = rules_of(protocol);
  return rules ? rules->needed : 0;
}

cuwb_result cuwb_open_wires(cuwb_wires wires, cuwb_wired_protocol protocol, cuwb_start start,
                            cuwb_link **opened) {
  const struct cuwb_wired_rules *rules = rules_of(protocol);
  if (!rules || (wires.lines & rules->needed) != rules->needed) {
    return cuwb_outcome_of(CUWB_INVALID);
  }
  int error = ENOMEM;
  struct cuwb_wired *wired = calloc(1, sizeof(*wired));
  if (!wired) return cuwb_failed(error);
  wired->wires = wires;
  wired->rules = rules;
  error = cuwb_inbox_create(&wired->inbox, INBOX_CAPACITY);
  if (error) goto free_wired;
  pthread_mutex_init(&wired->turn, NULL);
  cuwb_link *link = cuwb_link_allocate(&error);
  if (!link) goto free_inbox;
  link->ops = &wired_ops;
  link->device = wired;
  wired->link = link;
  error = rules->start(wired, start);
  if (error) goto free_link;
  *opened = link;
  return cuwb_outcome_of(CUWB_OK);

free_link:
  cuwb_link_free(link);
free_inbox:
  pthread_mutex_destroy(&wired->turn);
  cuwb_inbox_destroy(&wired->inbox);
free_wired:
  free(wired);
  return cuwb_wired_refused(error);
}
