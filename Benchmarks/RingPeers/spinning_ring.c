// SPDX-License-Identifier: Apache-2.0
#define WAKES 0
#include "reference_ring.h"

const cuwb_ring_peer cuwb_spinning_ring = CUWB_RING_PEER("ring in C, spinning only", NULL);

// This is not inlined, because a call from Swift is not inlined either.
__attribute__((noinline)) uint64_t cuwb_reference_sum(const void *memory, size_t length) {
  const uint8_t *bytes = memory;
  uint64_t sum = 0;
  for (size_t i = 0; i + 8 <= length; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, sizeof(word));
    sum += word;
  }
  return sum;
}
