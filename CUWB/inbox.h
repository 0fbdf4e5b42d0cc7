// SPDX-License-Identifier: Apache-2.0
//
// Whole packets that have come and wait to be read: a queue in memory taken at open.
#ifndef CUWB_INBOX_H
#define CUWB_INBOX_H

#include "cuwb.h"

struct cuwb_inbox {
  uint8_t *memory;
  size_t capacity;
  // Records from `head` to `tail`, each a cuwb_frame and its bytes.
  size_t head;
  size_t tail;
};

// 0 or ENOMEM.
int cuwb_inbox_create(struct cuwb_inbox *inbox, size_t capacity);

void cuwb_inbox_destroy(struct cuwb_inbox *inbox);

static inline bool cuwb_inbox_is_empty(const struct cuwb_inbox *inbox) {
  return inbox->head == inbox->tail;
}

// Whether a packet of `length` bytes finds room.
bool cuwb_inbox_has_room(const struct cuwb_inbox *inbox, size_t length);

// False: no room.
bool cuwb_inbox_put(struct cuwb_inbox *inbox, const void *bytes, cuwb_frame frame);

// The oldest packet. CUWB_TIMEOUT: there is none; CUWB_TOO_LONG: it stays.
cuwb_result cuwb_inbox_take(struct cuwb_inbox *inbox, void *memory, size_t capacity,
                            cuwb_frame *frame);

#endif
