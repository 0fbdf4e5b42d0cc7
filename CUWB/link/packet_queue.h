// SPDX-License-Identifier: Apache-2.0
//
// Received packets that wait to be read, in memory allocated at open.
#ifndef CUWB_PACKET_QUEUE_H
#define CUWB_PACKET_QUEUE_H

#include "cuwb.h"

#pragma GCC visibility push(hidden)

struct cuwb_packet_queue {
  uint8_t *memory;
  size_t capacity;
  // Records from `head` to `tail`, each a cuwb_frame and its bytes.
  size_t head;
  size_t tail;
};

// Returns 0 or ENOMEM.
int cuwb_packet_queue_create(struct cuwb_packet_queue *queue, size_t capacity);

void cuwb_packet_queue_destroy(struct cuwb_packet_queue *queue);

static inline bool cuwb_packet_queue_is_empty(const struct cuwb_packet_queue *queue) {
  return queue->head == queue->tail;
}

// Returns whether there is room for a packet of `length` bytes.
bool cuwb_packet_queue_has_room(const struct cuwb_packet_queue *queue, size_t length);

// Returns false if there is no room.
bool cuwb_packet_queue_put(struct cuwb_packet_queue *queue, const void *bytes, cuwb_frame frame);

// Removes the oldest packet. CUWB_TIMEOUT: there is none. CUWB_TOO_LONG: it is kept.
cuwb_result cuwb_packet_queue_take(struct cuwb_packet_queue *queue, void *memory, size_t capacity,
                                   cuwb_frame *frame);

#pragma GCC visibility pop

#endif
