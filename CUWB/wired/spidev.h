// SPDX-License-Identifier: Apache-2.0
//
// A device of spidev.
#ifndef CUWB_SPIDEV_H
#define CUWB_SPIDEV_H

#include "cuwb_wires.h"

struct cuwb_spidev {
  int fd;
  // Some controllers' drivers refuse a transfer of no bytes; then the chip is selected without a
  // pause before the first one.
  bool refuses_empty;
};

// Opens and locks it. 0 or an errno.
int cuwb_spidev_open(struct cuwb_spidev *device, const char *path);

// Gives its lock up and closes it.
void cuwb_spidev_close(struct cuwb_spidev *device);

// Mode 0, 8 bits, most significant first. 0 or an errno.
int cuwb_spidev_set_up(struct cuwb_spidev *device, uint32_t speed_hz);

int cuwb_spidev_transfer(struct cuwb_spidev *device, const cuwb_segment *segments, uint32_t count);

#endif
