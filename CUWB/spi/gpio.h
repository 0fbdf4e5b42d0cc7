// SPDX-License-Identifier: Apache-2.0
//
// Lines of GPIO chips, through version 2 of the character device.
#ifndef CUWB_GPIO_H
#define CUWB_GPIO_H

#include "cuwb_spi_bus.h"

#pragma GCC visibility push(hidden)

// A line that was found. `chip` is a descriptor of its GPIO chip.
struct cuwb_gpio_line {
  int chip;
  uint32_t offset;
};

// Finds a line by its name, in one of the forms of cuwb_spi_options. Returns 0 or an errno as
// described at CUWB_SPI_LINE_LOOKUP. The caller calls cuwb_gpio_release for *found.
int cuwb_gpio_find(const char *text, struct cuwb_gpio_line *found);

void cuwb_gpio_release(struct cuwb_gpio_line *found);

// Returns whether the line is in use, with its consumer's name in `consumer` (32 bytes).
bool cuwb_gpio_is_used(struct cuwb_gpio_line line, char *consumer);

enum cuwb_gpio_use {
  // Both edges are latched.
  CUWB_GPIO_INPUT,
  CUWB_GPIO_LOW,
  CUWB_GPIO_HIGH,
};

// Requests a line; *descriptor is non-blocking.
int cuwb_gpio_request(struct cuwb_gpio_line line, enum cuwb_gpio_use use, int *descriptor);

int cuwb_gpio_get(int descriptor, bool *high);

int cuwb_gpio_set(int descriptor, bool high);

// Reads all events that have been latched.
int cuwb_gpio_edges(int descriptor, cuwb_edges *seen);

#pragma GCC visibility pop

#endif
