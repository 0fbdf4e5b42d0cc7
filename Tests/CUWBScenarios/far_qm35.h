// SPDX-License-Identifier: Apache-2.0
//
// A Qorvo QM35 as seen from its pins, from the constants and comments of its GPL driver: the header
// that it shifts out, and what SS_RDY, SS_IRQ and EXTON do.
#ifndef CUWB_FAR_QM35_H
#define CUWB_FAR_QM35_H

#include "bench.h"

#define QM35_BLOCKS 64

enum {
  QM35_ODW = 0x80,
  QM35_OA = 0x40,
  QM35_RDY = 0x20,
  QM35_ERR = 0x10,
};

struct far_qm35 {
  struct bench *bench;
  // To the host, each with its upper layer.
  uint8_t blocks[QM35_BLOCKS][2048];
  uint32_t lengths[QM35_BLOCKS];
  uint8_t layers[QM35_BLOCKS];
  unsigned first, count;
  // Announced by the last pre-read.
  bool announced;
  // From the host.
  uint8_t commands[QM35_BLOCKS][2048];
  uint32_t command_lengths[QM35_BLOCKS];
  unsigned command_count;

  // How long it is busy behind a selection, and until it begins to be: SS_RDY is high up to there.
  uint64_t busy_ns, notice_ns;
  // So many selections are answered with these flags, and come to nothing.
  unsigned refused;
  uint8_t refusal;
  // So many reads carry another length than the pre-read.
  unsigned lies;
  // So many pre-reads come too early.
  unsigned late;
  bool asleep;
  bool dead;
  unsigned resets;

  // What the host did that it must not do.
  unsigned hasty;          // selected while SS_RDY was low, or about to fall
  unsigned wrong_headers;
};

void far_qm35_reset(struct far_qm35 *chip, struct bench *bench);

void far_qm35_say(struct far_qm35 *chip, uint8_t layer, const uint8_t *bytes, uint32_t length,
                  uint64_t in_ns);

extern const struct chip_ops far_qm35_ops;

#endif
