// SPDX-License-Identifier: Apache-2.0
//
// The thread that reads a device without poll(2).
#include <signal.h>
#include <stdlib.h>

#include "srxxx.h"

// The number of reads in a row that may fail. They fail when the chip does not load a packet in
// time (EIO, ETIME).
#define FAILURES 50
// The number of requests that end the driver's wait. One is not enough, because the driver may
// start to wait right after it.
#define ABORTS 5
#define ABORT_PAUSE_MS 50

// Adds a packet to the queue, with the lock held. Returns false if the link is being closed.
static bool put(struct cuwb_srxxx *device, const uint8_t *bytes, size_t length, uint64_t now) {
  cuwb_frame frame = {.length = (uint32_t)length, .received_ns = now};
  // The reader has already been notified, because a single read does not fill the queue.
  while (device->phase == PHASE_READING && !cuwb_packet_queue_put(&device->packets, bytes, frame)) {
    pthread_cond_wait(&device->changed, &device->lock);
  }
  return device->phase == PHASE_READING;
}

// Splits the bytes of one read into packets.
static void take_packets(struct cuwb_srxxx *device, size_t count) {
  uint64_t now = cuwb_monotonic_ns();
  const uint8_t *at = device->scratch;
  cuwb_count(&device->link->stats.reads, 1);
  cuwb_count(&device->link->stats.bytes_read, count);
  pthread_mutex_lock(&device->lock);
  while (count >= CUWB_HEADER_LENGTH) {
    size_t length = CUWB_HEADER_LENGTH + cuwb_nxp_payload_length(at);
    if (!device->is_up && cuwb_nxp_is_junk(at)) {
      length = CUWB_HEADER_LENGTH;
      cuwb_count(&device->link->stats.bytes_skipped, length);
    } else if (length > count) {
      // One driver cuts off bytes beyond the requested size.
      break;
    } else {
      device->is_up |= cuwb_nxp_is_device_status(at);
      if (!put(device, at, length, now)) break;
    }
    at += length;
    count -= length;
  }
  pthread_mutex_unlock(&device->lock);
  if (count > 0) cuwb_count(&device->link->stats.bytes_skipped, count);
  cuwb_link_interrupt_wait(device->link);
}

static cuwb_result read_until_end(struct cuwb_srxxx *device) {
  unsigned failures = 0;
  while (__atomic_load_n(&device->phase, __ATOMIC_ACQUIRE) == PHASE_READING) {
    // The thread may be cancelled only here; see cuwb_srxxx_end_thread.
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    ssize_t count = device->ops.read(device->ops.context, device->scratch, CUWB_SRXXX_READ_SIZE);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    if (count > 0) {
      failures = 0;
      take_packets(device, (size_t)count);
      continue;
    }
    if (count == -EINTR) continue;
    if (cuwb_is_device_lost((int)-count)) return cuwb_outcome_of(CUWB_GONE);
    cuwb_count(&device->link->stats.resynchronisations, 1);
    if (++failures > FAILURES) {
      return count == 0 || count == -EIO ? cuwb_outcome_of(CUWB_NO_ANSWER)
                                         : cuwb_failed((int)-count);
    }
    cuwb_sleep_ms(CUWB_SRXXX_PAUSE_MS);
  }
  return cuwb_outcome_of(CUWB_CLOSED);
}

static void *run(void *context) {
  struct cuwb_srxxx *device = context;
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  cuwb_name_thread("uwb-srxxx");
  pthread_mutex_lock(&device->lock);
  while (device->phase == PHASE_IDLE) pthread_cond_wait(&device->changed, &device->lock);
  pthread_mutex_unlock(&device->lock);

  cuwb_result end = read_until_end(device);

  pthread_mutex_lock(&device->lock);
  device->end = end;
  __atomic_store_n(&device->phase, PHASE_ENDED, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&device->changed);
  pthread_mutex_unlock(&device->lock);
  cuwb_link_interrupt_wait(device->link);
  return NULL;
}

// The thread blocks all signals, which are meant for the program's own threads.
int cuwb_srxxx_start_thread(struct cuwb_srxxx *device) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&device->thread, NULL, run, device);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

// Returns whether the thread has ended within the time.
static bool has_ended(struct cuwb_srxxx *device, int32_t milliseconds) {
  for (int32_t i = 0; i < milliseconds; i++) {
    if (__atomic_load_n(&device->phase, __ATOMIC_ACQUIRE) == PHASE_ENDED) return true;
    cuwb_sleep_ms(1);
  }
  return false;
}

void cuwb_srxxx_end_thread(struct cuwb_srxxx *device) {
  pthread_mutex_lock(&device->lock);
  // There is nothing to interrupt before the first read and after the end.
  bool ended = device->phase != PHASE_READING;
  if (device->phase != PHASE_ENDED) {
    __atomic_store_n(&device->phase, PHASE_STOPPING, __ATOMIC_RELEASE);
  }
  pthread_cond_broadcast(&device->changed);
  pthread_mutex_unlock(&device->lock);
  for (unsigned tries = 0; tries < ABORTS && !ended; tries++) {
    if (cuwb_srxxx_set_power(device, SRXXX_ABORT_READ) != 0 && tries > 0) break;
    ended = has_ended(device, ABORT_PAUSE_MS);
  }
  // A driver without that request can still be interrupted by a signal. A signal of our own
  // (pthread_kill, tgkill) would need a handler for the whole process, which a library must not
  // install, and could arrive just before the read; a read with a limit does not exist, because the
  // drivers have neither poll(2) nor a timeout. pthread_cancel uses the C library's own signal, and
  // acts on the next read if it comes too early.
  if (!ended) pthread_cancel(device->thread);
  pthread_join(device->thread, NULL);
}
