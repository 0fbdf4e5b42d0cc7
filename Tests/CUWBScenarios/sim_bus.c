// SPDX-License-Identifier: Apache-2.0
#include "sim_bus.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

// The time of a call, so that every loop advances the clock, and the time of a byte at 16 MHz.
#define CALL_NS (2 * US)
#define BYTE_NS 500
#define SPEED_HZ 16000000

// Called when the chip has changed a line.
static void changed(void *context, cuwb_line line, bool high, chip_edge edge) {
  struct sim_bus *bus = context;
  if (bus->is_deaf[line] || edge == CHIP_EDGE_LOST) return;
  bus->latched[line].rising |= high || edge == CHIP_EDGE_PULSE;
  bus->latched[line].falling |= !high;
}

void sim_bus_advance(struct sim_bus *bus, uint64_t to_ns) {
  chip_board_advance(&bus->board, to_ns);
}

static void pass(struct sim_bus *bus, uint64_t duration_ns) {
  sim_bus_advance(bus, bus->board.now + duration_ns);
}

// In real time, the clock may be ahead of the machine's clock by the duration of transfers.
static void enter(struct sim_bus *bus) {
  if (!bus->lock) return;
  pthread_mutex_lock(bus->lock);
  sim_bus_advance(bus, cuwb_monotonic_ns());
}

static void leave(struct sim_bus *bus) {
  if (bus->lock) pthread_mutex_unlock(bus->lock);
}

static struct entry *record(struct sim_bus *bus, bool is_selection) {
  static struct entry lost;
  struct entry *entry = bus->count < ENTRIES ? &bus->entries[bus->count++] : &lost;
  *entry = (struct entry){.begin_ns = bus->board.now, .is_selection = is_selection};
  memcpy(entry->levels, bus->board.levels, sizeof(entry->levels));
  return entry;
}

// ----------------------------------------------------------------------------------- bus functions

static int transfer(struct sim_bus *bus, const cuwb_segment *segments, uint32_t count) {
  static uint8_t out[16384], in[16384];
  if (bus->refusal && bus->transfers_left-- == 0) {
    bus->transfers_left = 0;
    return bus->refusal;
  }
  struct entry *entry = record(bus, true);
  chip_selection selection = {.begin_ns = bus->board.now,
                              .speed_hz = SPEED_HZ,
                              .irq_was_high = bus->board.levels[CUWB_LINE_IRQ]};
  uint64_t held = 0;
  memset(in, 0, sizeof(in));
  for (uint32_t i = 0; i < count; i++) {
    const cuwb_segment *segment = &segments[i];
    if (segment->out) {
      memcpy(out + entry->length, segment->out, segment->length);
      entry->sent += segment->length;
    } else {
      memset(out + entry->length, 0, segment->length);
    }
    if (segment->in) entry->heard += segment->length;
    entry->length += segment->length;
    held += segment->hold_us * US;
    if (segment->hold_us > selection.hold_us) selection.hold_us = segment->hold_us;
  }
  entry->first = out[0];
  pass(bus, held + CALL_NS + entry->length * BYTE_NS);
  entry->end_ns = selection.end_ns = bus->board.now;
  selection.length = entry->length;
  bus->chip->ops->selected(bus->chip, &selection, out, in);
  uint32_t at = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (segments[i].in) memcpy(segments[i].in, in + at, segments[i].length);
    at += segments[i].length;
  }
  return 0;
}

static int bus_transfer(void *context, const cuwb_segment *segments, uint32_t count) {
  struct sim_bus *bus = context;
  enter(bus);
  int error = transfer(bus, segments, count);
  leave(bus);
  return error;
}

static int bus_drive(void *context, cuwb_line line, bool high) {
  struct sim_bus *bus = context;
  enter(bus);
  pass(bus, CALL_NS);
  struct entry *entry = record(bus, false);
  entry->line = line;
  entry->high = high;
  entry->end_ns = bus->board.now;
  bool is_change = bus->board.levels[line] != high;
  if (is_change) chip_model_driven(bus->chip, line, high, bus->board.now);
  bus->board.levels[line] = high;
  leave(bus);
  return 0;
}

static int bus_sense(void *context, cuwb_line line, bool *high) {
  struct sim_bus *bus = context;
  enter(bus);
  pass(bus, CALL_NS);
  *high = bus->board.levels[line];
  leave(bus);
  return 0;
}

