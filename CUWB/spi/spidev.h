// SPDX-License-Identifier: Apache-2.0
//
// A spidev device.
#ifndef CUWB_SPIDEV_H
#define CUWB_SPIDEV_H

#include "cuwb_spi_bus.h"

#pragma GCC visibility push(hidden)

struct cuwb_spidev {
  int fd;
  // Some controllers' drivers refuse a transfer of zero bytes. Then there is no pause between the
  // chip select and the first clock.
  bool refuses_empty;
};

// Opens and locks a device. Like the functions below, returns 0 or an errno.
int cuwb_spidev_open(struct cuwb_spidev *device, const char *path);

// Unlocks and closes the device.
void cuwb_spidev_close(struct cuwb_spidev *device);

// Sets mode 0, 8 bits, most significant bit first.
int cuwb_spidev_set_up(struct cuwb_spidev *device, uint32_t speed_hz);

// Selects the chip once for all segments.
int cuwb_spidev_transfer(struct cuwb_spidev *device, const cuwb_segment *segments, uint32_t count);

#pragma GCC visibility pop

#endif
