// SPDX-License-Identifier: Apache-2.0
//
// Qorvo QM35 on SPI (HSSPI), from the constants and comments of Qorvo's GPL driver (hsspi.c,
// qm35.h) and its newer relatives.
//
// In each selection both sides send a header of four bytes (flags, layer, little-endian length),
// then the payload goes one way. SS_RDY is high while the chip can take part; a pre-read asks what
// there is, a read repeats what was announced and takes it.
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
  // How many packets of the queue the last pre-read has announced.
  unsigned announced;
  bool is_asleep;
  bool was_reset;
  uint64_t wake_since;
  // No transfer before this time, and after what.
  uint64_t not_before;
  const char *not_before_what;
  uint64_t ended_at;
  // When SS_RDY rises after a reset.
  uint64_t ready_at;

  // How many packets it puts into one read.
  unsigned packets_in_block;
  // How long after a selection SS_RDY and SS_IRQ fall, and how long it is busy then.
  uint64_t notice_ns, busy_ns;
  // The flags of a header while it is absent; FF: all bits of the transfer are set.
  uint8_t absent_flags;
};

void qm35_init(struct qm35_model *chip, struct chip_board *board);

// Sets the lines as they are while it sleeps.
void qm35_fall_asleep(struct qm35_model *chip);

#endif