static int bus_edges(void *context, cuwb_line line, cuwb_edges *seen) {
  struct sim_bus *bus = context;
  enter(bus);
  pass(bus, CALL_NS);
  *seen = bus->latched[line];
  bus->latched[line] = (cuwb_edges){0};
  leave(bus);
  return 0;
}

static bool has_edge(const struct sim_bus *bus, uint8_t lines) {
  for (unsigned line = 0; line < CUWB_LINES; line++) {
    if (!(lines >> line & 1)) continue;
    if (bus->latched[line].rising || bus->latched[line].falling) return true;
  }
  return false;
}

// Waits for the wake descriptor. Returns whether it is readable.
static bool is_woken(int wake_fd, long timeout_ns, bool *woken) {
  struct pollfd polled = {.fd = wake_fd, .events = POLLIN};
  struct timespec timeout = {0, timeout_ns};
  if (ppoll(&polled, 1, &timeout, NULL) <= 0) return false;
  if (woken) *woken = true;
  return true;
}

static int wait_in_real_time(struct sim_bus *bus, uint8_t lines, int wake_fd, uint64_t until_ns,
                             bool *woken) {
  bool there;
  do {
    enter(bus);
    // With a wake descriptor there is no limit: the test has to notice a lost wake.
    there = has_edge(bus, lines) || (wake_fd < 0 && bus->board.now >= until_ns);
    leave(bus);
  } while (!there && !is_woken(wake_fd, 50000, woken));
  return 0;
}

static int bus_wait(void *context, uint8_t lines, int wake_fd, uint64_t until_ns, bool *woken) {
  struct sim_bus *bus = context;
  if (bus->lock) return wait_in_real_time(bus, lines, wake_fd, until_ns, woken);
  pass(bus, CALL_NS);
  while (!has_edge(bus, lines)) {
    if (is_woken(wake_fd, 0, woken)) return 0;
    uint64_t due = chip_board_due(&bus->board);
    if (due == UINT64_MAX && until_ns == UINT64_MAX) {
      scenario_fail(__FILE__, __LINE__, "waits forever");
      return ENODEV;
    }
    sim_bus_advance(bus, due < until_ns ? due : until_ns);
    if (due > until_ns) return 0;
  }
  return 0;
}

static uint64_t bus_now(void *context) {
  struct sim_bus *bus = context;
  enter(bus);
  uint64_t now = bus->board.now;
  leave(bus);
  return now;
}

static void bus_pause(void *context, uint64_t duration_ns) {
  struct sim_bus *bus = context;
  uint64_t until = bus_now(bus) + duration_ns;
  if (!bus->lock) sim_bus_advance(bus, until);
  while (bus_now(bus) < until) nanosleep(&(struct timespec){0, 10000}, NULL);
}

static void bus_close(void *context) { ((struct sim_bus *)context)->closed = true; }

cuwb_spi_bus sim_bus_interface(struct sim_bus *bus, uint8_t lines) {
  return (cuwb_spi_bus){
      .context = bus,
      .lines = lines,
      .longest = 8192,
      .transfer = bus_transfer,
      .drive = bus_drive,
      .sense = bus_sense,
      .edges = bus_edges,
      .wait = bus_wait,
      .now = bus_now,
      .pause = bus_pause,
      .close = bus_close,
  };
}

// ----------------------------------------------------------------------------------------- record

void sim_bus_reset(struct sim_bus *bus, chip_model *chip) {
  memset(bus, 0, sizeof(*bus));
  bus->board.now = 1000 * MS;
  bus->board.callbacks = (chip_callbacks){.context = bus, .changed = changed};
  bus->chip = chip;
  // A chip that is already running.
  bus->board.levels[CUWB_LINE_POWER] = true;
}

const struct entry *sim_bus_selection(const struct sim_bus *bus, unsigned number) {
  for (unsigned i = 0; i < bus->count; i++) {
    if (bus->entries[i].is_selection && number-- == 0) return &bus->entries[i];
  }
  return NULL;
}

unsigned sim_bus_selections(const struct sim_bus *bus) {
  unsigned count = 0;
  for (unsigned i = 0; i < bus->count; i++) count += bus->entries[i].is_selection;
  return count;
}
