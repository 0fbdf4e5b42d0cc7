// SPDX-License-Identifier: Apache-2.0
//
// Wires with a clock of their own, and what goes over them on record. A chip is whatever is told of
// transfers and driven lines, and plans the levels of its own lines.
#ifndef CUWB_BENCH_H
#define CUWB_BENCH_H

#include "cuwb_spi_bus.h"
#include "scenario.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

// One selection of the chip, or one line driven by the host.
struct entry {
  uint64_t begin_ns;
  uint64_t end_ns;
  bool is_selection;
  cuwb_line line;
  bool high;
  // Bytes in all segments; how many of them the host sent from memory, and listened to.
  uint32_t length;
  uint32_t sent;
  uint32_t heard;
  uint32_t segments;
  uint8_t first;
  // Levels of the host's lines meanwhile.
  bool levels[CUWB_LINES];
};

#define ENTRIES 4096

struct bench;

// What a chip does. The bytes from the chip are to be put into `in`, which holds zeros.
struct chip_ops {
  void (*selected)(struct bench *bench, const uint8_t *out, uint8_t *in, uint32_t length,
                   const struct entry *entry);
  void (*driven)(struct bench *bench, cuwb_line line, bool high);
};

struct plan {
  uint64_t at_ns;
  cuwb_line line;
  bool high;
};

struct bench {
  uint64_t now;
  const struct chip_ops *ops;
  void *chip;
  bool levels[CUWB_LINES];
  cuwb_edges latched[CUWB_LINES];
  struct plan plans[64];
  unsigned planned;
  struct entry entries[ENTRIES];
  unsigned count;
  bool closed;
  // The host's GPIO sees no edges of this line, only levels.
  bool is_deaf[CUWB_LINES];
  // The kernel refuses the transfer with this errno, once so many have passed.
  int refusal;
  unsigned transfers_left;
};

cuwb_spi_bus bench_bus(struct bench *bench, uint8_t lines);

// Forgets everything. The clock does not begin at 0.
void bench_reset(struct bench *bench, const struct chip_ops *ops, void *chip);

// A line from the chip will have that level in so many nanoseconds.
void bench_plan(struct bench *bench, uint64_t in_ns, cuwb_line line, bool high);

void bench_forget_plans(struct bench *bench, cuwb_line line);

// Lets time pass.
void bench_advance(struct bench *bench, uint64_t to_ns);

// The selections so far; NULL behind the last one.
const struct entry *bench_selection(const struct bench *bench, unsigned number);
unsigned bench_selections(const struct bench *bench);

#endif
