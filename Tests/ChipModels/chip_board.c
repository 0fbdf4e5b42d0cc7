// SPDX-License-Identifier: Apache-2.0
#include "chip_board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void chip_board_set(struct chip_board *board, cuwb_line line, bool high, chip_edge edge) {
  if (edge != CHIP_EDGE_PULSE) {
    if (board->levels[line] == high) return;
    board->levels[line] = high;
  }
  board->callbacks.changed(board->callbacks.context, line, high, edge);
}

void chip_board_plan_edge(struct chip_board *board, uint64_t in_ns, cuwb_line line, bool high,
                          chip_edge edge) {
  if (in_ns == 0) {
    chip_board_set(board, line, high, edge);
    return;
  }
  if (board->planned == sizeof(board->plans) / sizeof(board->plans[0])) {
    fprintf(stderr, "chip model: too many plans\n");
    abort();
  }
  board->plans[board->planned++] = (struct chip_plan){board->now + in_ns, line, high, edge};
}

void chip_board_plan(struct chip_board *board, uint64_t in_ns, cuwb_line line, bool high) {
  chip_board_plan_edge(board, in_ns, line, high, CHIP_EDGE_SEEN);
}

void chip_board_forget_plans(struct chip_board *board, cuwb_line line) {
  unsigned kept = 0;
  for (unsigned i = 0; i < board->planned; i++) {
    if (board->plans[i].line != line) board->plans[kept++] = board->plans[i];
  }
  board->planned = kept;
}

uint64_t chip_board_due(const struct chip_board *board) {
  uint64_t due = UINT64_MAX;
  for (unsigned i = 0; i < board->planned; i++) {
    if (board->plans[i].at_ns < due) due = board->plans[i].at_ns;
  }
  return due;
}

void chip_board_advance(struct chip_board *board, uint64_t to_ns) {
  for (uint64_t due; (due = chip_board_due(board)) <= to_ns && due != UINT64_MAX;) {
    unsigned next = 0;
    while (board->plans[next].at_ns != due) next++;
    struct chip_plan plan = board->plans[next];
    board->planned--;
    memmove(board->plans + next, board->plans + next + 1, (board->planned - next) * sizeof(plan));
    if (due > board->now) board->now = due;
    chip_board_set(board, plan.line, plan.high, plan.edge);
  }
  if (to_ns > board->now) board->now = to_ns;
}
