// SPDX-License-Identifier: Apache-2.0
#include "qm35_model.h"

enum {
  HOST_WRITE = 0x80,
  HOST_PREREAD = 0x40,
  HOST_READ = 0x20,
};
#define LAYER_UCI 2

// The times of RESET low, and from there to the first transfer. Source: qm35.h.
#define LEAST_RESET_NS (2 * MS)
#define LEAST_BOOT_NS (450 * MS)
// The times of WAKEUP high, or of a selection that wakes, and from there to the first transfer.
// Source: newer drivers.
#define LEAST_WAKE_NS (500 * US)
#define LEAST_AWAKE_NS (3 * MS)
// The shortest time between selection and the first clock. Source: hsspi.c.
#define LEAST_SETUP_US 5
// Qorvo's firmware updater clocks at the same rate.
#define FASTEST_HZ 20000000
#define LONGEST_BLOCK 2048

// The times from RESET, and from waking, to SS_RDY.
#define BOOTING_NS (400 * MS)
#define WAKING_NS (1 * MS)

static struct qm35_model *of(chip_model *model) { return (struct qm35_model *)model; }

static void put_header(uint8_t *in, uint8_t flags, uint8_t layer, uint32_t length) {
  in[0] = flags;
  in[1] = layer;
  in[2] = (uint8_t)length;
  in[3] = (uint8_t)(length >> 8);
}

// ------------------------------------------------------------------------------------------ lines

static bool is_planned(const struct chip_board *board, cuwb_line line, bool high) {
  for (unsigned i = 0; i < board->planned; i++) {
    if (board->plans[i].line == line && board->plans[i].high == high) return true;
  }
  return false;
}

static void wake_up(struct qm35_model *chip) {
  if (!chip->is_asleep) return;
  chip->is_asleep = false;
  chip_board_set(chip->base.board, CUWB_LINE_AWAKE, true, CHIP_EDGE_SEEN);
  chip_board_plan(chip->base.board, WAKING_NS, CUWB_LINE_READY, true);
}

void qm35_fall_asleep(struct qm35_model *chip) {
  chip->is_asleep = true;
  chip->base.counts[CHIP_TIMES_ASLEEP]++;
  chip_board_set(chip->base.board, CUWB_LINE_READY, false, CHIP_EDGE_SEEN);
  chip_board_set(chip->base.board, CUWB_LINE_AWAKE, false, CHIP_EDGE_SEEN);
}

static void offer(chip_model *model, uint64_t in_ns) {
  struct qm35_model *chip = of(model);
  struct chip_board *board = model->board;
  bool falls = is_planned(board, CUWB_LINE_IRQ, false);
  if (model->queue.count == 0 || is_planned(board, CUWB_LINE_IRQ, true)) return;
  if (board->levels[CUWB_LINE_IRQ] && !falls) return;
  if (board->now + in_ns < chip->ready_at) in_ns = chip->ready_at - board->now;
  if (falls && in_ns <= chip->notice_ns) in_ns = chip->notice_ns + 1;
  wake_up(chip);
  bool missed = chip_strikes(model, CHIP_MISSED_EDGE);
  chip_board_plan_edge(board, in_ns, CUWB_LINE_IRQ, true,
                       missed ? CHIP_EDGE_LOST : CHIP_EDGE_SEEN);
}

static void driven(chip_model *model, cuwb_line line, bool high) {
  struct qm35_model *chip = of(model);
  uint64_t now = model->driven_at;
  if (line == CUWB_LINE_POWER) {
    chip->announced = 0;
    chip->is_asleep = false;
    chip->ended_at = 0;
    chip->ready_at = now + BOOTING_NS;
    chip->was_reset |= !high;
    chip_switch(model, high, true, LEAST_RESET_NS);
    if (!high) return;
    chip_board_set(model->board, CUWB_LINE_AWAKE, true, CHIP_EDGE_SEEN);
    chip_board_plan(model->board, BOOTING_NS, CUWB_LINE_READY, true);
    if (!chip->was_reset) return;
    chip->not_before = now + LEAST_BOOT_NS;
    chip->not_before_what = "RESET";
  } else if (line != CUWB_LINE_WAKE) {
    chip_violated(model, "a line that a QM35 does not have was driven");
  } else if (high) {
    chip->wake_since = now;
  } else if (chip->wake_since > 0) {
    model->counts[CHIP_WAKES]++;
    if (now < chip->wake_since + LEAST_WAKE_NS) {
      chip_violated(model, "WAKEUP was high for %llu ns",
                    (unsigned long long)(now - chip->wake_since));
    }
    chip->wake_since = 0;
    chip->not_before = now + LEAST_AWAKE_NS;
    chip->not_before_what = "WAKEUP";
    wake_up(chip);
  }
}

