// SPDX-License-Identifier: Apache-2.0
#include "far_qm35.h"

enum {
  WR = 0x80,
  PRD = 0x40,
  RD = 0x20,
};

void far_qm35_reset(struct far_qm35 *chip, struct bench *bench) {
  memset(chip, 0, sizeof(*chip));
  chip->bench = bench;
  chip->busy_ns = 60 * US;
  chip->notice_ns = 5 * US;
  bench_reset(bench, &far_qm35_ops, chip);
  bench->levels[CUWB_LINE_READY] = true;
  bench->levels[CUWB_LINE_AWAKE] = true;
}

void far_qm35_say(struct far_qm35 *chip, uint8_t layer, const uint8_t *bytes, uint32_t length,
                  uint64_t in_ns) {
  unsigned place = (chip->first + chip->count++) % QM35_BLOCKS;
  memcpy(chip->blocks[place], bytes, length);
  chip->lengths[place] = length;
  chip->layers[place] = layer;
  if (chip->count == 1) bench_plan(chip->bench, in_ns, CUWB_LINE_IRQ, true);
}

static void become_busy(struct far_qm35 *chip) {
  bench_plan(chip->bench, chip->notice_ns, CUWB_LINE_READY, false);
  bench_plan(chip->bench, chip->notice_ns + chip->busy_ns, CUWB_LINE_READY, true);
}

static bool is_about_to_fall(const struct far_qm35 *chip) {
  for (unsigned i = 0; i < chip->bench->planned; i++) {
    if (chip->bench->plans[i].line == CUWB_LINE_READY && !chip->bench->plans[i].high) return true;
  }
  return false;
}

static void wake_up(struct far_qm35 *chip) {
  if (!chip->asleep) return;
  chip->asleep = false;
  bench_plan(chip->bench, 1 * MS, CUWB_LINE_AWAKE, true);
  bench_plan(chip->bench, 2 * MS, CUWB_LINE_READY, true);
}

static void driven(struct bench *bench, cuwb_line line, bool high) {
  struct far_qm35 *chip = bench->chip;
  if (line == CUWB_LINE_WAKE && high) wake_up(chip);
  if (line == CUWB_LINE_POWER && high) {
    chip->resets++;
    chip->announced = false;
    bench_forget_plans(bench, CUWB_LINE_READY);
    bench_plan(bench, 400 * MS, CUWB_LINE_READY, true);
  }
}

static void take_command(struct far_qm35 *chip, const uint8_t *out, uint32_t length) {
  uint32_t announced = out[2] | (uint32_t)out[3] << 8;
  chip->wrong_headers += out[1] != 2 || announced != length - 4;
  unsigned place = chip->command_count++ % QM35_BLOCKS;
  memcpy(chip->commands[place], out + 4, length - 4);
  chip->command_lengths[place] = length - 4;
}

// The block that was announced, or its header alone if the host wants no more.
static void give(struct far_qm35 *chip, const uint8_t *out, uint8_t *in, uint32_t length) {
  uint32_t size = chip->lengths[chip->first];
  uint32_t asked = out[2] | (uint32_t)out[3] << 8;
  chip->wrong_headers += !chip->announced || out[1] != chip->layers[chip->first] || asked != size ||
                         (length != 4 && length != 4 + size);
  if (chip->lies > 0) {
    chip->lies--;
    size++;
  } else {
    memcpy(in + 4, chip->blocks[chip->first], length - 4 < size ? length - 4 : size);
    chip->first = (chip->first + 1) % QM35_BLOCKS;
    chip->count--;
  }
  in[0] = QM35_RDY | QM35_OA | (chip->count > 0 ? QM35_ODW : 0);
  in[1] = out[1];
  in[2] = (uint8_t)size;
  in[3] = (uint8_t)(size >> 8);
  chip->announced = false;
  if (chip->count == 0) bench_plan(chip->bench, chip->notice_ns, CUWB_LINE_IRQ, false);
}

static void announce(struct far_qm35 *chip, uint8_t *in) {
  if (chip->late > 0) {
    chip->late--;
    return;
  }
  if (chip->count == 0) return;
  in[0] |= QM35_ODW;
  in[1] = chip->layers[chip->first];
  in[2] = (uint8_t)chip->lengths[chip->first];
  in[3] = (uint8_t)(chip->lengths[chip->first] >> 8);
  chip->announced = true;
}

static void selected(struct bench *bench, const uint8_t *out, uint8_t *in, uint32_t length,
                     const struct entry *entry) {
  struct far_qm35 *chip = bench->chip;
  if (length == 0) {
    if (entry->end_ns - entry->begin_ns >= 500 * US) wake_up(chip);
    return;
  }
  if (chip->asleep || chip->dead) {
    memset(in, chip->dead ? 0x00 : 0xFF, length);
    return;
  }
  chip->hasty += !entry->levels[CUWB_LINE_READY] || is_about_to_fall(chip);
  become_busy(chip);
  if (chip->refused > 0) {
    chip->refused--;
    in[0] = chip->refusal;
    return;
  }
  in[0] = QM35_RDY;
  chip->wrong_headers += length < 4 || (out[0] & 0x1F) || (out[0] & RD && out[0] & (WR | PRD));
  if (out[0] & WR) take_command(chip, out, length);
  if (out[0] & PRD) {
    announce(chip, in);
  } else if (out[0] & RD) {
    give(chip, out, in, length);
  }
}

const struct chip_ops far_qm35_ops = {.selected = selected, .driven = driven};
