// SPDX-License-Identifier: Apache-2.0
//
// Chips behind a vendor's kernel driver, which hides their wires, and the interface to all models.
#include <stdlib.h>

#include "qm35_model.h"
#include "sr1xx_model.h"
#include "sr2xx_model.h"

// An SR1xx behind /dev/srxxx. Sources: NXP/uwb-driver-testapp and its relatives.
struct srxxx_model {
  struct chip_model base;
  // The driver is in the mode of the boot loader.
  bool is_in_loader_mode;
  bool is_loading;
  struct hbci_rom rom;
};

static void give(chip_model *model, const uint8_t *bytes, size_t length) {
  model->board->callbacks.offer(model->board->callbacks.context, bytes, length);
}

// ---------------------------------------------------------------------------------- NXP's driver

// Returns all packets of the queue in one read.
static void srxxx_give_all(chip_model *model) {
  uint8_t block[4200];
  size_t length = 0;
  if (((struct srxxx_model *)model)->is_in_loader_mode || model->queue.count == 0) return;
  model->counts[CHIP_READS_OF_SEVERAL] += model->queue.count > 1;
  model->counts[CHIP_READS]++;
  while (model->queue.count > 0) {
    const struct chip_packet *packet = chip_first(&model->queue);
    if (length + packet->length > sizeof(block)) break;
    memcpy(block + length, packet->bytes, packet->length);
    length += packet->length;
    chip_pop(&model->queue);
  }
  give(model, block, length);
}

static void srxxx_control(chip_model *model, uint32_t number, uint32_t value) {
  struct srxxx_model *chip = (struct srxxx_model *)model;
  if (number != 1) {
    chip->is_in_loader_mode = value == 1;
    srxxx_give_all(model);
  } else if (value == 2) {
    model->counts[CHIP_ABORTED_READS]++;
  } else if (model->is_on != (value == 1)) {
    chip->is_loading = value == 1 && model->starts_in_loader;
    chip->rom = (struct hbci_rom){0};
    chip_switch(model, value == 1, !chip->is_loading, 80 * US);
  }
}

static void srxxx_load(struct srxxx_model *chip, const uint8_t *bytes, size_t length) {
  if (!chip->is_loading) return;
  hbci_take(&chip->rom, &chip->base, bytes, (uint32_t)length);
  if (chip->rom.answer_length > 0) give(&chip->base, chip->rom.answer, chip->rom.answer_length);
  chip->rom.answer_length = 0;
  if (!chip->rom.is_done) return;
  chip->is_loading = false;
  chip_boot(&chip->base);
}

static void srxxx_written(chip_model *model, const uint8_t *bytes, size_t length) {
  struct srxxx_model *chip = (struct srxxx_model *)model;
  if (chip->is_in_loader_mode) {
    srxxx_load(chip, bytes, length);
  } else if (length < 4 || length != 4 + chip_payload_length(bytes) || !model->is_on) {
    chip_violated(model, "%zu bytes written are not a packet, or it is off", length);
  } else {
    chip_take(model, bytes, length);
  }
}

static const struct chip_ops srxxx_ops = {
    .written = srxxx_written, .control = srxxx_control, .advance = srxxx_give_all};

// -------------------------------------------------------------------------------- Qorvo's driver

static void uci_give_all(chip_model *model) {
  for (; model->queue.count > 0; chip_pop(&model->queue)) {
    const struct chip_packet *packet = chip_first(&model->queue);
    model->counts[CHIP_READS]++;
    give(model, packet->bytes, packet->length);
  }
}

static void uci_control(chip_model *model, uint32_t number, uint32_t value) {
  (void)number;
  chip_switch(model, value == 1, true, 2 * MS);
}

static void uci_written(chip_model *model, const uint8_t *bytes, size_t length) {
  if (length < 4 || length != 4u + bytes[3]) {
    chip_violated(model, "%zu bytes written are not a packet", length);
  } else {
    chip_take(model, bytes, length);
  }
}

static const struct chip_ops uci_ops = {
    .written = uci_written, .control = uci_control, .advance = uci_give_all};

