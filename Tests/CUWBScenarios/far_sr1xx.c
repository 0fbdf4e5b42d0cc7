// SPDX-License-Identifier: Apache-2.0
#include "far_sr1xx.h"

// The chip needs it between the header and the payload of a command: the least that a driver waits.
#define PAYLOAD_PAUSE_NS (30 * US)

void far_sr1xx_reset(struct far_sr1xx *chip, struct bench *bench) {
  memset(chip, 0, sizeof(*chip));
  chip->bench = bench;
  chip->see_ns = 15 * US;
  chip->load_ns = 120 * US;
  chip->done_ns = 40 * US;
  chip->next_ns = 28 * US;
  bench_reset(bench, &far_sr1xx_ops, chip);
}

static void offer(struct far_sr1xx *chip, uint64_t in_ns) {
  if (chip->count == 0 || chip->state != SR1XX_QUIET) return;
  chip->state = SR1XX_OFFERED;
  bench_plan(chip->bench, in_ns, CUWB_LINE_IRQ, true);
}

void far_sr1xx_say(struct far_sr1xx *chip, const uint8_t *bytes, uint32_t length,
                   uint64_t in_ns) {
  unsigned place = (chip->first + chip->count++) % SR1XX_PACKETS;
  memcpy(chip->packets[place], bytes, length);
  chip->lengths[place] = length;
  offer(chip, in_ns);
}

static void driven(struct bench *bench, cuwb_line line, bool high) {
  struct far_sr1xx *chip = bench->chip;
  if (line != CUWB_LINE_READ) return;
  if (high && chip->state == SR1XX_OFFERED && bench->levels[CUWB_LINE_IRQ]) {
    if (chip->ignores > 0) {
      chip->ignores--;
      return;
    }
    chip->state = SR1XX_LOADING;
    bench_plan(bench, chip->see_ns, CUWB_LINE_IRQ, false);
    if (chip->never_loads) return;
    bench_plan(bench, chip->see_ns + chip->load_ns, CUWB_LINE_IRQ, true);
    return;
  }
  if (high) return;
  if (chip->state == SR1XX_TAKEN) {
    chip->hasty_ends += bench->levels[CUWB_LINE_IRQ] && !chip->keeps_irq;
    chip->first = (chip->first + 1) % SR1XX_PACKETS;
    chip->count--;
    chip->state = SR1XX_QUIET;
    bench_forget_plans(bench, CUWB_LINE_IRQ);
    if (!chip->keeps_irq) bench_plan(bench, 0, CUWB_LINE_IRQ, false);
    offer(chip, chip->next_ns);
  } else if (chip->state != SR1XX_QUIET && chip->state != SR1XX_OFFERED) {
    // The host has given up; the packet stays and is offered again.
    bench_forget_plans(bench, CUWB_LINE_IRQ);
    chip->state = SR1XX_OFFERED;
    bench_plan(bench, chip->see_ns, CUWB_LINE_IRQ, true);
  }
}

static bool is_loaded(const struct far_sr1xx *chip, uint64_t now) {
  if (chip->state != SR1XX_LOADING) return false;
  // The planned rise has come to pass.
  for (unsigned i = 0; i < chip->bench->planned; i++) {
    const struct plan *plan = &chip->bench->plans[i];
    if (plan->line == CUWB_LINE_IRQ && plan->high && plan->at_ns > now) return false;
  }
  return !chip->never_loads;
}

static void read_by(struct far_sr1xx *chip, uint8_t *in, uint32_t length,
                    const struct entry *entry) {
  const uint8_t *packet = chip->packets[chip->first];
  uint32_t payload = chip->lengths[chip->first] - 4;
  if (is_loaded(chip, entry->begin_ns)) chip->state = SR1XX_LOADED;
  if (chip->state == SR1XX_LOADED) {
    chip->wrong_lengths += length != 4;
    memcpy(in, packet, length < 4 ? length : 4);
    chip->state = payload > 0 ? SR1XX_HALF : SR1XX_TAKEN;
    if (chip->pulses_late) {
      bench_plan(chip->bench, 0, CUWB_LINE_IRQ, false);
      bench_plan(chip->bench, 100, CUWB_LINE_IRQ, true);
    }
  } else if (chip->state == SR1XX_HALF) {
    chip->wrong_lengths += length != payload;
    memcpy(in, packet + 4, length < payload ? length : payload);
    chip->state = SR1XX_TAKEN;
  } else {
    // MISO stays low.
    chip->early_reads++;
    return;
  }
  if (chip->state == SR1XX_TAKEN && !chip->keeps_irq) {
    bench_plan(chip->bench, chip->done_ns, CUWB_LINE_IRQ, false);
  }
}

static void written_by(struct far_sr1xx *chip, const uint8_t *out, uint32_t length,
                       const struct entry *entry) {
  uint8_t *command = chip->commands[chip->command_count % SR1XX_PACKETS];
  if (chip->payload_due > 0) {
    chip->hasty_payloads += entry->begin_ns < chip->header_end_ns + PAYLOAD_PAUSE_NS;
    chip->wrong_lengths += length != chip->payload_due;
    memcpy(command + 4, out, length < 596 ? length : 596);
    chip->command_lengths[chip->command_count++ % SR1XX_PACKETS] = 4 + length;
    chip->payload_due = 0;
    return;
  }
  chip->collisions += entry->levels[CUWB_LINE_IRQ];
  chip->wrong_lengths += length != 4;
  memcpy(command, out, 4);
  bool wide = out[0] >> 5 == 0 || out[1] & 0x80;
  chip->payload_due = wide ? out[2] | (uint32_t)out[3] << 8 : out[3];
  chip->header_end_ns = entry->end_ns;
  if (chip->payload_due == 0) chip->command_lengths[chip->command_count++ % SR1XX_PACKETS] = 4;
  if (chip->half_written) chip->half_written(chip);
}

static void selected(struct bench *bench, const uint8_t *out, uint8_t *in, uint32_t length,
                     const struct entry *entry) {
  struct far_sr1xx *chip = bench->chip;
  if (entry->heard > 0) {
    read_by(chip, in, length, entry);
  } else {
    written_by(chip, out, length, entry);
  }
}

const struct chip_ops far_sr1xx_ops = {.selected = selected, .driven = driven};
