// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

#define RECORD_HEADER sizeof(cuwb_frame)

int cuwb_packet_queue_create(struct cuwb_packet_queue *queue, size_t capacity) {
  *queue = (struct cuwb_packet_queue){.memory = malloc(capacity), .capacity = capacity};
  return queue->memory ? 0 : ENOMEM;
}

void cuwb_packet_queue_destroy(struct cuwb_packet_queue *queue) {
  free(queue->memory);
  queue->memory = NULL;
}

bool cuwb_packet_queue_has_room(const struct cuwb_packet_queue *queue, size_t length) {
  return queue->tail - queue->head + RECORD_HEADER + length <= queue->capacity;
}

bool cuwb_packet_queue_put(struct cuwb_packet_queue *queue, const void *bytes, cuwb_frame frame) {
  if (!cuwb_packet_queue_has_room(queue, frame.length)) return false;
  if (queue->capacity - queue->tail < RECORD_HEADER + frame.length) {
    size_t used = queue->tail - queue->head;
    memmove(queue->memory, queue->memory + queue->head, used);
    queue->head = 0;
    queue->tail = used;
  }
  memcpy(queue->memory + queue->tail, &frame, RECORD_HEADER);
  memcpy(queue->memory + queue->tail + RECORD_HEADER, bytes, frame.length);
  queue->tail += RECORD_HEADER + frame.length;
  return true;
}

cuwb_result cuwb_packet_queue_take(struct cuwb_packet_queue *queue, void *memory, size_t capacity,
                                   cuwb_frame *frame) {
  if (cuwb_packet_queue_is_empty(queue)) return cuwb_outcome_of(CUWB_TIMEOUT);
  memcpy(frame, queue->memory + queue->head, RECORD_HEADER);
  if (frame->length > capacity) return cuwb_outcome_of(CUWB_TOO_LONG);
  memcpy(memory, queue->memory + queue->head + RECORD_HEADER, frame->length);
  queue->head += RECORD_HEADER + frame->length;
  if (cuwb_packet_queue_is_empty(queue)) queue->head = queue->tail = 0;
  return cuwb_outcome_of(CUWB_OK);
}
