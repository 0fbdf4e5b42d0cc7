// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "link.h"

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

uint64_t cuwb_monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t cuwb_deadline(int32_t timeout_ms) {
  if (timeout_ms < 0) return CUWB_NO_DEADLINE;
  return cuwb_monotonic_ns() + (uint64_t)timeout_ms * NS_PER_MS;
}

static struct timespec until(uint64_t deadline_ns) {
  uint64_t now = cuwb_monotonic_ns();
  uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
  return (struct timespec){.tv_sec = (time_t)(left / NS_PER_S), .tv_nsec = (long)(left % NS_PER_S)};
}

int cuwb_poll(struct pollfd *polled, nfds_t count, uint64_t deadline_ns) {
  int ready;
  do {
    struct timespec left;
    if (deadline_ns != CUWB_NO_DEADLINE) left = until(deadline_ns);
    ready = ppoll(polled, count, deadline_ns == CUWB_NO_DEADLINE ? NULL : &left, NULL);
  } while (ready < 0 && errno == EINTR);
  return ready < 0 ? errno : 0;
}

int cuwb_wait(int fd, short events, int wake_fd, uint64_t deadline_ns, short *seen, bool *woken) {
  // poll(2) skips a negative descriptor.
  struct pollfd polled[2] = {{.fd = fd, .events = events}, {.fd = wake_fd, .events = POLLIN}};
  int error = cuwb_poll(polled, 2, deadline_ns);
  if (error) return error;
  *seen = polled[0].revents;
  *woken = polled[1].revents != 0;
  return 0;
}

void cuwb_sleep_ms(int32_t milliseconds) { cuwb_poll(NULL, 0, cuwb_deadline(milliseconds)); }

// ------------------------------------------------------------------------------------------ futex

// On 32-bit machines with a 64-bit time_t the plain call would misread the timeout.
#if defined(SYS_futex_time64)
#define FUTEX_CALL (sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#else
#define FUTEX_CALL SYS_futex
#endif

void cuwb_futex_wait(uint32_t *word, uint32_t expected, int32_t timeout_ms) {
  uint64_t deadline = cuwb_deadline(timeout_ms);
  long result;
  do {
    struct timespec left;
    if (deadline != CUWB_NO_DEADLINE) left = until(deadline);
    result = syscall(FUTEX_CALL, word, FUTEX_WAIT_PRIVATE, expected,
                     deadline == CUWB_NO_DEADLINE ? NULL : &left, NULL, 0);
  } while (result < 0 && errno == EINTR);
}

void cuwb_futex_wake(uint32_t *word) {
  syscall(FUTEX_CALL, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

// ---------------------------------------------------------------------------------------- barrier

// Constants of linux/membarrier.h that kernel headers before 4.14 do not have.
#define MEMBARRIER_PRIVATE_EXPEDITED (1 << 3)
#define MEMBARRIER_REGISTER_PRIVATE_EXPEDITED (1 << 4)

static bool process_barrier_works;

static void register_process_barrier(void) {
  process_barrier_works = syscall(SYS_membarrier, MEMBARRIER_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool cuwb_has_process_barrier(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_process_barrier);
  return process_barrier_works;
}

void cuwb_process_barrier(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (syscall(SYS_membarrier, MEMBARRIER_PRIVATE_EXPEDITED, 0, 0) == 0) return;
  // A filter of system calls that was installed after the first call refuses it. The stores of
  // other threads become visible within microseconds, so this waits for that time.
  cuwb_sleep_ms(2);
}

// ----------------------------------------------------------------------------------------- thread

void cuwb_name_thread(const char *name) {
  // The kernel refuses a longer name instead of cutting it.
  char kept[16] = {0};
  strncpy(kept, name, sizeof(kept) - 1);
  pthread_setname_np(pthread_self(), kept);
}
