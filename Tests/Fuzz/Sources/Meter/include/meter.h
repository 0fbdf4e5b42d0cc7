// SPDX-License-Identifier: Apache-2.0
//
// Measures the memory that an input needs: under AddressSanitizer by its hooks, otherwise by
// replacing malloc.
#ifndef METER_H
#define METER_H

#include <stddef.h>

/// Begins to count from zero.
void meter_start(void);

/// The most bytes that were in use at one time since meter_start, and the number of allocations.
/// Counting ends.
size_t meter_stop(size_t *_Nonnull count);

#endif
