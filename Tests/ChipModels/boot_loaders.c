// SPDX-License-Identifier: Apache-2.0
#include "boot_loaders.h"

// -------------------------------------------------------------------------------------- HBCI

static uint8_t sum_of(const uint8_t *bytes, uint32_t length) {
  uint8_t sum = 0;
  for (uint32_t i = 0; i < length; i++) sum = (uint8_t)(sum + bytes[i]);
  return sum;
}

static void answer(struct hbci_rom *rom, uint8_t class, uint8_t instruction, uint8_t length) {
  const uint8_t header[4] = {class, instruction, length, 0};
  memcpy(rom->answer, header, sizeof(header));
  rom->answer_length = sizeof(header);
}

static void acknowledge(struct hbci_rom *rom, bool is_right) {
  answer(rom, 0x04, is_right ? 0x01 : 0x81, 0);
}

// Announces `count` bytes and a check byte, with the value that the host expects.
static void announce(struct hbci_rom *rom, chip_model *model, uint8_t instruction, uint8_t count,
                     uint8_t position, uint8_t value) {
  answer(rom, 0x02, instruction, (uint8_t)(count + 1));
  for (unsigned i = 0; i < count; i++) rom->data[i] = (uint8_t)(i * 3);
  rom->data[position] = value;
  rom->data[count] = (uint8_t)-(sum_of(rom->answer, 4) + sum_of(rom->data, count));
  if (chip_strikes(model, CHIP_FLIPPED_ANSWER)) rom->data[1] ^= 0x10;
  rom->data_length = count + 1u;
}

static void take_segment(struct hbci_rom *rom, chip_model *model, const uint8_t *bytes,
                         uint32_t length) {
  uint32_t announced = rom->segment[2] | (uint32_t)rom->segment[3] << 8;
  rom->has_segment = false;
  if (length != (announced == 0x8000 ? 2049 : announced)) {
    chip_violated(model, "a segment of %u bytes announced as %u", length, announced);
  }
  uint8_t sum = (uint8_t)(sum_of(rom->segment, 4) + sum_of(bytes, length));
  if (chip_strikes(model, CHIP_FLIPPED_BIT)) {
    uint8_t damaged = bytes[length / 2];
    sum = (uint8_t)(sum - damaged + (damaged ^ 0x10));
    model->counts[CHIP_SEGMENTS_DAMAGED]++;
  }
  model->counts[CHIP_SEGMENTS] += sum == 0;
  acknowledge(rom, sum == 0);
}

void hbci_take(struct hbci_rom *rom, chip_model *model, const uint8_t *bytes, uint32_t length) {
  model->counts[CHIP_WRITES]++;
  if (rom->has_segment) {
    take_segment(rom, model, bytes, length);
    return;
  }
  uint32_t command = length == 4 ? (uint32_t)bytes[0] << 8 | bytes[1] : 0;
  if (command != 0x5301 && length == 4 && (bytes[2] || bytes[3])) command = 0;
  switch (command) {
  case 0x0136: announce(rom, model, 0x36, 44, 39, 0x0F); break;
  case 0x0131: announce(rom, model, 0x31, 16, 8, 0xB1); break;
  case 0x0401:
    memcpy(rom->answer, rom->data, rom->data_length);
    rom->answer_length = rom->data_length;
    rom->data_length = 0;
    break;
  case 0x0121: answer(rom, 0x02, rom->is_in_image_mode ? 0x24 : 0x21, 0); break;
  case 0x0324:
    rom->is_in_image_mode = true;
    acknowledge(rom, true);
    break;
  case 0x5101:
    rom->is_done = true;
    answer(rom, 0x52, 0x01, 0);
    break;
  case 0x5301:
    if (rom->is_in_image_mode) {
      memcpy(rom->segment, bytes, 4);
      rom->has_segment = true;
      acknowledge(rom, true);
      break;
    }
    // fall through
  default:
    chip_violated(model, "the boot loader does not understand %02x %02x", bytes[0], bytes[1]);
  }
}

// -------------------------------------------------------------------------------------- HDLL

const uint8_t hdll_ready[8] = {0x00, 0x04, 0x81, 0x01, 0x02, 0x00, 0x7D, 0xC8};
static const uint8_t editor_ready[8] = {0x00, 0x04, 0x81, 0x03, 0x02, 0x00, 0x13, 0xA8};

// CRC-16/CCITT-FALSE.
static uint16_t crc_of(const uint8_t *bytes, size_t length) {
  uint16_t crc = 0xFFFF;
  for (size_t i = 0; i < length; i++) {
    for (int bit = 7; bit >= 0; bit--) {
      bool top = crc >> 15 != (bytes[i] >> bit & 1);
      crc = (uint16_t)(crc << 1 ^ (top ? 0x1021 : 0));
    }
  }
  return crc;
}

size_t chip_hdll_frame(const uint8_t *payload, size_t length, uint8_t *frame) {
  frame[0] = (uint8_t)(length >> 8);
  frame[1] = (uint8_t)length;
  memcpy(frame + 2, payload, length);
  uint16_t crc = crc_of(frame, length + 2);
  frame[length + 2] = (uint8_t)(crc >> 8);
  frame[length + 3] = (uint8_t)crc;
  return length + 4;
}

void hdll_take(struct hdll_rom *rom, chip_model *model, const uint8_t *frame, uint32_t length) {
  model->counts[CHIP_WRITES]++;
  if (length <= 5 || length != 4u + ((frame[0] & 0x1Fu) << 8 | frame[1])) {
    chip_violated(model, "a frame of %u bytes", length);
    return;
  }
  bool is_intact = crc_of(frame, length) == 0;
  if (length > 12 && chip_strikes(model, CHIP_FLIPPED_BIT)) is_intact = false;
  model->counts[is_intact ? CHIP_FRAMES : CHIP_FRAMES_DAMAGED]++;
  // The second frame starts the editor of the flash.
  if (++rom->frames == 2) chip_push(&model->queue, editor_ready, sizeof(editor_ready), 0);
  const uint8_t status[4] = {0x43, frame[3], is_intact ? 0x00 : 0x83, 0x00};
  uint8_t whole[8];
  chip_push(&model->queue, whole, chip_hdll_frame(status, sizeof(status), whole), 0);
}
