// SPDX-License-Identifier: Apache-2.0
//
// The lines between a chip and its host, and the changes that the chip has scheduled.
#ifndef CHIP_BOARD_H
#define CHIP_BOARD_H

#include "chip_models.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

struct chip_plan {
  uint64_t at_ns;
  cuwb_line line;
  bool high;
  chip_edge edge;
};

struct chip_board {
  uint64_t now;
  bool levels[CUWB_LINES];
  struct chip_plan plans[64];
  unsigned planned;
  chip_callbacks callbacks;
};

// Changes a line from the chip now.
void chip_board_set(struct chip_board *board, cuwb_line line, bool high, chip_edge edge);

// Changes a line from the chip after `in_ns`, or at once if that is 0.
void chip_board_plan(struct chip_board *board, uint64_t in_ns, cuwb_line line, bool high);
void chip_board_plan_edge(struct chip_board *board, uint64_t in_ns, cuwb_line line, bool high,
                          chip_edge edge);

void chip_board_forget_plans(struct chip_board *board, cuwb_line line);

// Returns when the next change is due; UINT64_MAX if none is planned.
uint64_t chip_board_due(const struct chip_board *board);

// Lets time pass, and makes the changes that are due by then.
void chip_board_advance(struct chip_board *board, uint64_t to_ns);

#endif
