// SPDX-License-Identifier: Apache-2.0
//
// NXP SR2xx on SPI, after the Middleware Guide and the SPI transport of
// nxp-uwb/sr250-uwbiot-zephyr.
//
// The first byte of each selection is the direction: 00 and a whole packet, or FF, after which the
// chip sends a dummy byte and the header, then, in a selection of its own, a dummy byte and the
// payload. There is no RI, and IRQ may rise again at once. The frames of the boot loader travel in
// the same way, with a header of two bytes. How the loader is left over SPI is not published, so a
// chip that starts in it stays there.
#ifndef SR2XX_MODEL_H
#define SR2XX_MODEL_H

#include "boot_loaders.h"

struct sr2xx_model {
  struct chip_model base;
  bool header_read;
  // The time at which IRQ was raised; UINT64_MAX while it is low.
  uint64_t raised_at;
  uint64_t moved_at;
  bool is_loading;
  struct hdll_rom rom;

  // The time from the end of one packet until IRQ rises for the next one.
  uint64_t next_ns;
};

void sr2xx_init(struct sr2xx_model *chip, struct chip_board *board);

#endif
