// SPDX-License-Identifier: Apache-2.0
#include "inbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define RECORD_HEADER sizeof(cuwb_frame)

int cuwb_inbox_create(struct cuwb_inbox *inbox, size_t capacity) {
  *inbox = (struct cuwb_inbox){.memory = malloc(capacity), .capacity = capacity};
  return inbox->memory ? 0 : ENOMEM;
}

void cuwb_inbox_destroy(struct cuwb_inbox *inbox) {
  free(inbox->memory);
  inbox->memory = NULL;
}

bool cuwb_inbox_has_room(const struct cuwb_inbox *inbox, size_t length) {
  return inbox->tail - inbox->head + RECORD_HEADER + length <= inbox->capacity;
}

bool cuwb_inbox_put(struct cuwb_inbox *inbox, const void *bytes, cuwb_frame frame) {
  if (!cuwb_inbox_has_room(inbox, frame.length)) return false;
  if (inbox->capacity - inbox->tail < RECORD_HEADER + frame.length) {
    size_t used = inbox->tail - inbox->head;
    memmove(inbox->memory, inbox->memory + inbox->head, used);
    inbox->head = 0;
    inbox->tail = used;
  }
  memcpy(inbox->memory + inbox->tail, &frame, RECORD_HEADER);
  memcpy(inbox->memory + inbox->tail + RECORD_HEADER, bytes, frame.length);
  inbox->tail += RECORD_HEADER + frame.length;
  return true;
}

cuwb_result cuwb_inbox_take(struct cuwb_inbox *inbox, void *memory, size_t capacity,
                            cuwb_frame *frame) {
  if (cuwb_inbox_is_empty(inbox)) return cuwb_outcome_of(CUWB_TIMEOUT);
  memcpy(frame, inbox->memory + inbox->head, RECORD_HEADER);
  if (frame->length > capacity) return cuwb_outcome_of(CUWB_TOO_LONG);
  memcpy(memory, inbox->memory + inbox->head + RECORD_HEADER, frame->length);
  inbox->head += RECORD_HEADER + frame->length;
  if (cuwb_inbox_is_empty(inbox)) inbox->head = inbox->tail = 0;
  return cuwb_outcome_of(CUWB_OK);
}
