/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes through /dev/uwb-bench. Reading gives one record at a time; writing takes one.
 */
#ifndef UWB_BENCH_H
#define UWB_BENCH_H

#include <linux/types.h>

/* The lines, by offset in the GPIO chip, with their names: uwb-irq and so on. */
#define UWB_BENCH_IRQ 0
#define UWB_BENCH_READY 1
#define UWB_BENCH_AWAKE 2
#define UWB_BENCH_POWER 3
#define UWB_BENCH_READ 4
#define UWB_BENCH_WAKE 5
#define UWB_BENCH_LINES 6

#define UWB_BENCH_MOST 16384

enum uwb_bench_kind {
  /* To the chip model: the chip was selected; `length` bytes of the host follow. It has to answer. */
  UWB_BENCH_SELECTED = 1,
  /* To the chip model: the host has set line `line` to `level`. */
  UWB_BENCH_LINE = 2,
  /* From the chip model: the bytes that the chip sends in the selection. */
  UWB_BENCH_ANSWER = 3,
  /* From the chip model: the chip sets line `line` to `level`, UWB_BENCH_HIGH and so on. */
  UWB_BENCH_DRIVE = 4,
  /* To the chip model: `length` bytes were written to the vendor's device. */
  UWB_BENCH_WRITTEN = 5,
  /* To the chip model: request number `line` of the vendor's device, with the argument `level`. */
  UWB_BENCH_CONTROL = 6,
  /* From the chip model: `length` bytes for whoever reads the vendor's device. */
  UWB_BENCH_OFFER = 7,
  /* From the chip model: the state that the vendor's device reports is `level` (uci). */
  UWB_BENCH_STATE = 8,
};

/* Levels of UWB_BENCH_DRIVE. SILENT: the edge is lost on the way, and no interrupt happens. PULSE: high
 * and low again, shorter than any program can look at. */
#define UWB_BENCH_HIGH 1
#define UWB_BENCH_SILENT 2
#define UWB_BENCH_PULSE 4

struct uwb_bench_record {
  __u32 kind;
  __u32 length;
  __u32 line;
  __u32 level;
  /* CLOCK_MONOTONIC in nanoseconds when it began. */
  __u64 time_ns;
  /* Selections: clock, and how many transfers the host made of it. */
  __u32 speed_hz;
  __u32 transfers;
  /* Selections: mode bits of the device, and the longest delay after one of its transfers. */
  __u32 mode;
  __u32 delay_us;
};

#endif
