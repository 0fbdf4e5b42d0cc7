// SPDX-License-Identifier: Apache-2.0
//
// Clock, threads and a bare exchange of cache lines, for measurements.
#ifndef CUWB_THREADS_H
#define CUWB_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Returns CLOCK_MONOTONIC in nanoseconds.
uint64_t cuwb_test_now(void);

/// Sleeps until CLOCK_MONOTONIC reaches `when`, without the kernel's timer slack.
void cuwb_test_sleep_until(uint64_t when);

/// Runs `left` and `right` on two processors at once and waits for both. The processors are the
/// first two the process may use; with only one nothing is pinned.
///
/// Returns the nanoseconds from the start of both to the end of the later one.
uint64_t cuwb_test_run_pair(void (*left)(void *), void *left_context, void (*right)(void *),
                            void *right_context);

/// Lets two threads, run as above, pass a number back and forth through two cache lines `count`
/// times. Writes each round trip to `nanoseconds`. The control for every measurement between two
/// processors.
void cuwb_test_ping_pong(uint32_t *nanoseconds, size_t count);

/// Returns the processors that the process may use.
int cuwb_test_processors(void);

#ifdef __cplusplus
}
#endif

#endif
