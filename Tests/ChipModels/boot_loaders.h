// SPDX-License-Identifier: Apache-2.0
//
// The boot loaders of NXP's chips, not made with the loader of this package.
#ifndef BOOT_LOADERS_H
#define BOOT_LOADERS_H

#include "chip_model.h"

// The loader of an SR1xx (HBCI), after AOSP's hardware/nxp/uwb.
struct hbci_rom {
  // The next answer; a length of 0 stands for no answer.
  uint8_t answer[64];
  uint32_t answer_length;
  // The answer after its announcement has been acknowledged.
  uint8_t data[64];
  uint32_t data_length;
  uint8_t segment[4];
  bool has_segment;
  bool is_in_image_mode;
  // The image was accepted: the firmware starts when the last answer has been read.
  bool is_done;
};

void hbci_take(struct hbci_rom *rom, chip_model *model, const uint8_t *bytes, uint32_t length);

// The loader of an SR2xx (HDLL), after nxp-uwb/sr250-uwbiot-zephyr. Its answers go into the queue.
struct hdll_rom {
  unsigned frames;
};

extern const uint8_t hdll_ready[8];

void hdll_take(struct hdll_rom *rom, chip_model *model, const uint8_t *frame, uint32_t length);

#endif
