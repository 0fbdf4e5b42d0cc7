// SPDX-License-Identifier: Apache-2.0
//
// A chip on SPI: the bytes and levels between it and the host, apart from how Linux moves them.
//
// Each protocol in CUWB/spi is written against `cuwb_spi_bus` and nothing else. spi_linux.c
// implements it with spidev and the GPIO character device; Tests/ChipModels implements it with
// models of the chips and a clock of their own.
#ifndef CUWB_SPI_BUS_H
#define CUWB_SPI_BUS_H

#include "cuwb_chips.h"

#pragma clang assume_nonnull begin

/// A part of a transfer during one selection of the chip. Without `out` zeros are sent, without
/// `in` the received bytes are dropped. With a length of 0 the chip is only kept selected.
typedef struct cuwb_segment {
  const void *_Nullable out;
  void *_Nullable in;
  uint32_t length;
  /// The pause after this segment, in microseconds.
  uint16_t hold_us;
} cuwb_segment;

/// The kinds of edges that a line has had.
typedef struct cuwb_edges {
  bool rising;
  bool falling;
} cuwb_edges;

/// The bus and the lines of one chip. Every function returns 0 or an errno.
///
/// `wait` may be called by one thread while another thread is in any of the other functions, which
/// are never called at the same time.
typedef struct cuwb_spi_bus {
  void *_Nullable context;
  /// Bit n: the line n is connected.
  uint8_t lines;
  /// The greatest number of bytes that the kernel moves in one selection, all segments together.
  uint32_t longest;
  /// Selects the chip, moves the segments, deselects it.
  int (*transfer)(void *_Nullable context, const cuwb_segment *segments, uint32_t count);
  /// Sets the level of a line to the chip.
  int (*drive)(void *_Nullable context, cuwb_line line, bool high);
  /// Reads the level of a line from the chip.
  int (*sense)(void *_Nullable context, cuwb_line line, bool *high);
  /// Returns the edges of a line since the last call. Edges are latched, so that no pulse is too
  /// short to be seen.
  int (*edges)(void *_Nullable context, cuwb_line line, cuwb_edges *seen);
  /// Waits until a line in `lines` (bits) has an edge that `edges` has not returned yet, `wake_fd`
  /// (-1: none) is readable, or `now` has reached `until_ns`. Sets `*woken` to whether `wake_fd` is
  /// readable, where a pointer is given.
  int (*wait)(void *_Nullable context, uint8_t lines, int wake_fd, uint64_t until_ns,
              bool *_Nullable woken);
  /// The clock of `wait` and of `cuwb_frame.received_ns`.
  uint64_t (*now)(void *_Nullable context);
  /// Pauses for at least this time.
  void (*pause)(void *_Nullable context, uint64_t duration_ns);
  void (*close)(void *_Nullable context);
} cuwb_spi_bus;

/// Opens a link on a bus. On CUWB_OK the link owns the bus; on any other outcome the caller still
/// owns it. CUWB_INVALID: a line that `protocol` needs is not connected.
cuwb_result cuwb_open_spi_bus(cuwb_spi_bus bus, cuwb_spi_protocol protocol, cuwb_start start,
                              cuwb_link *_Nullable *_Nonnull link);

#pragma clang assume_nonnull end

#endif
