// SPDX-License-Identifier: Apache-2.0
//
// A bus with a chip model at its other end, a clock of its own, and a record of the host's actions.
#ifndef CUWB_SIM_BUS_H
#define CUWB_SIM_BUS_H

#include <pthread.h>

#include "../ChipModels/chip_model.h"
#include "scenario.h"

// One selection of the chip, or one line that the host has set.
struct entry {
  uint64_t begin_ns;
  uint64_t end_ns;
  bool is_selection;
  cuwb_line line;
  bool high;
  // The bytes in all segments, and the numbers of bytes that the host sent from memory and
  // received.
  uint32_t length;
  uint32_t sent;
  uint32_t heard;
  uint8_t first;
  // The levels of the lines at the beginning.
  bool levels[CUWB_LINES];
};

#define ENTRIES 4096

struct sim_bus {
  struct chip_board board;
  chip_model *chip;
  cuwb_edges latched[CUWB_LINES];
  struct entry entries[ENTRIES];
  unsigned count;
  bool closed;
  // The host's GPIO reports no edges of this line, only levels.
  bool is_deaf[CUWB_LINES];
  // The errno with which the kernel refuses a transfer, after a number of transfers have passed.
  int refusal;
  unsigned transfers_left;
  // Not NULL: the bus runs in the machine's time, with this lock held during each call.
  pthread_mutex_t *lock;
};

// Resets everything. The clock does not begin at 0.
void sim_bus_reset(struct sim_bus *bus, chip_model *chip);

cuwb_spi_bus sim_bus_interface(struct sim_bus *bus, uint8_t lines);

// Lets time pass.
void sim_bus_advance(struct sim_bus *bus, uint64_t to_ns);

// The selections so far; NULL after the last one.
const struct entry *sim_bus_selection(const struct sim_bus *bus, unsigned number);
unsigned sim_bus_selections(const struct sim_bus *bus);

#endif
