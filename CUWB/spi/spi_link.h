// SPDX-License-Identifier: Apache-2.0
#ifndef CUWB_SPI_LINK_H
#define CUWB_SPI_LINK_H

#include "cuwb_spi_bus.h"

#pragma GCC visibility push(hidden)

// Returns the lines that a protocol cannot do without, as bits.
uint8_t cuwb_spi_lines_needed(cuwb_spi_protocol protocol);

#pragma GCC visibility pop

#endif
