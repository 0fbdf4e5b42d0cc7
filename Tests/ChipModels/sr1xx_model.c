// SPDX-License-Identifier: Apache-2.0
#include "sr1xx_model.h"

// The pause between header and payload. Source: the predecessor of NXP's driver waits 30 us, the
// shortest of all.
#define LEAST_PAUSE_NS (30 * US)
// The times of CE low, and from CE high until the chip is on. Source: Google's driver, 80 us and
// 950 us.
#define LEAST_OFF_NS (80 * US)
#define LEAST_ON_NS (950 * US)
// A packet that is held back until the next write is offered after this time anyway, because the
// host may be waiting for it.
#define HELD_BACK_NS (5 * MS)

static struct sr1xx_model *of(chip_model *model) { return (struct sr1xx_model *)model; }

static void offer_now(struct sr1xx_model *chip, uint64_t in_ns) {
  struct chip_board *board = chip->base.board;
  bool missed = chip_strikes(&chip->base, CHIP_MISSED_EDGE);
  chip->state = SR1XX_OFFERED;
  chip_board_plan_edge(board, in_ns, CUWB_LINE_IRQ, true,
                       missed ? CHIP_EDGE_LOST : CHIP_EDGE_SEEN);
  // As a waveform of Google's driver shows, IRQ may pulse twice before RI takes effect.
  if (chip_strikes(&chip->base, CHIP_DOUBLE_PULSE)) {
    chip_board_plan(board, in_ns, CUWB_LINE_IRQ, false);
    chip_board_plan(board, in_ns, CUWB_LINE_IRQ, true);
  }
}

static void offer(chip_model *model, uint64_t in_ns) {
  struct sr1xx_model *chip = of(model);
  if (chip->is_loading || chip->state != SR1XX_QUIET || chip->payload_due > 0) return;
  if (model->queue.count == 0) return;
  if (chip->is_held_back) {
    if (model->board->now < model->retry_at) return;
    chip->is_held_back = false;
    model->retry_at = UINT64_MAX;
  } else if (chip_strikes(model, CHIP_MID_WRITE)) {
    chip->is_held_back = true;
    model->retry_at = model->board->now + HELD_BACK_NS;
    return;
  }
  offer_now(chip, in_ns);
}

// ------------------------------------------------------------------------------------------ lines

static void power(struct sr1xx_model *chip, bool high) {
  chip->state = SR1XX_QUIET;
  chip->payload_due = 0;
  chip->is_held_back = false;
  chip->is_loading = high && chip->base.starts_in_loader;
  chip->rom = (struct hbci_rom){0};
  chip->on_since = chip->base.driven_at;
  chip_switch(&chip->base, high, !chip->is_loading, LEAST_OFF_NS);
}

static void load_packet(struct sr1xx_model *chip) {
  struct chip_board *board = chip->base.board;
  if (chip_strikes(&chip->base, CHIP_DEAF_TO_RI)) return;
  chip->state = SR1XX_LOADING;
  uint64_t loaded_at = chip->base.driven_at + chip->see_ns + chip->load_ns;
  chip->loaded_at = chip->never_loads ? UINT64_MAX : loaded_at;
  chip_board_plan(board, chip->see_ns, CUWB_LINE_IRQ, false);
  if (chip->never_loads) return;
  chip_board_plan(board, chip->see_ns + chip->load_ns, CUWB_LINE_IRQ, true);
}

static void driven(chip_model *model, cuwb_line line, bool high) {
  struct sr1xx_model *chip = of(model);
  struct chip_board *board = model->board;
  if (line == CUWB_LINE_POWER) {
    power(chip, high);
    return;
  }
  if (line != CUWB_LINE_READ) {
    chip_violated(model, "a line that an SR1xx does not have was driven");
    return;
  }
  if (model->is_hung) return;
  bool irq = board->levels[CUWB_LINE_IRQ];
  if (high && irq && chip->state == SR1XX_OFFERED) {
    load_packet(chip);
  } else if (high && !irq && chip->state == SR1XX_QUIET) {
    chip_violated(model, "RI was raised while IRQ was low");
  } else if (!high && chip->state == SR1XX_TAKEN) {
    if (irq && !chip->keeps_irq) chip_violated(model, "RI was lowered before IRQ");
    chip->state = SR1XX_QUIET;
    chip_board_forget_plans(board, CUWB_LINE_IRQ);
    if (!chip->keeps_irq) chip_board_set(board, CUWB_LINE_IRQ, false, CHIP_EDGE_SEEN);
    offer(model, chip->next_ns);
  } else if (!high && (chip->state == SR1XX_LOADING || chip->state == SR1XX_HALF)) {
    // The host has given up; the packet stays in the queue, and is offered again.
    chip_board_forget_plans(board, CUWB_LINE_IRQ);
    chip->state = SR1XX_OFFERED;
    chip_board_plan(board, chip->see_ns, CUWB_LINE_IRQ, true);
  }
}

// -------------------------------------------------------------------------------------- transfers

static void taken(struct sr1xx_model *chip) {
  chip_pop(&chip->base.queue);
  chip->state = SR1XX_TAKEN;
  chip->base.counts[CHIP_READS]++;
  if (!chip->keeps_irq) {
    chip_board_plan(chip->base.board, chip->done_ns, CUWB_LINE_IRQ, false);
  }
}

