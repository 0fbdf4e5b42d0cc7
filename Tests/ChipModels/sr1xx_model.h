// SPDX-License-Identifier: Apache-2.0
//
// NXP SR1xx on SPI: its changes of IRQ when RI changes, and the selections that it accepts.
// Sources: NXP's driver (sr1xx.c in NXP/uwb-driver-testapp), its predecessor, Google's driver for
// the Pixel Watch.
#ifndef SR1XX_MODEL_H
#define SR1XX_MODEL_H

#include "boot_loaders.h"

enum sr1xx_state {
  SR1XX_QUIET,    // nothing is offered
  SR1XX_OFFERED,  // IRQ is high
  SR1XX_LOADING,  // RI was detected; loaded from `loaded_at` on
  SR1XX_HALF,     // the header was read
  SR1XX_TAKEN,    // IRQ is low until RI is low
};

struct sr1xx_model {
  struct chip_model base;
  enum sr1xx_state state;
  uint64_t loaded_at;
  uint8_t header[4];
  uint32_t payload_due;
  uint64_t header_end;
  uint64_t on_since;
  bool is_held_back;
  bool is_loading;
  struct hbci_rom rom;

  // The times to detect RI, to load, to lower IRQ at the end, to offer the next packet, and to
  // answer in the boot loader.
  uint64_t see_ns, load_ns, done_ns, next_ns, answer_ns;
  // The chip detects RI and never loads.
  bool never_loads;
  // The chip never lowers IRQ after a packet.
  bool keeps_irq;
  // IRQ falls and rises once more while the header is read, as the rest of an earlier pulse.
  bool pulses_late;
};

void sr1xx_init(struct sr1xx_model *chip, struct chip_board *board);

#endif
