// SPDX-License-Identifier: Apache-2.0
#define WAKES 1
#include "reference_ring.h"

const cuwb_ring_peer cuwb_waking_ring = CUWB_RING_PEER("ring in C that can wake", NULL);