// ------------------------------------------------------------------------------ every kind of chip

// The virtual bench's host detects latched edges only, so its chips need not wait between two
// edges. A line that changes after the selection is scheduled a moment later.
#define AFTER_SELECTION_NS 1

chip_model *chip_model_create(const char *kind, bool starts_in_loader, const char *faults,
                              chip_callbacks callbacks) {
  union all {
    struct chip_model base;
    struct sr1xx_model sr1xx;
    struct sr2xx_model sr2xx;
    struct qm35_model qm35;
    struct srxxx_model srxxx;
  };
  union all *all = calloc(1, sizeof(*all));
  struct chip_board *board = calloc(1, sizeof(*board));
  if (!all || !board) abort();
  board->callbacks = callbacks;
  bool is_known = true;
  if (strcmp(kind, "sr150") == 0) {
    sr1xx_init(&all->sr1xx, board);
    all->sr1xx.see_ns = all->sr1xx.load_ns = all->sr1xx.next_ns = all->sr1xx.answer_ns = 0;
    all->sr1xx.done_ns = AFTER_SELECTION_NS;
  } else if (strcmp(kind, "sr250") == 0) {
    sr2xx_init(&all->sr2xx, board);
    all->sr2xx.next_ns = AFTER_SELECTION_NS;
  } else if (strcmp(kind, "qm35") == 0) {
    qm35_init(&all->qm35, board);
    all->qm35.notice_ns = 0;
    all->qm35.packets_in_block = CHIP_PACKETS;
  } else if (strcmp(kind, "srxxx") == 0) {
    chip_model_init(&all->base, sizeof(all->srxxx), &srxxx_ops, board);
  } else if (strcmp(kind, "uci") == 0) {
    chip_model_init(&all->base, sizeof(all->base), &uci_ops, board);
  } else {
    is_known = false;
  }
  if (!is_known || !chip_parse_faults(&all->base, faults)) {
    free(board);
    free(all);
    return NULL;
  }
  all->base.starts_in_loader = starts_in_loader;
  all->base.is_on = false;
  return &all->base;
}

void chip_model_advance(chip_model *model, uint64_t now_ns) {
  chip_board_advance(model->board, now_ns);
  if (model->retry_at <= now_ns) model->ops->offer(model, 0);
  if (model->ops->advance) model->ops->advance(model);
}

uint64_t chip_model_due(const chip_model *model) {
  uint64_t due = chip_board_due(model->board);
  return model->retry_at < due ? model->retry_at : due;
}

void chip_model_say(chip_model *model, const uint8_t *bytes, size_t length) {
  chip_say(model, 2, bytes, length, 0);
}

void chip_model_selected(chip_model *model, const chip_selection *selection, const uint8_t *out,
                         uint8_t *in) {
  chip_selection complete = *selection;
  complete.irq_was_high = model->board->levels[CUWB_LINE_IRQ];
  if (model->ops->selected) model->ops->selected(model, &complete, out, in);
}

void chip_model_driven(chip_model *model, cuwb_line line, bool high, uint64_t at_ns) {
  model->board->levels[line] = high;
  model->driven_at = at_ns;
  if (model->ops->driven) model->ops->driven(model, line, high);
}

void chip_model_written(chip_model *model, const uint8_t *bytes, size_t length) {
  if (model->ops->written) model->ops->written(model, bytes, length);
}

void chip_model_control(chip_model *model, uint32_t number, uint32_t value) {
  model->driven_at = model->board->now;
  if (model->ops->control) model->ops->control(model, number, value);
}

size_t chip_model_take_packet(chip_model *model, uint8_t *bytes, size_t capacity) {
  if (model->received.count == 0) return 0;
  const struct chip_packet *packet = chip_first(&model->received);
  size_t length = packet->length < capacity ? packet->length : capacity;
  memcpy(bytes, packet->bytes, length);
  chip_pop(&model->received);
  return length;
}

int chip_model_take_power_change(chip_model *model) {
  int change = model->power_change;
  model->power_change = -1;
  return change;
}
