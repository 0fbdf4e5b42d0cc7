/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes through /dev/uwb-far. Reading gives one record at a time; writing takes one.
 */
#ifndef UWB_FAR_H
#define UWB_FAR_H

#include <linux/types.h>

/* The lines, by offset in the GPIO chip, with their names: uwb-irq and so on. */
#define UWB_FAR_IRQ 0
#define UWB_FAR_READY 1
#define UWB_FAR_AWAKE 2
#define UWB_FAR_POWER 3
#define UWB_FAR_READ 4
#define UWB_FAR_WAKE 5
#define UWB_FAR_LINES 6

#define UWB_FAR_MOST 16384

enum uwb_far_kind {
  /* To the far side: the chip was selected; `length` bytes of the host follow. It has to answer. */
  UWB_FAR_SELECTED = 1,
  /* To the far side: the host has set line `line` to `level`. */
  UWB_FAR_LINE = 2,
  /* From the far side: the bytes that the chip sends in the selection. */
  UWB_FAR_ANSWER = 3,
  /* From the far side: the chip sets line `line` to `level`, UWB_FAR_HIGH and so on. */
  UWB_FAR_DRIVE = 4,
  /* To the far side: `length` bytes were written to the vendor's device. */
  UWB_FAR_WRITTEN = 5,
  /* To the far side: request number `line` of the vendor's device, with the argument `level`. */
  UWB_FAR_CONTROL = 6,
  /* From the far side: `length` bytes for whoever reads the vendor's device. */
  UWB_FAR_OFFER = 7,
  /* From the far side: the state that the vendor's device reports is `level` (uci). */
  UWB_FAR_STATE = 8,
};

/* Levels of UWB_FAR_DRIVE. SILENT: the edge is lost on the way, and no interrupt happens. PULSE: high
 * and low again, shorter than any program can look at. */
#define UWB_FAR_HIGH 1
#define UWB_FAR_SILENT 2
#define UWB_FAR_PULSE 4

struct uwb_far_record {
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