// -------------------------------------------------------------------------------------- transfers

static void woken_by_selection(struct qm35_model *chip, const chip_selection *selection) {
  chip->base.counts[CHIP_WAKES_BY_SELECTION]++;
  if (selection->hold_us * US < LEAST_WAKE_NS) {
    chip_violated(&chip->base, "selected for %u us to wake it", selection->hold_us);
  }
  chip->not_before = selection->begin_ns + selection->hold_us * US + LEAST_AWAKE_NS;
  chip->not_before_what = "waking";
  wake_up(chip);
}


static void check(struct qm35_model *chip, const chip_selection *selection) {
  chip_model *model = &chip->base;
  const struct chip_board *board = model->board;
  uint64_t begin = selection->begin_ns;
  if (selection->mode & 0x3) chip_violated(model, "SPI mode %u, not 0", selection->mode & 0x3);
  if (selection->speed_hz > FASTEST_HZ) chip_violated(model, "%u Hz", selection->speed_hz);
  if (selection->hold_us < LEAST_SETUP_US) {
    chip_violated(model, "%u us before the first clock", selection->hold_us);
  }
  if (chip->is_asleep) chip_violated(model, "selected while it is asleep");
  if (!board->levels[CUWB_LINE_READY] || is_planned(board, CUWB_LINE_READY, false)) {
    chip_violated(model, "selected while SS_RDY is low, or about to fall");
  }
  if (begin < chip->not_before) {
    chip_violated(model, "selected %llu ns too early after %s",
                  (unsigned long long)(chip->not_before - begin), chip->not_before_what);
  }
  if (chip->ended_at > 0) {
    chip_note_pause(model, begin > chip->ended_at ? begin - chip->ended_at : 0);
  }
}

static void announce(struct qm35_model *chip, uint8_t *in) {
  struct chip_packets *queue = &chip->base.queue;
  uint32_t length = 0;
  chip->announced = 0;
  put_header(in, QM35_READY, 0, 0);
  if (queue->count == 0 || chip_strikes(&chip->base, CHIP_LATE)) return;
  uint8_t layer = chip_first(queue)->layer;
  while (chip->announced < queue->count && chip->announced < chip->packets_in_block) {
    const struct chip_packet *packet =
        &queue->items[(queue->first + chip->announced) % CHIP_PACKETS];
    if (packet->layer != layer || length + packet->length > LONGEST_BLOCK) break;
    length += packet->length;
    chip->announced++;
  }
  put_header(in, QM35_READY | QM35_WAITING, layer, length);
}

// Sends the announced block, or its header alone if the host does not support that layer.
static void give(struct qm35_model *chip, const uint8_t *out, uint8_t *in, uint32_t count) {
  chip_model *model = &chip->base;
  struct chip_packets *queue = &model->queue;
  uint32_t length = 0;
  for (unsigned i = 0; i < chip->announced; i++) {
    length += queue->items[(queue->first + i) % CHIP_PACKETS].length;
  }
  uint8_t layer = chip->announced > 0 ? chip_first(queue)->layer : 0;
  uint32_t asked = out[2] | (uint32_t)out[3] << 8;
  bool is_passed_over = layer != LAYER_UCI && count == 4;
  if (chip->announced == 0 || out[1] != layer || asked != length ||
      (count != 4 + length && !is_passed_over)) {
    chip_violated(model, "a read of %u bytes, %u on layer %u, of a block of %u", count, asked,
                  out[1], length);
  }
  if (chip_strikes(model, CHIP_TRANSFER_ERROR)) {
    model->counts[CHIP_FAILED_TRANSFERS]++;
    put_header(in, QM35_READY | QM35_ERROR, layer, asked);
    return;
  }
  if (chip_strikes(model, CHIP_OTHER_LENGTH)) {
    put_header(in, QM35_READY | QM35_ACTIVE, layer, length + 1);
    return;
  }
  model->counts[CHIP_READS]++;
  model->counts[CHIP_READS_OF_SEVERAL] += chip->announced > 1;
  uint32_t at = 4;
  for (; chip->announced > 0; chip->announced--) {
    const struct chip_packet *packet = chip_first(queue);
    if (at + packet->length <= count) memcpy(in + at, packet->bytes, packet->length);
    at += packet->length;
    chip_pop(queue);
  }
  put_header(in, QM35_READY | QM35_ACTIVE | (queue->count > 0 ? QM35_WAITING : 0), layer, length);
}

