// SPDX-License-Identifier: Apache-2.0
//
// An NXP SR1xx as seen from its pins, from the tables in its drivers' sources (see sr1xx.c of CUWB):
// what it does with IRQ when RI changes, and what it expects of each selection.
#ifndef CUWB_FAR_SR1XX_H
#define CUWB_FAR_SR1XX_H

#include "bench.h"

enum sr1xx_state {
  SR1XX_QUIET,    // nothing to say
  SR1XX_OFFERED,  // IRQ is high
  SR1XX_LOADING,  // RI was seen
  SR1XX_LOADED,   // IRQ is high again
  SR1XX_HALF,     // the header was taken
  SR1XX_TAKEN,    // IRQ is low until RI is low
};

#define SR1XX_PACKETS 256

struct far_sr1xx {
  struct bench *bench;
  enum sr1xx_state state;
  // To the host.
  uint8_t packets[SR1XX_PACKETS][4300];
  uint32_t lengths[SR1XX_PACKETS];
  unsigned first, count;
  // From the host.
  uint8_t commands[SR1XX_PACKETS][600];
  uint32_t command_lengths[SR1XX_PACKETS];
  unsigned command_count;
  uint32_t payload_due;
  uint64_t header_end_ns;

  // How long it takes, in nanoseconds: to see RI, to load, to lower IRQ at the end, to offer the next.
  uint64_t see_ns, load_ns, done_ns, next_ns;
  // So often it does not see RI.
  unsigned ignores;
  // It sees RI and never loads.
  bool never_loads;
  // It never lowers IRQ behind a packet.
  bool keeps_irq;
  // IRQ falls and rises once more while the header is read: what is left of an earlier pulse.
  bool pulses_late;
  // Called when the header of a command has been taken, for what happens in the middle of a write.
  void (*half_written)(struct far_sr1xx *chip);

  // What the host did that it must not do.
  unsigned early_reads;      // nothing was loaded
  unsigned wrong_lengths;    // not the header alone, or not the payload alone
  unsigned hasty_payloads;   // less than 30 us behind the header
  unsigned hasty_ends;       // RI lowered before IRQ
  unsigned collisions;       // written although a packet was offered before the selection
};

void far_sr1xx_reset(struct far_sr1xx *chip, struct bench *bench);

// Has something to say, in so many nanoseconds.
void far_sr1xx_say(struct far_sr1xx *chip, const uint8_t *bytes, uint32_t length, uint64_t in_ns);

extern const struct chip_ops far_sr1xx_ops;

#endif
