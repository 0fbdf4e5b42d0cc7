// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <errno.h>
#include <poll.h>

// What a call costs, so that no loop stands still, and what a byte costs at 16 MHz.
#define CALL_NS (2 * US)
#define BYTE_NS 500

static void set_level(struct bench *bench, cuwb_line line, bool high) {
  if (bench->levels[line] == high) return;
  bench->levels[line] = high;
  if (bench->is_deaf[line]) return;
  bench->latched[line].rising |= high;
  bench->latched[line].falling |= !high;
}

// The plan that is due first, -1 if there is none.
static int next_plan(const struct bench *bench) {
  int first = -1;
  for (unsigned i = 0; i < bench->planned; i++) {
    if (first < 0 || bench->plans[i].at_ns < bench->plans[first].at_ns) first = (int)i;
  }
  return first;
}

static void carry_out(struct bench *bench, int number) {
  struct plan plan = bench->plans[number];
  bench->planned--;
  memmove(bench->plans + number, bench->plans + number + 1,
          (bench->planned - (unsigned)number) * sizeof(plan));
  if (plan.at_ns > bench->now) bench->now = plan.at_ns;
  set_level(bench, plan.line, plan.high);
}

void bench_advance(struct bench *bench, uint64_t to_ns) {
  for (int next; (next = next_plan(bench)) >= 0 && bench->plans[next].at_ns <= to_ns;) {
    carry_out(bench, next);
  }
  if (to_ns > bench->now) bench->now = to_ns;
}

void bench_plan(struct bench *bench, uint64_t in_ns, cuwb_line line, bool high) {
  if (bench->planned == sizeof(bench->plans) / sizeof(bench->plans[0])) {
    scenario_fail(__FILE__, __LINE__, "too many plans");
    return;
  }
  bench->plans[bench->planned++] = (struct plan){bench->now + in_ns, line, high};
}

void bench_forget_plans(struct bench *bench, cuwb_line line) {
  unsigned kept = 0;
  for (unsigned i = 0; i < bench->planned; i++) {
    if (bench->plans[i].line != line) bench->plans[kept++] = bench->plans[i];
  }
  bench->planned = kept;
}

static struct entry *record(struct bench *bench, bool is_selection) {
  static struct entry lost;
  struct entry *entry = bench->count < ENTRIES ? &bench->entries[bench->count++] : &lost;
  *entry = (struct entry){.begin_ns = bench->now, .is_selection = is_selection};
  memcpy(entry->levels, bench->levels, sizeof(entry->levels));
  return entry;
}

// ------------------------------------------------------------------------------------ bus

static int bench_transfer(void *context, const cuwb_segment *segments, uint32_t count) {
  struct bench *bench = context;
  static uint8_t out[16384], in[16384];
  if (bench->refusal && bench->transfers_left-- == 0) {
    bench->transfers_left = 0;
    return bench->refusal;
  }
  struct entry *entry = record(bench, true);
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
    entry->segments += segment->length > 0;
    held += segment->hold_us * US;
  }
  entry->first = out[0];
  bench_advance(bench, bench->now + held + CALL_NS + entry->length * BYTE_NS);
  entry->end_ns = bench->now;
  bench->ops->selected(bench, out, in, entry->length, entry);
  uint32_t at = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (segments[i].in) memcpy(segments[i].in, in + at, segments[i].length);
    at += segments[i].length;
  }
  return 0;
}

static int bench_drive(void *context, cuwb_line line, bool high) {
  struct bench *bench = context;
  bench_advance(bench, bench->now + CALL_NS);
  struct entry *entry = record(bench, false);
  entry->line = line;
  entry->high = high;
  entry->end_ns = bench->now;
  bool changed = bench->levels[line] != high;
  bench->levels[line] = high;
  if (changed && bench->ops->driven) bench->ops->driven(bench, line, high);
  return 0;
}

static int bench_sense(void *context, cuwb_line line, bool *high) {
  struct bench *bench = context;
  bench_advance(bench, bench->now + CALL_NS);
  *high = bench->levels[line];
  return 0;
}

static int bench_edges(void *context, cuwb_line line, cuwb_edges *seen) {
  struct bench *bench = context;
  bench_advance(bench, bench->now + CALL_NS);
  *seen = bench->latched[line];
  bench->latched[line] = (cuwb_edges){0};
  return 0;
}

static bool has_edge(const struct bench *bench, uint8_t lines) {
  for (unsigned line = 0; line < CUWB_LINES; line++) {
    if (!(lines >> line & 1)) continue;
    if (bench->latched[line].rising || bench->latched[line].falling) return true;
  }
  return false;
}

static int bench_wait(void *context, uint8_t lines, int wake_fd, uint64_t until_ns,
                      bool *woken) {
  struct bench *bench = context;
  bench_advance(bench, bench->now + CALL_NS);
  while (!has_edge(bench, lines)) {
    struct pollfd polled = {.fd = wake_fd, .events = POLLIN};
    if (wake_fd >= 0 && poll(&polled, 1, 0) > 0) {
      if (woken) *woken = true;
      return 0;
    }
    int next = next_plan(bench);
    if (next < 0 && until_ns == UINT64_MAX) {
      scenario_fail(__FILE__, __LINE__, "waits for ever");
      return ENODEV;
    }
    if (next < 0 || bench->plans[next].at_ns > until_ns) {
      bench_advance(bench, until_ns);
      return 0;
    }
    carry_out(bench, next);
  }
  return 0;
}

static uint64_t bench_now(void *context) { return ((struct bench *)context)->now; }

static void bench_pause(void *context, uint64_t duration_ns) {
  struct bench *bench = context;
  bench_advance(bench, bench->now + duration_ns);
}

static void bench_close(void *context) { ((struct bench *)context)->closed = true; }

cuwb_spi_bus bench_bus(struct bench *bench, uint8_t lines) {
  return (cuwb_spi_bus){
      .context = bench,
      .lines = lines,
      .longest = 8192,
      .transfer = bench_transfer,
      .drive = bench_drive,
      .sense = bench_sense,
      .edges = bench_edges,
      .wait = bench_wait,
      .now = bench_now,
      .pause = bench_pause,
      .close = bench_close,
  };
}

// ----------------------------------------------------------------------------------------- record

void bench_reset(struct bench *bench, const struct chip_ops *ops, void *chip) {
  memset(bench, 0, sizeof(*bench));
  bench->now = 1000 * MS;
  bench->ops = ops;
  bench->chip = chip;
}

const struct entry *bench_selection(const struct bench *bench, unsigned number) {
  for (unsigned i = 0; i < bench->count; i++) {
    if (bench->entries[i].is_selection && number-- == 0) return &bench->entries[i];
  }
  return NULL;
}

unsigned bench_selections(const struct bench *bench) {
  unsigned count = 0;
  for (unsigned i = 0; i < bench->count; i++) count += bench->entries[i].is_selection;
  return count;
}
