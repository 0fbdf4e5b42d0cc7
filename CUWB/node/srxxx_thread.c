// SPDX-License-Identifier: Apache-2.0
//
// The thread that reads a device without poll(2).
#include <signal.h>
#include <stdlib.h>

#include "srxxx.h"

// Reads may fail without a packet between them (the chip did not load it in time: EIO, ETIME), with a
// pause after each.
#define FAILURES 50
// The driver may have gone to sleep just behind the request that wakes it.
#define ABORTS 5
#define ABORT_PAUSE_MS 50

// With the lock held. False: the link is being closed.
static bool put(struct srxxx *device, const uint8_t *bytes, size_t length, uint64_t now) {
  cuwb_frame frame = {.length = (uint32_t)length, .received_ns = now};
  // The reader knows that there is something: one read does not fill the inbox.
  while (device->phase == PHASE_READING && !cuwb_inbox_put(&device->inbox, bytes, frame)) {
    pthread_cond_wait(&device->changed, &device->lock);
  }
  return device->phase == PHASE_READING;
}

// Whole packets, one behind the other.
static void take_packets(struct srxxx *device, size_t count) {
  uint64_t now = cuwb_monotonic_ns();
  const uint8_t *at = device->scratch;
  cuwb_count(&device->link->stats.reads, 1);
  cuwb_count(&device->link->stats.bytes_read, count);
  pthread_mutex_lock(&device->lock);
  while (count >= CUWB_HEADER_LENGTH) {
    size_t length = CUWB_HEADER_LENGTH + nxp_payload_length(at);
    if (!device->is_up && nxp_is_junk(at)) {
      length = CUWB_HEADER_LENGTH;
      cuwb_count(&device->link->stats.bytes_skipped, length);
    } else if (length > count) {
      // One driver cuts off what does not fit into the count.
      break;
    } else {
      device->is_up |= nxp_is_device_status(at);
      if (!put(device, at, length, now)) break;
    }
    at += length;
    count -= length;
  }
  pthread_mutex_unlock(&device->lock);
  if (count > 0) cuwb_count(&device->link->stats.bytes_skipped, count);
  cuwb_link_nudge(device->link);
}

static cuwb_result read_until_the_end(struct srxxx *device) {
  unsigned failures = 0;
  while (__atomic_load_n(&device->phase, __ATOMIC_ACQUIRE) == PHASE_READING) {
    // Only here may the thread be cancelled, when nothing else has unblocked it.
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    ssize_t count = device->node.read(device->node.context, device->scratch, SRXXX_READ_SIZE);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    if (count > 0) {
      failures = 0;
      take_packets(device, (size_t)count);
      continue;
    }
    if (count == -EINTR) continue;
    if (srxxx_is_gone((int)-count)) return cuwb_outcome_of(CUWB_GONE);
    cuwb_count(&device->link->stats.resynchronisations, 1);
    if (++failures > FAILURES) {
      return count == 0 || count == -EIO ? cuwb_outcome_of(CUWB_NO_ANSWER)
                                         : cuwb_failed((int)-count);
    }
    srxxx_nap(SRXXX_PAUSE_MS);
  }
  return cuwb_outcome_of(CUWB_CLOSED);
}

static void *run(void *context) {
  struct srxxx *device = context;
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  cuwb_name_thread("uwb-srxxx");
  pthread_mutex_lock(&device->lock);
  while (device->phase == PHASE_IDLE) pthread_cond_wait(&device->changed, &device->lock);
  pthread_mutex_unlock(&device->lock);

  cuwb_result end = read_until_the_end(device);

  pthread_mutex_lock(&device->lock);
  device->end = end;
  __atomic_store_n(&device->phase, PHASE_ENDED, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&device->changed);
  pthread_mutex_unlock(&device->lock);
  cuwb_link_nudge(device->link);
  return NULL;
}

// Signals are for the threads of the program.
int srxxx_start_thread(struct srxxx *device) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&device->thread, NULL, run, device);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

// Whether the thread has ended within the time.
static bool has_ended(struct srxxx *device, int32_t milliseconds) {
  for (int32_t i = 0; i < milliseconds; i++) {
    if (__atomic_load_n(&device->phase, __ATOMIC_ACQUIRE) == PHASE_ENDED) return true;
    srxxx_nap(1);
  }
  return false;
}

void srxxx_end_thread(struct srxxx *device) {
  pthread_mutex_lock(&device->lock);
  // Nothing is to be unblocked before the first read, and behind the end.
  bool ended = device->phase != PHASE_READING;
  if (device->phase != PHASE_ENDED) {
    __atomic_store_n(&device->phase, PHASE_STOPPING, __ATOMIC_RELEASE);
  }
  pthread_cond_broadcast(&device->changed);
  pthread_mutex_unlock(&device->lock);
  for (unsigned tries = 0; tries < ABORTS && !ended; tries++) {
    if (srxxx_set_power(device, SRXXX_ABORT_READ) != 0 && tries > 0) break;
    ended = has_ended(device, ABORT_PAUSE_MS);
  }
  // A driver without that request still lets a read be interrupted.
  if (!ended) pthread_cancel(device->thread);
  pthread_join(device->thread, NULL);
}
