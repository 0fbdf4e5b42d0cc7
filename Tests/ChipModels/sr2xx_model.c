// SPDX-License-Identifier: Apache-2.0
#include "sr2xx_model.h"

// The times from IRQ to the first selection, before a write since the last transfer, and of RSTN
// low. Source: the waits of NXP's Zephyr SDK.
#define LEAST_WAIT_NS (500 * US)
#define LEAST_BEFORE_WRITE_NS (2 * MS)
#define LEAST_RESET_NS (10 * MS)

static struct sr2xx_model *of(chip_model *model) { return (struct sr2xx_model *)model; }

static void offer(chip_model *model, uint64_t in_ns) {
  struct sr2xx_model *chip = of(model);
  if (chip->raised_at != UINT64_MAX || chip->header_read || model->queue.count == 0) return;
  bool missed = chip_strikes(model, CHIP_MISSED_EDGE);
  chip->raised_at = model->board->now + in_ns;
  chip_board_plan_edge(model->board, in_ns, CUWB_LINE_IRQ, true,
                       missed ? CHIP_EDGE_LOST : CHIP_EDGE_SEEN);
}

static void driven(chip_model *model, cuwb_line line, bool high) {
  struct sr2xx_model *chip = of(model);
  if (line != CUWB_LINE_POWER) {
    chip_violated(model, "a line that an SR2xx does not have was driven");
    return;
  }
  chip->header_read = false;
  chip->raised_at = UINT64_MAX;
  chip->is_loading = high && model->starts_in_loader;
  chip->rom = (struct hdll_rom){0};
  chip_switch(model, high, !chip->is_loading, LEAST_RESET_NS);
  if (chip->is_loading) chip_say(model, 0, hdll_ready, sizeof(hdll_ready), 0);
}

static void take(struct sr2xx_model *chip, const chip_selection *selection, const uint8_t *out) {
  chip_model *model = &chip->base;
  uint32_t length = selection->length - 1;
  uint64_t since = selection->begin_ns - chip->moved_at;
  if (chip->moved_at > 0 && selection->begin_ns < chip->moved_at + LEAST_BEFORE_WRITE_NS) {
    chip_violated(model, "written %llu ns after a transfer", (unsigned long long)since);
  }
  model->counts[CHIP_COLLISIONS] += selection->irq_was_high;
  if (chip->is_loading) {
    hdll_take(&chip->rom, model, out + 1, length);
  } else if (length < 4 || length != 4 + chip_payload_length(out + 1)) {
    chip_violated(model, "a packet of %u bytes", length);
  } else {
    chip_take(model, out + 1, length);
  }
  if (!model->is_hung) offer(model, chip->next_ns);
}

static void give(struct sr2xx_model *chip, const chip_selection *selection, uint8_t *in) {
  chip_model *model = &chip->base;
  uint32_t count = selection->length - 1;
  if (model->queue.count == 0 || chip->raised_at > selection->begin_ns) {
    chip_violated(model, "read while there is nothing");
    return;
  }
  const struct chip_packet *packet = chip_first(&model->queue);
  uint32_t header = chip->is_loading ? 2 : 4;
  in[0] = 0xFF;
  if (!chip->header_read) {
    uint64_t wait = selection->begin_ns - chip->raised_at;
    chip_note_pause(model, wait);
    if (wait < LEAST_WAIT_NS) {
      chip_violated(model, "read %llu ns after IRQ", (unsigned long long)wait);
    }
    if (count != header) chip_violated(model, "the header was read in %u bytes", count);
    memcpy(in + 1, packet->bytes, count < header ? count : header);
    chip->header_read = true;
    return;
  }
  uint32_t payload = packet->length - header;
  if (count != payload) chip_violated(model, "%u bytes of a payload of %u", count, payload);
  memcpy(in + 1, packet->bytes + header, count < payload ? count : payload);
  chip_pop(&model->queue);
  model->counts[CHIP_READS]++;
  chip->header_read = false;
  chip->raised_at = UINT64_MAX;
  // IRQ falls before the selection ends, and may rise while the host is still busy with the packet.
  chip_board_set(model->board, CUWB_LINE_IRQ, false, CHIP_EDGE_SEEN);
  offer(model, chip->next_ns);
}

static void selected(chip_model *model, const chip_selection *selection, const uint8_t *out,
                     uint8_t *in) {
  struct sr2xx_model *chip = of(model);
  model->speed_hz = selection->speed_hz;
  if (!model->is_on || selection->length == 0) {
    chip_violated(model, "it was selected while RSTN is low, or for nothing");
    return;
  }
  if (model->is_hung) return;
  if (out[0] == 0x00) {
    take(chip, selection, out);
  } else if (out[0] == 0xFF) {
    give(chip, selection, in);
  } else {
    chip_violated(model, "direction %02x", out[0]);
  }
  chip->moved_at = selection->end_ns;
}

static const struct chip_ops ops = {.selected = selected, .driven = driven, .offer = offer};

void sr2xx_init(struct sr2xx_model *chip, struct chip_board *board) {
  chip_model_init(&chip->base, sizeof(*chip), &ops, board);
  chip->raised_at = UINT64_MAX;
  chip->next_ns = 28 * US;
}
