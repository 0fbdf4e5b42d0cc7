// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files about NXP's kernel drivers.
#ifndef CUWB_NODE_SRXXX_H
#define CUWB_NODE_SRXXX_H

#include <errno.h>
#include <pthread.h>

#include "../inbox.h"
#include "../internal.h"
#include "../wired/nxp.h"
#include "cuwb_node.h"
#include "requests.h"

// What the drivers copy at most, whatever they were asked for.
#define SRXXX_READ_SIZE NXP_PACKET_MAX
// After a call that failed and is worth another try.
#define SRXXX_PAUSE_MS 5

enum phase {
  PHASE_IDLE,     // the thread waits for the first read
  PHASE_READING,
  PHASE_STOPPING,
  PHASE_ENDED,
};

struct srxxx {
  cuwb_link *link;
  cuwb_node node;
  // Which of the two encodings the driver understands.
  bool takes_long;
  bool was_in_uci_mode;
  pthread_t thread;
  pthread_mutex_t lock;
  // The phase has changed, or there is room again.
  pthread_cond_t changed;
  enum phase phase;
  cuwb_result end;
  struct cuwb_inbox inbox;
  bool is_up;
  uint8_t scratch[SRXXX_READ_SIZE];
};

static inline void srxxx_nap(int32_t milliseconds) {
  cuwb_poll(NULL, 0, cuwb_deadline(milliseconds));
}

static inline bool srxxx_is_gone(int error) {
  return error == ENODEV || error == ENXIO || error == ESHUTDOWN;
}

// ------------------------------------------------------------------------------------- srxxx.c

// SET_PWR. 0 or an errno.
int srxxx_set_power(struct srxxx *device, unsigned long value);

// ------------------------------------------------------------------------------ srxxx_thread.c

// 0 or an errno. The thread waits until the phase is PHASE_READING.
int srxxx_start_thread(struct srxxx *device);

void srxxx_end_thread(struct srxxx *device);

#endif
