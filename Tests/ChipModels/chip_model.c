// SPDX-License-Identifier: Apache-2.0
#include "chip_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// The names, in the order of enum chip_fault_kind.
static const char *const fault_names[CHIP_FAULTS] = {
    "double-pulse", "deaf-to-ri",     "silent", "hang",           "hang-ranging",
    "missed-edge",  "mid-write",      "flipped-bit", "flipped-answer", "absent",
    "transfer-error", "other-length", "late",   "short-ready",    "sleepy",
};

// The names, in the order of enum chip_count.
static const char *const count_names[CHIP_COUNTS] = {
    "reads", "writes", "collisions", "early", "aborted reads", "failed transfers", "frames",
    "frames damaged", "offered in a write", "pre-reads", "reads of several packets", "resets",
    "segments", "segments damaged", "times absent", "times asleep", "wakes", "wakes by selection",
};

void chip_model_init(chip_model *model, size_t size, const struct chip_ops *ops,
                     struct chip_board *board) {
  memset(model, 0, size);
  model->ops = ops;
  model->board = board;
  model->is_on = true;
  model->power_change = -1;
  model->retry_at = UINT64_MAX;
  model->shortest_pause_ns = UINT64_MAX;
}

static void forget_packets(struct chip_packets *packets) {
  while (packets->count > 0) chip_pop(packets);
}

void chip_model_forget(chip_model *model) {
  forget_packets(&model->queue);
  forget_packets(&model->received);
}

// ----------------------------------------------------------------------------------------- faults

bool chip_strikes(chip_model *model, enum chip_fault_kind kind) {
  struct chip_fault *fault = &model->faults[kind];
  if (fault->times > 0) {
    fault->times--;
    return true;
  }
  return fault->every > 0 && ++fault->chances % fault->every == 0;
}

// `double-pulse=3,hang=50`
bool chip_parse_faults(chip_model *model, const char *text) {
  while (*text) {
    size_t length = strcspn(text, "=");
    int kind = 0;
    while (kind < CHIP_FAULTS && (strlen(fault_names[kind]) != length ||
                                  strncmp(fault_names[kind], text, length) != 0)) {
      kind++;
    }
    if (kind == CHIP_FAULTS || text[length] != '=') return false;
    char *end;
    model->faults[kind].every = (unsigned)strtoul(text + length + 1, &end, 10);
    if (model->faults[kind].every == 0 || (*end && *end != ',')) return false;
    text = *end ? end + 1 : end;
  }
  return true;
}

// ---------------------------------------------------------------------------------------- packets

void chip_push(struct chip_packets *packets, const void *bytes, size_t length, uint8_t layer) {
  if (packets->count == CHIP_PACKETS) chip_pop(packets);
  packets->count++;
  struct chip_packet *packet = chip_last(packets);
  *packet = (struct chip_packet){malloc(length), (uint32_t)length, layer};
  memcpy(packet->bytes, bytes, length);
}

void chip_pop(struct chip_packets *packets) {
  free(chip_first(packets)->bytes);
  packets->first++;
  packets->count--;
}

static void lower_all(chip_model *model) {
  model->board->planned = 0;
  for (cuwb_line line = CUWB_LINE_IRQ; line <= CUWB_LINE_AWAKE; line++) {
    chip_board_set(model->board, line, false, CHIP_EDGE_SEEN);
  }
}

static void hang(chip_model *model) {
  model->is_hung = true;
  forget_packets(&model->queue);
  lower_all(model);
}

void chip_say(chip_model *model, uint8_t layer, const void *bytes, size_t length,
              uint64_t in_ns) {
  const uint8_t *first = bytes;
  if (!model->is_on || model->is_hung) return;
  if (first[0] == 0x62 && (first[1] & 0x3F) == 0 && chip_strikes(model, CHIP_HANG_RANGING)) {
    hang(model);
    return;
  }
  chip_push(&model->queue, bytes, length, layer);
  if (model->ops->offer) model->ops->offer(model, in_ns);
}

void chip_take(chip_model *model, const void *bytes, size_t length) {
  model->counts[CHIP_WRITES]++;
  if (chip_strikes(model, CHIP_HANG)) hang(model);
  if (!model->is_hung && !chip_strikes(model, CHIP_SILENT)) {
    chip_push(&model->received, bytes, length, 0);
  }
}

// ------------------------------------------------------------------------------------------ power

void chip_switch(chip_model *model, bool on, bool boots, uint64_t least_ns) {
  uint64_t now = model->driven_at;
  model->is_on = on;
  model->is_hung = false;
  if (!on) model->power_change = 0;
  model->retry_at = UINT64_MAX;
  forget_packets(&model->queue);
  forget_packets(&model->received);
  if (on && model->was_off) {
    model->counts[CHIP_RESETS]++;
    if (now < model->off_since + least_ns) {
      chip_violated(model, "power was low for %llu ns",
                    (unsigned long long)(now - model->off_since));
    }
  }
  model->was_off = !on;
  model->off_since = now;
  lower_all(model);
  if (on && boots) chip_boot(model);
}

void chip_boot(chip_model *model) {
  model->power_change = 1;
  if (model->boot_packet) chip_say(model, 2, model->boot_packet, model->boot_packet_length, 0);
}

// ----------------------------------------------------------------------------------------- ledger

void chip_violated(chip_model *model, const char *format, ...) {
  if (model->violation_count++ >= CHIP_VIOLATIONS) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(model->violations[model->violation_count - 1], sizeof(model->violations[0]), format,
            arguments);
  va_end(arguments);
}

void chip_note_pause(chip_model *model, uint64_t pause_ns) {
  if (pause_ns < model->shortest_pause_ns) model->shortest_pause_ns = pause_ns;
}

const char *chip_model_ledger(chip_model *model) {
  char *at = model->ledger;
  char *end = at + sizeof(model->ledger);
  for (int kind = CHIP_READS; kind <= CHIP_EARLY; kind++) {
    at += snprintf(at, (size_t)(end - at), "%u %s, ", model->counts[kind], count_names[kind]);
  }
  if (model->shortest_pause_ns == UINT64_MAX) {
    at += snprintf(at, (size_t)(end - at), "shortest pause none, %u Hz", model->speed_hz);
  } else {
    at += snprintf(at, (size_t)(end - at), "shortest pause %llu us, %u Hz",
                   (unsigned long long)(model->shortest_pause_ns / US), model->speed_hz);
  }
  for (int kind = CHIP_EARLY + 1; kind < CHIP_COUNTS; kind++) {
    if (model->counts[kind] == 0) continue;
    at += snprintf(at, (size_t)(end - at), ", %u %s", model->counts[kind], count_names[kind]);
  }
  at += snprintf(at, (size_t)(end - at), ", %u violations", model->violation_count);
  for (unsigned i = 0; i < model->violation_count && i < CHIP_VIOLATIONS; i++) {
    at += snprintf(at, (size_t)(end - at), "\n%s", model->violations[i]);
  }
  return model->ledger;
}
