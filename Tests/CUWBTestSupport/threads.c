// SPDX-License-Identifier: Apache-2.0
#include "cuwb_threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "cuwb_reference_pause.h"

uint64_t cuwb_test_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void cuwb_test_sleep_until(uint64_t when) {
  static _Thread_local bool precise;
  if (!precise) {
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    precise = true;
  }
  struct timespec until = {(time_t)(when / 1000000000u), (long)(when % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

int cuwb_test_processors(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int processor(int wanted) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(cpu, &set) && wanted-- == 0) return cpu;
  }
  return -1;
}

struct half {
  void (*body)(void *);
  void *context;
  int cpu;
  int *ready;
  uint64_t started, ended;
};

static void *run_half(void *context) {
  struct half *half = context;
  if (half->cpu >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(half->cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
  }
  __atomic_fetch_add(half->ready, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(half->ready, __ATOMIC_ACQUIRE) < 2) sched_yield();
  half->started = cuwb_test_now();
  half->body(half->context);
  half->ended = cuwb_test_now();
  return NULL;
}

uint64_t cuwb_test_run_pair(void (*left)(void *), void *left_context, void (*right)(void *),
                            void *right_context) {
  bool pinned = cuwb_test_processors() >= 2;
  int ready = 0;
  struct half halves[2] = {
      {left, left_context, pinned ? processor(0) : -1, &ready, 0, 0},
      {right, right_context, pinned ? processor(1) : -1, &ready, 0, 0},
  };
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    if (pthread_create(&threads[i], NULL, run_half, &halves[i]) != 0) __builtin_trap();
  }
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  uint64_t from = halves[0].started < halves[1].started ? halves[0].started : halves[1].started;
  uint64_t to = halves[0].ended > halves[1].ended ? halves[0].ended : halves[1].ended;
  return to - from;
}

struct lines {
  _Alignas(128) uint64_t ball;
  _Alignas(128) uint64_t back;
  _Alignas(128) uint32_t *nanoseconds;
  size_t count;
};

static void serve(void *context) {
  struct lines *lines = context;
  for (size_t i = 0; i < lines->count; i++) {
    uint64_t started = cuwb_test_now();
    __atomic_store_n(&lines->ball, i + 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&lines->back, __ATOMIC_ACQUIRE) != i + 1) cuwb_reference_pause();
    lines->nanoseconds[i] = (uint32_t)(cuwb_test_now() - started);
  }
}

static void give_back(void *context) {
  struct lines *lines = context;
  for (size_t i = 0; i < lines->count; i++) {
    while (__atomic_load_n(&lines->ball, __ATOMIC_ACQUIRE) != i + 1) cuwb_reference_pause();
    __atomic_store_n(&lines->back, i + 1, __ATOMIC_RELEASE);
  }
}

void cuwb_test_ping_pong(uint32_t *nanoseconds, size_t count) {
  struct lines lines = {.nanoseconds = nanoseconds, .count = count};
  cuwb_test_run_pair(serve, &lines, give_back, &lines);
}
