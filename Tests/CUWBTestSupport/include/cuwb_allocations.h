// SPDX-License-Identifier: Apache-2.0
//
// Counts heap allocations. The implementation replaces malloc, calloc, realloc,
// posix_memalign, aligned_alloc and memalign for the whole executable it is linked into, Swift's
// runtime included, and hands on to the C library.
#ifndef CUWB_ALLOCATIONS_H
#define CUWB_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/// Whether allocations are counted at all: not under the sanitizers, which replace malloc
/// themselves, and not with another C library than glibc.
bool cuwb_test_allocations_are_counted(void);

/// Bytes of the heap that are in use, of all threads, those that malloc keeps ready included; 0
/// where allocations are not counted.
uint64_t cuwb_test_bytes_in_use(void);

/// Begins or ends counting the allocations of all threads.
void cuwb_test_count_allocations(bool on);

/// Allocations of all threads while counting was on.
uint64_t cuwb_test_allocations(void);

/// Allocations of the calling thread since it began, whether counting is on or not.
uint64_t cuwb_test_thread_allocations(void);

#endif
