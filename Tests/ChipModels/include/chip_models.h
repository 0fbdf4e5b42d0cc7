// SPDX-License-Identifier: Apache-2.0
//
// Models of UWB chips at their pins, or behind a vendor's kernel driver. They are written from the
// vendors' drivers and documents of each interface, not from this package's links. They count
// actions of a host that these documents do not allow. A model has no clock: its user passes the
// time. The scenarios of Tests/CUWBScenarios use a clock that stands still while nothing happens,
// the virtual bench uses the machine's clock.
#ifndef CHIP_MODELS_H
#define CHIP_MODELS_H

#include "cuwb_spi_bus.h"

#pragma clang assume_nonnull begin

/// The effect of a line's change at the host; numbers as in Tests/VirtualBench/Module/uwb_bench.h.
typedef enum chip_edge {
  CHIP_EDGE_SEEN = 0,
  /// The level changes, but the host's GPIO reports no edge.
  CHIP_EDGE_LOST = 2,
  /// A pulse: high, and low again at once.
  CHIP_EDGE_PULSE = 4,
} chip_edge;

/// One selection of the chip by the host.
typedef struct chip_selection {
  uint64_t begin_ns;
  uint64_t end_ns;
  uint32_t length;
  uint32_t speed_hz;
  uint32_t mode;
  /// The longest pause after one of its transfers, in microseconds.
  uint32_t hold_us;
  /// The level of IRQ at the beginning.
  bool irq_was_high;
} chip_selection;

/// The functions that a model calls.
typedef struct chip_callbacks {
  void *_Nullable context;
  /// The chip has changed one of its lines.
  void (*changed)(void *_Nullable context, cuwb_line line, bool high, chip_edge edge);
  /// A vendor's kernel driver has bytes for the program that reads its device.
  void (*_Nullable offer)(void *_Nullable context, const uint8_t *bytes, size_t length);
} chip_callbacks;

typedef struct chip_model chip_model;

/// Creates a model: `sr150`, `sr250` and `qm35` on SPI, `srxxx` and `uci` behind a vendor's driver.
/// `starts_in_loader`: each time it is switched on. `faults`: the faults and their rates, such as
/// `double-pulse=3,hang=50`. Returns NULL if there is no such chip or fault.
chip_model *_Nullable chip_model_create(const char *kind, bool starts_in_loader,
                                        const char *faults, chip_callbacks callbacks);

/// Changes the lines that are due by `now_ns`, and offers packets that wait for it.
void chip_model_advance(chip_model *model, uint64_t now_ns);

/// Returns the time at which the model has to be advanced next; UINT64_MAX: at the next event.
uint64_t chip_model_due(const chip_model *model);

/// The firmware has a packet for the host. Advance the model after the last one.
void chip_model_say(chip_model *model, const uint8_t *bytes, size_t length);

/// The host has selected the chip and sent `out`. Copies the bytes that the chip sends at the same
/// time into `in`, which holds zeros.
void chip_model_selected(chip_model *model, const chip_selection *selection, const uint8_t *out,
                         uint8_t *in);

/// The host has set one of its lines.
void chip_model_driven(chip_model *model, cuwb_line line, bool high, uint64_t at_ns);

/// A program has written to the vendor's device.
void chip_model_written(chip_model *model, const uint8_t *bytes, size_t length);

/// A program has made a request to the vendor's device.
void chip_model_control(chip_model *model, uint32_t number, uint32_t value);

/// Removes the oldest packet from the host and copies it into `bytes`. Returns its length, 0 if
/// there is none.
size_t chip_model_take_packet(chip_model *model, uint8_t *bytes, size_t capacity);

/// Returns 1 if the firmware has started since the last call, 0 if the chip was switched off, -1 if
/// neither happened.
int chip_model_take_power_change(chip_model *model);

/// Returns the counts in one line, and one line for each violation. Valid until the next call.
const char *chip_model_ledger(chip_model *model);

/// Wraps a payload in the form of an SR2xx's boot loader (HDLL): `length` bytes between a header of
/// two bytes and a CRC. Returns the length of the whole frame.
size_t chip_hdll_frame(const uint8_t *payload, size_t length, uint8_t *frame);

#pragma clang assume_nonnull end

#endif
