// SPDX-License-Identifier: Apache-2.0
//
// Qorvo QM35 on SPI (HSSPI), from the constants and comments of Qorvo's GPL driver (hsspi.c,
// qm35.h) and its newer relatives.
//
// In each selection both sides send a header of four bytes (flags, layer, little-endian length),
// then the payload goes one way. SS_RDY is high while the chip can take part; a pre-read asks for
// the announcement, a read repeats the announcement and removes the packet.
#ifndef QM35_MODEL_H
#define QM35_MODEL_H

#include "chip_model.h"

enum {
  QM35_WAITING = 0x80,
  QM35_ACTIVE = 0x40,
  QM35_READY = 0x20,
  QM35_ERROR = 0x10,
};

struct qm35_model {
  struct chip_model base;
  // The number of packets of the queue that the last pre-read announced.
  unsigned announced;
  bool is_asleep;
  bool was_reset;
  uint64_t wake_since;
  // The time before which no transfer is allowed, and the reason.
  uint64_t not_before;
  const char *not_before_what;
  uint64_t ended_at;
  // The time at which SS_RDY rises after a reset.
  uint64_t ready_at;

  // The number of packets in one read.
  unsigned packets_in_block;
  // The times after a selection until SS_RDY and SS_IRQ fall, and for which the chip is then busy.
  uint64_t notice_ns, busy_ns;
  // The flags of a header while it is absent; FF: all bits of the transfer are set.
  uint8_t absent_flags;
};

void qm35_init(struct qm35_model *chip, struct chip_board *board);

// Sets the lines to their levels of sleep.
void qm35_fall_asleep(struct qm35_model *chip);

#endif
