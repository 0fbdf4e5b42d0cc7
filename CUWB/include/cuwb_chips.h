// SPDX-License-Identifier: Apache-2.0
//
// Opens a link to a chip that is not at the end of a plain byte stream: on SPI, behind a vendor's
// kernel driver, or behind the microcontroller of a board. Also the boot loaders of such chips. The
// rest is as in cuwb.h.
#ifndef CUWB_CHIPS_H
#define CUWB_CHIPS_H

#include "cuwb.h"

#pragma clang assume_nonnull begin

// ------------------------------------------------------------------------------------------ SPI

/// The protocol of a chip on SPI.
typedef enum cuwb_spi_protocol {
  /// NXP SR100T, SR150, SR160: CE, IRQ and RI.
  CUWB_SPI_SR1XX = 0,
  /// NXP SR200T, SR250: RSTN and IRQ.
  CUWB_SPI_SR2XX = 1,
  /// Qorvo QM35: HSSPI with SS_IRQ and SS_RDY.
  CUWB_SPI_HSSPI = 2,
} cuwb_spi_protocol;

/// The action on the chip when it is opened.
typedef enum cuwb_start {
  /// The chip is switched on if it is off, and not changed otherwise.
  CUWB_START_KEEP = 0,
  /// The chip is switched off and on; an SR1xx then needs its firmware again.
  CUWB_START_CYCLE = 1,
} cuwb_start;

/// The lines beside SPI, by their purpose.
typedef enum cuwb_line {
  /// From the chip: it has a packet. NXP IRQ, Qorvo SS_IRQ.
  CUWB_LINE_IRQ = 0,
  /// From the chip: it can take part in a transfer. Qorvo SS_RDY.
  CUWB_LINE_READY = 1,
  /// From the chip: it is not asleep. Qorvo EXTON.
  CUWB_LINE_AWAKE = 2,
  /// To the chip: low holds it off or in reset. NXP CE (SR1xx), RSTN (SR2xx), Qorvo RESET.
  CUWB_LINE_POWER = 3,
  /// To the chip: the host is about to read. NXP RI, also called the SPI handshake (SR1xx).
  CUWB_LINE_READ = 4,
  /// To the chip: high wakes it. Qorvo WAKEUP.
  CUWB_LINE_WAKE = 5,
} cuwb_line;

#define CUWB_LINES 6

/// A chip on a spidev device, with its lines on GPIO character devices.
///
/// A line is given by its name (`GPIO24`), which is looked up on every GPIO chip, or by chip and
/// offset (`gpiochip0:24`, `/dev/gpiochip0:24`, `0:24`). NULL: not connected.
typedef struct cuwb_spi_options {
  cuwb_spi_protocol protocol;
  cuwb_start start;
  /// The clock in hertz; 0: the clock of the vendor's driver, 16 MHz for NXP and 3 MHz for Qorvo.
  uint32_t speed_hz;
  /// The names of the lines, by their `cuwb_line`; null for a line that is not connected.
  const char *_Nullable lines[CUWB_LINES];
} cuwb_spi_options;

/// The step at which an open call failed.
typedef enum cuwb_spi_step {
  /// Opening the spidev device, or locking it (EBUSY).
  CUWB_SPI_DEVICE = 0,
  /// Setting mode, word size and clock. ENOTTY: not a spidev device.
  CUWB_SPI_SETTINGS = 1,
  /// Checking that every line the protocol needs was given.
  CUWB_SPI_LINE_NEEDED = 2,
  /// Looking up a line. ENOENT: no line has that name, or there is no such GPIO chip; ENOTUNIQ:
  /// several lines have that name; ERANGE: the GPIO chip has fewer lines.
  CUWB_SPI_LINE_LOOKUP = 3,
  /// Requesting a line. EBUSY: `consumer` uses it.
  CUWB_SPI_LINE_REQUEST = 4,
  /// Starting the chip.
  CUWB_SPI_CHIP = 5,
} cuwb_spi_step;

/// More about an open call that failed.
typedef struct cuwb_spi_error_info {
  cuwb_spi_step step;
  /// For the steps about lines: a `cuwb_line`.
  uint32_t line;
  /// The name of the line's consumer; empty if the kernel does not report it.
  char consumer[32];
} cuwb_spi_error_info;

