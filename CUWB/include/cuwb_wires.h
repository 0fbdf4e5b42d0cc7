// SPDX-License-Identifier: Apache-2.0
//
// A chip on SPI: the bytes and levels between it and the host, apart from how Linux moves them.
//
// What a chip expects on its wires is in CUWB/wired, one file for each protocol, written against
// `cuwb_wires` and nothing else. CUWB/wired/linux.c puts spidev and the GPIO character device
// behind it; a test puts a scripted chip with a clock of its own behind it.
#ifndef CUWB_WIRES_H
#define CUWB_WIRES_H

#include "cuwb_chips.h"

#pragma clang assume_nonnull begin

/// The lines beside SPI, by what they are for.
typedef enum cuwb_line {
  /// From the chip: it has something to say. NXP IRQ, Qorvo SS_IRQ.
  CUWB_LINE_IRQ = 0,
  /// From the chip: it takes part in a transfer. Qorvo SS_RDY.
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

/// A part of what goes over the bus while the chip is selected. Without `out` zeros are sent,
/// without `in` what comes is dropped. With a length of 0 the chip is only kept selected.
typedef struct cuwb_segment {
  const void *_Nullable out;
  void *_Nullable in;
  uint32_t length;
  /// Microseconds before whatever follows.
  uint16_t hold_us;
} cuwb_segment;

/// Which edges a line has had.
typedef struct cuwb_edges {
  bool rising;
  bool falling;
} cuwb_edges;

/// The wires to one chip. Every function returns 0 or an errno.
///
/// `wait` may be called by one thread while another one is in any of the others; those are never
/// called at the same time.
typedef struct cuwb_wires {
  void *_Nullable context;
  /// Bit n: the line n is connected.
  uint8_t lines;
  /// Bytes of the longest selection that the kernel moves, all segments together.
  uint32_t longest;
  /// Selects the chip, moves the segments, deselects it.
  int (*transfer)(void *_Nullable context, const cuwb_segment *segments, uint32_t count);
  /// Sets a line to the chip.
  int (*drive)(void *_Nullable context, cuwb_line line, bool high);
  /// The level of a line from the chip.
  int (*sense)(void *_Nullable context, cuwb_line line, bool *high);
  /// The edges of a line since the last call. They are latched: none is too short.
  int (*edges)(void *_Nullable context, cuwb_line line, cuwb_edges *seen);
  /// Waits until a line in `lines` (bits) has an edge that `edges` has not returned yet,
  /// `wake_fd` (-1: none) is readable, or `now` has reached `until_ns`.
  int (*wait)(void *_Nullable context, uint8_t lines, int wake_fd, uint64_t until_ns);
  /// The clock of `wait` and of `cuwb_frame.received_ns`.
  uint64_t (*now)(void *_Nullable context);
  /// At least so long.
  void (*pause)(void *_Nullable context, uint64_t duration_ns);
  void (*close)(void *_Nullable context);
} cuwb_wires;

/// Opens a link on wires. On CUWB_OK it owns them; on any other outcome the caller still does.
/// Lines that `protocol` cannot do without have to be connected (CUWB_INVALID).
cuwb_result cuwb_open_wires(cuwb_wires wires, cuwb_wired_protocol protocol, cuwb_start start,
                            cuwb_link *_Nullable *_Nonnull link);

#pragma clang assume_nonnull end

#endif
