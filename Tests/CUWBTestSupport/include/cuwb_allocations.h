// SPDX-License-Identifier: Apache-2.0
//
// Counts heap allocations. The implementation replaces malloc, calloc, realloc, free,
// posix_memalign, aligned_alloc and memalign for the whole executable it is linked into, Swift's
// runtime included, and hands on to the C library.
#ifndef CUWB_ALLOCATIONS_H
#define CUWB_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/// Whether allocations are counted: not under the sanitizers, which replace malloc themselves, and
/// not with other C libraries than glibc.
bool cuwb_test_allocations_are_counted(void);

/// Returns the bytes of the blocks that all threads have allocated since the first call, less the
/// bytes of the blocks that they have freed since then. Blocks that malloc keeps ready are not
/// included. 0 where allocations are not counted.
int64_t cuwb_test_bytes_in_use(void);

/// Begins or ends counting the allocations of all threads.
void cuwb_test_count_allocations(bool on);

/// Returns the allocations of all threads while counting was on.
uint64_t cuwb_test_allocations(void);

/// Returns the allocations of the calling thread since it began, whether counting is on or not.
uint64_t cuwb_test_thread_allocations(void);

#endif