/// Opens a spidev device and its lines. The device is locked with flock.
cuwb_result cuwb_open_spi(const char *device, const cuwb_spi_options *options,
                          cuwb_link *_Nullable *_Nonnull link, cuwb_spi_error_info *info);

/// Returns the greatest number of bytes that spidev moves in one selection (`bufsiz`, a parameter
/// of its module; 4096 by default). A longer packet fails with EMSGSIZE in `error`. NXP's longest
/// packets have 4200 bytes.
uint32_t cuwb_spi_bufsiz(void);

/// Requests a GPIO line for a signal to the outside, independent of any chip. `line` is as in
/// `cuwb_spi_options`, `high` is its level from the start. Returns 0 or an errno as described at
/// `cuwb_spi_step`; `info->step` and `info->consumer` have the details. Closing *descriptor
/// releases the line, which keeps its level on most GPIO chips.
int cuwb_output_open(const char *line, bool high, int *descriptor, cuwb_spi_error_info *info);

/// Sets the level of a line that was opened with `cuwb_output_open`. Returns 0 or an errno.
int cuwb_output_set(int descriptor, bool high);

// ---------------------------------------------------------------------- vendors' character devices

/// Opens a device of NXP's kernel drivers: /dev/srxxx, /dev/sr1xx, /dev/sr200. It is locked with
/// flock, because the drivers admit any number of programs. ENOTTY in `error`: not such a device.
///
/// The drivers have no poll(2), so a thread of the link reads. Closing the link unblocks it with
/// the driver's own request, and keeps the chip switched on.
cuwb_result cuwb_open_srxxx(const char *path, cuwb_start start,
                            cuwb_link *_Nullable *_Nonnull link);

/// States of a QM35 behind Qorvo's kernel driver.
typedef enum cuwb_qm35_state {
  CUWB_QM35_UNKNOWN = 0x00,
  CUWB_QM35_OFF = 0x01,
  CUWB_QM35_IN_RESET = 0x02,
  /// The firmware has crashed and its memory is being saved.
  CUWB_QM35_COREDUMP = 0x04,
  CUWB_QM35_READY = 0x08,
  CUWB_QM35_LOADING_FIRMWARE = 0x10,
  CUWB_QM35_RUNNING = 0x20,
} cuwb_qm35_state;

/// Opens a device of Qorvo's kernel driver: /dev/uci, /dev/uci0. EBUSY in `error`: another program
/// has it open, or the driver is saving the memory of a crashed firmware or loading another one,
/// according to `state`.
cuwb_result cuwb_open_qm35(const char *path, cuwb_start start, cuwb_link *_Nullable *_Nonnull link,
                          uint32_t *state);

// -------------------------------------------------------------------------------- NXP's USB boards

/// An NXP board whose microcontroller forwards UCI over USB.
typedef struct cuwb_bridge_options {
  /// NXP's own tools set 3000000 with `rts_cts`.
  cuwb_serial_options serial;
  /// CUWB_START_CYCLE resets the chip behind the microcontroller.
  cuwb_start start;
  /// The chip is an SR2xx, which starts in its boot loader until the host starts the firmware.
  bool leaves_loader;
} cuwb_bridge_options;

/// Opens such a board. CUWB_NO_ANSWER: it does not answer the reset in the form of NXP's firmware.
cuwb_result cuwb_open_bridge(const char *path, cuwb_bridge_options options,
                             cuwb_link *_Nullable *_Nonnull link);

// ------------------------------------------------------------------------------------ boot loader

/// Switches the chip off and on, and into its boot loader. Only for an NXP chip on SPI or behind
/// NXP's kernel driver (CUWB_INVALID otherwise), and only before the first `cuwb_read_frame`.
cuwb_result cuwb_boot_begin(cuwb_link *link);

/// Sends bytes unchanged, in one selection of the chip.
cuwb_result cuwb_boot_write(cuwb_link *link, const void *bytes, size_t length);

/// Waits until the chip has an answer and reads exactly `length` bytes in one selection. A
/// `timeout_ms` of 0 reads further bytes of the same answer, without waiting.
cuwb_result cuwb_boot_read(cuwb_link *link, void *memory, size_t length, int32_t timeout_ms);

/// Ends loading: the firmware runs, and the link carries frames from now on.
cuwb_result cuwb_boot_end(cuwb_link *link);

#pragma clang assume_nonnull end

#endif
