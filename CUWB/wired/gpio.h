// SPDX-License-Identifier: Apache-2.0
//
// Lines of GPIO chips, through version 2 of the character device.
#ifndef CUWB_GPIO_H
#define CUWB_GPIO_H

#include "cuwb_wires.h"

// A line as it was found. `chip` is a descriptor of its chip.
struct cuwb_gpio_line {
  int chip;
  uint32_t offset;
};

// `text` as in cuwb_spi_options. 0, or an errno as in CUWB_SPI_LINE_LOOKUP; *found is to be closed
// with cuwb_gpio_release.
int cuwb_gpio_find(const char *text, struct cuwb_gpio_line *found);

void cuwb_gpio_release(struct cuwb_gpio_line *found);

// Whether the line is in use, and by whom (32 bytes, ended by a 0).
bool cuwb_gpio_is_used(struct cuwb_gpio_line line, char *consumer);

enum cuwb_gpio_use {
  // Both edges are latched.
  CUWB_GPIO_INPUT,
  CUWB_GPIO_LOW,
  CUWB_GPIO_HIGH,
};

// Asks for a line; *descriptor is that of the line, non-blocking.
int cuwb_gpio_request(struct cuwb_gpio_line line, enum cuwb_gpio_use use, int *descriptor);

int cuwb_gpio_get(int descriptor, bool *high);

int cuwb_gpio_set(int descriptor, bool high);

// Reads every event that is there.
int cuwb_gpio_edges(int descriptor, cuwb_edges *seen);

#endif
