// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files about NXP's kernel drivers.
#ifndef CUWB_SRXXX_H
#define CUWB_SRXXX_H

#include <errno.h>
#include <pthread.h>

#include "../framing/nxp_packet.h"
#include "../link/link.h"
#include "cuwb_chardev.h"
#include "ioctl_requests.h"

#pragma GCC visibility push(hidden)

// The greatest number of bytes that the drivers copy, whatever size was requested.
#define CUWB_SRXXX_READ_SIZE CUWB_NXP_PACKET_MAX
// The pause after a call that failed and is repeated.
#define CUWB_SRXXX_PAUSE_MS 5

enum cuwb_srxxx_phase {
  PHASE_IDLE,  // The thread waits for the first read.
  PHASE_READING,
  PHASE_STOPPING,
  PHASE_ENDED,
};

struct cuwb_srxxx {
  cuwb_link *link;
  cuwb_chardev_ops ops;
  // Whether the driver expects requests encoded with a long argument, rather than a 32-bit one.
  bool takes_long;
  bool was_in_uci_mode;
  pthread_t thread;
  pthread_mutex_t lock;
  // The condition that the phase has changed, or the queue has room again.
  pthread_cond_t changed;
  enum cuwb_srxxx_phase phase;
  cuwb_result end;
  struct cuwb_packet_queue packets;
  bool is_up;
  uint8_t scratch[CUWB_SRXXX_READ_SIZE];
};

// Requests SET_PWR. Returns 0 or an errno.
static inline int cuwb_srxxx_set_power(const struct cuwb_srxxx *device, unsigned long value) {
  unsigned long request = device->takes_long ? SRXXX_SET_PWR_LONG : SRXXX_SET_PWR;
  return device->ops.control(device->ops.context, request, value);
}

// Starts the thread, which waits until the phase is PHASE_READING. Returns 0 or an errno.
int cuwb_srxxx_start_thread(struct cuwb_srxxx *device);

void cuwb_srxxx_end_thread(struct cuwb_srxxx *device);

#pragma GCC visibility pop

#endif
