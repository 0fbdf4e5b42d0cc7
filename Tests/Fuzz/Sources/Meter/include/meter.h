// SPDX-License-Identifier: Apache-2.0
//
// How much memory an input costs. Under AddressSanitizer by its hooks, else by replacing malloc.
#ifndef METER_H
#define METER_H

#include <stddef.h>

/// Begins to count, from nothing.
void meter_start(void);

/// The most bytes that were in use at one time since meter_start, and the number of allocations.
/// Counting ends.
size_t meter_stop(size_t *_Nonnull count);

#endif
