// SPDX-License-Identifier: Apache-2.0
//
// Opening a link to a chip that is not at the end of a plain stream of bytes: on SPI, behind a
// vendor's kernel driver, behind the microcontroller of a board; and the loaders of such chips. The rest
// is as in cuwb.h.
#ifndef CUWB_CHIPS_H
#define CUWB_CHIPS_H

#include "cuwb.h"

#pragma clang assume_nonnull begin

// ------------------------------------------------------------------------------------------ SPI

/// What is spoken on the wires of a chip on SPI.
typedef enum cuwb_wired_protocol {
  /// NXP SR100T, SR150, SR160: CE, IRQ and RI.
  CUWB_WIRED_SR1XX = 0,
  /// NXP SR200T, SR250: RSTN and IRQ.
  CUWB_WIRED_SR2XX = 1,
  /// Qorvo QM35: HSSPI with SS_IRQ and SS_RDY.
  CUWB_WIRED_HSSPI = 2,
} cuwb_wired_protocol;

/// What becomes of the chip when it is opened.
typedef enum cuwb_start {
  /// It is switched on if it is off, and left alone otherwise.
  CUWB_START_KEEP = 0,
  /// It is switched off and on; an SR1xx has lost its firmware then.
  CUWB_START_CYCLE = 1,
} cuwb_start;

/// A chip on a spidev device, with its lines on GPIO character devices.
///
/// A line is named by its name (`GPIO24`), looked for on every GPIO chip, or by chip and offset
/// (`gpiochip0:24`, `/dev/gpiochip0:24`, `0:24`). NULL: not connected.
typedef struct cuwb_spi_options {
  cuwb_wired_protocol protocol;
  cuwb_start start;
  /// Hertz; 0: what the maker's driver uses, 16 MHz for NXP and 3 MHz for Qorvo.
  uint32_t speed_hz;
  /// NXP IRQ, Qorvo SS_IRQ.
  const char *_Nullable irq;
  /// Qorvo SS_RDY.
  const char *_Nullable ready;
  /// Qorvo EXTON.
  const char *_Nullable awake;
  /// NXP CE or RSTN, Qorvo RESET: low holds the chip off or in reset.
  const char *_Nullable power;
  /// NXP RI.
  const char *_Nullable read;
  /// Qorvo WAKEUP.
  const char *_Nullable wake;
} cuwb_spi_options;

/// What an open call was doing when it failed.
typedef enum cuwb_spi_step {
  /// Opening the spidev device, or locking it (EBUSY).
  CUWB_SPI_DEVICE = 0,
  /// Setting mode, word and clock. ENOTTY: it is no spidev device.
  CUWB_SPI_SETTINGS = 1,
  /// A line that the protocol needs was not given.
  CUWB_SPI_LINE_NEEDED = 2,
  /// Looking for a line. ENOENT: there is none of that name, or no such chip; ENOTUNIQ: several have
  /// the name; ERANGE: the chip has fewer lines.
  CUWB_SPI_LINE_LOOKUP = 3,
  /// Asking for a line. EBUSY: `consumer` has it.
  CUWB_SPI_LINE_REQUEST = 4,
  /// Starting the chip.
  CUWB_SPI_CHIP = 5,
} cuwb_spi_step;

/// More about an open call that failed.
typedef struct cuwb_spi_trouble {
  cuwb_spi_step step;
  /// For the steps about lines: the bit of the line, as in `cuwb_line` of cuwb_wires.h.
  uint32_t line;
  /// Who has the line, as it calls itself; empty where the kernel does not say.
  char consumer[32];
} cuwb_spi_trouble;

/// Opens a spidev device and its lines. The device is locked with flock.
cuwb_result cuwb_open_spi(const char *device, const cuwb_spi_options *options,
                          cuwb_link *_Nullable *_Nonnull link, cuwb_spi_trouble *trouble);

/// What spidev moves while a chip is selected (its module's parameter `bufsiz`): a longer packet
/// ends a read, or is refused by a write, with EMSGSIZE in `error`. 4096 unless it was raised; NXP's
/// longest packets have 4200 bytes.
uint32_t cuwb_spi_bufsiz(void);

// ---------------------------------------------------------------------- vendors' character devices

/// Opens a device of NXP's kernel drivers: /dev/srxxx, /dev/sr1xx, /dev/sr200. It is locked with
/// flock, as the drivers let any number of programs in. ENOTTY in `error`: it is no such device.
///
/// The drivers have no poll(2): a thread of the link reads, and is unblocked by the driver's own
/// request when the link is closed. The chip stays switched on then.
cuwb_result cuwb_open_srxxx(const char *path, cuwb_start start,
                            cuwb_link *_Nullable *_Nonnull link);

/// States of a QM35 behind Qorvo's kernel driver.
typedef enum cuwb_uci_state {
  CUWB_UCI_UNKNOWN = 0x00,
  CUWB_UCI_OFF = 0x01,
  CUWB_UCI_IN_RESET = 0x02,
  /// The firmware has failed and its memory is being saved.
  CUWB_UCI_COREDUMP = 0x04,
  CUWB_UCI_READY = 0x08,
  CUWB_UCI_LOADING_FIRMWARE = 0x10,
  CUWB_UCI_RUNNING = 0x20,
} cuwb_uci_state;

/// Opens a device of Qorvo's kernel driver: /dev/uci, /dev/uci0. EBUSY in `error`: somebody else has
/// it, or the driver saves the memory of a firmware that failed or loads another one; `state` tells.
cuwb_result cuwb_open_uci(const char *path, cuwb_start start, cuwb_link *_Nullable *_Nonnull link,
                          uint32_t *state);

// -------------------------------------------------------------------------------- NXP's USB boards

/// An NXP board whose microcontroller passes UCI on over USB.
typedef struct cuwb_bridge_options {
  /// 3000000 with `rts_cts` is what NXP's own tools set.
  cuwb_serial_options serial;
  /// Resets the chip behind it.
  cuwb_start start;
  /// An SR2xx, which starts in its loader and has to be told to leave it.
  bool leaves_loader;
} cuwb_bridge_options;

/// Opens such a board. CUWB_NO_ANSWER: it does not answer the reset as NXP's firmware for it does.
cuwb_result cuwb_open_bridge(const char *path, cuwb_bridge_options options,
                             cuwb_link *_Nullable *_Nonnull link);

// ------------------------------------------------------------------------- the loader of a chip

/// Switches the chip off and on and into its loader, where the link has one: an NXP chip on SPI or
/// behind NXP's kernel driver. Before the first `cuwb_read_frame`. CUWB_INVALID: it has none.
cuwb_result cuwb_boot_begin(cuwb_link *link);

/// Sends bytes as they are, in one selection of the chip.
cuwb_result cuwb_boot_write(cuwb_link *link, const void *bytes, size_t length);

/// Reads exactly so many bytes in one selection, once the chip offers something. `timeout_ms` 0: it
/// has done so already, and these are the rest.
cuwb_result cuwb_boot_read(cuwb_link *link, void *memory, size_t length, int32_t timeout_ms);

/// The firmware runs; frames from here on.
cuwb_result cuwb_boot_end(cuwb_link *link);

#pragma clang assume_nonnull end

#endif