// With RI high a selection is a read.
static void read_by(struct sr1xx_model *chip, const chip_selection *selection, uint8_t *in) {
  const struct chip_packet *packet = chip_first(&chip->base.queue);
  uint32_t count = selection->length;
  if (chip->state == SR1XX_LOADING && selection->begin_ns >= chip->loaded_at) {
    if (count != 4) chip_violated(&chip->base, "the header was read in %u bytes", count);
    memcpy(in, packet->bytes, count < 4 ? count : 4);
    chip->state = SR1XX_HALF;
    if (packet->length == 4) taken(chip);
    if (chip->pulses_late) {
      chip_board_set(chip->base.board, CUWB_LINE_IRQ, false, CHIP_EDGE_SEEN);
      chip_board_plan(chip->base.board, 100, CUWB_LINE_IRQ, true);
    }
  } else if (chip->state == SR1XX_HALF) {
    uint32_t payload = packet->length - 4;
    if (count != payload) {
      chip_violated(&chip->base, "%u bytes were read of a payload of %u", count, payload);
    }
    memcpy(in, packet->bytes + 4, count < payload ? count : payload);
    taken(chip);
  } else if (chip->state == SR1XX_TAKEN) {
    chip_violated(&chip->base, "it was selected again before RI fell");
  } else {
    // A host that has not waited reads zeros, as Google's driver notes.
    chip->base.counts[CHIP_EARLY]++;
  }
}

static void finish_write(struct sr1xx_model *chip, const uint8_t *bytes, uint32_t length) {
  chip->payload_due = 0;
  chip_take(&chip->base, bytes, length);
  if (!chip->base.is_hung) offer(&chip->base, chip->next_ns);
}

static void take_payload(struct sr1xx_model *chip, const chip_selection *selection,
                         const uint8_t *out) {
  uint8_t whole[4300];
  uint64_t pause = selection->begin_ns - chip->header_end;
  if (selection->begin_ns < chip->header_end) pause = 0;
  chip_note_pause(&chip->base, pause);
  if (pause < LEAST_PAUSE_NS) {
    chip_violated(&chip->base, "%llu ns between header and payload", (unsigned long long)pause);
  }
  uint32_t length = selection->length;
  if (length != chip->payload_due) {
    chip_violated(&chip->base, "%u bytes of a payload of %u", length, chip->payload_due);
  }
  if (length > sizeof(whole) - 4) length = sizeof(whole) - 4;
  memcpy(whole, chip->header, 4);
  memcpy(whole + 4, out, length);
  finish_write(chip, whole, 4 + length);
}

static void take_header(struct sr1xx_model *chip, const chip_selection *selection,
                        const uint8_t *out) {
  if (selection->length != 4) {
    chip_violated(&chip->base, "a header of %u bytes", selection->length);
    return;
  }
  if (selection->irq_was_high && chip->state == SR1XX_OFFERED) {
    chip->base.counts[CHIP_COLLISIONS]++;
    // IRQ may fall when the host writes, and rises again.
    chip_board_set(chip->base.board, CUWB_LINE_IRQ, false, CHIP_EDGE_SEEN);
    chip->state = SR1XX_QUIET;
  }
  memcpy(chip->header, out, 4);
  chip->header_end = selection->end_ns;
  if (chip->is_held_back) {
    chip->is_held_back = false;
    chip->base.retry_at = UINT64_MAX;
    chip->base.counts[CHIP_OFFERED_IN_WRITE]++;
    offer_now(chip, chip->next_ns);
  }
  chip->payload_due = chip_payload_length(out);
  if (chip->payload_due == 0) finish_write(chip, out, 4);
}

// In the boot loader, IRQ alone indicates an answer.
static void load(struct sr1xx_model *chip, const chip_selection *selection, const uint8_t *out,
                 uint8_t *in) {
  struct hbci_rom *rom = &chip->rom;
  uint32_t length = selection->length;
  if (rom->answer_length == 0) {
    hbci_take(rom, &chip->base, out, length);
    if (rom->answer_length > 0) {
      chip_board_plan(chip->base.board, chip->answer_ns, CUWB_LINE_IRQ, true);
    }
    return;
  }
  chip->base.counts[CHIP_EARLY] += !selection->irq_was_high;
  if (length != rom->answer_length) {
    chip_violated(&chip->base, "%u bytes were read of an answer of %u", length,
                  rom->answer_length);
  }
  memcpy(in, rom->answer, length < rom->answer_length ? length : rom->answer_length);
  rom->answer_length = 0;
  chip_board_plan(chip->base.board, chip->done_ns, CUWB_LINE_IRQ, false);
  if (!rom->is_done) return;
  chip->is_loading = false;
  chip_boot(&chip->base);
}

static void selected(chip_model *model, const chip_selection *selection, const uint8_t *out,
                     uint8_t *in) {
  struct sr1xx_model *chip = of(model);
  model->speed_hz = selection->speed_hz;
  if (selection->mode & 0x3) chip_violated(model, "SPI mode %u, not 0", selection->mode & 0x3);
  if (!model->is_on) {
    chip_violated(model, "it was selected while CE is low");
    return;
  }
  if (model->is_hung) return;
  if (selection->begin_ns < chip->on_since + LEAST_ON_NS) {
    chip_violated(model, "it was selected before it is on");
  }
  if (chip->is_loading) {
    load(chip, selection, out, in);
  } else if (model->board->levels[CUWB_LINE_READ]) {
    read_by(chip, selection, in);
  } else if (chip->payload_due > 0) {
    take_payload(chip, selection, out);
  } else {
    take_header(chip, selection, out);
  }
}

static const struct chip_ops ops = {.selected = selected, .driven = driven, .offer = offer};

void sr1xx_init(struct sr1xx_model *chip, struct chip_board *board) {
  chip_model_init(&chip->base, sizeof(*chip), &ops, board);
  chip->see_ns = 15 * US;
  chip->load_ns = 120 * US;
  chip->done_ns = 40 * US;
  chip->next_ns = 28 * US;
  chip->answer_ns = 3 * MS;
}