static void transfer(struct qm35_model *chip, const chip_selection *selection,
                     const uint8_t *out, uint8_t *in) {
  chip_model *model = &chip->base;
  uint32_t count = selection->length;
  if (count < 4) {
    chip_violated(model, "a transfer of %u bytes", count);
    return;
  }
  uint32_t length = out[2] | (uint32_t)out[3] << 8;
  switch (out[0]) {
  case HOST_WRITE:
  case HOST_WRITE | HOST_PREREAD:
    if (out[1] != LAYER_UCI || length != count - 4) {
      chip_violated(model, "a write of %u bytes on layer %u, %u", count - 4, out[1], length);
    }
    model->counts[CHIP_COLLISIONS] += selection->irq_was_high;
    put_header(in, QM35_READY, 0, 0);
    if (out[0] & HOST_PREREAD) announce(chip, in);
    chip_take(model, out + 4, count - 4);
    break;
  case HOST_PREREAD:
    if (count != 4 || out[1] || length) {
      chip_violated(model, "a pre-read with more than its flag");
    }
    model->counts[CHIP_PREREADS]++;
    announce(chip, in);
    break;
  case HOST_READ: give(chip, out, in, count); break;
  default: chip_violated(model, "flags %02x", out[0]);
  }
}

static void selected(chip_model *model, const chip_selection *selection, const uint8_t *out,
                     uint8_t *in) {
  struct qm35_model *chip = of(model);
  struct chip_board *board = model->board;
  model->speed_hz = selection->speed_hz;
  if (!model->is_on) chip_violated(model, "selected while RESET is low");
  if (!model->is_on || model->is_hung) return;
  if (selection->length == 0) {
    woken_by_selection(chip, selection);
    return;
  }
  check(chip, selection);
  if (chip->is_asleep || chip_strikes(model, CHIP_ABSENT)) {
    model->counts[CHIP_TIMES_ABSENT]++;
    memset(in, chip->absent_flags == 0xFF ? 0xFF : 0, selection->length);
    in[0] = chip->absent_flags;
  } else {
    transfer(chip, selection, out, in);
  }
  chip->ended_at = board->now;
  if (model->is_hung) return;
  // No more transfers until the chip is ready again.
  chip_board_plan(board, chip->notice_ns, CUWB_LINE_READY, false);
  if (model->queue.count == 0) chip_board_plan(board, chip->notice_ns, CUWB_LINE_IRQ, false);
  if (model->queue.count == 0 && chip_strikes(model, CHIP_SLEEPY)) {
    qm35_fall_asleep(chip);
    return;
  }
  if (chip_strikes(model, CHIP_SHORT_READY)) {
    chip_board_set(board, CUWB_LINE_READY, false, CHIP_EDGE_PULSE);
  }
  chip_board_plan(board, chip->notice_ns + chip->busy_ns, CUWB_LINE_READY, true);
}

static const struct chip_ops ops = {.selected = selected, .driven = driven, .offer = offer};

void qm35_init(struct qm35_model *chip, struct chip_board *board) {
  chip_model_init(&chip->base, sizeof(*chip), &ops, board);
  chip->packets_in_block = 1;
  chip->notice_ns = 5 * US;
  chip->busy_ns = 60 * US;
  chip->absent_flags = 0xFF;
}
