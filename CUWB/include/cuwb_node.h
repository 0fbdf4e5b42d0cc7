// SPDX-License-Identifier: Apache-2.0
//
// The vendors' character devices, apart from how they are opened, so that a test can put a driver
// with its oddities behind them.
#ifndef CUWB_NODE_H
#define CUWB_NODE_H

#include <sys/types.h>

#include "cuwb_chips.h"

#pragma clang assume_nonnull begin

/// The calls that a device of NXP's kernel drivers understands.
typedef struct cuwb_node {
  void *_Nullable context;
  /// Like read(2): bytes, or a negative errno. Called by one thread of the link.
  ssize_t (*read)(void *_Nullable context, void *memory, size_t size);
  /// Like write(2): bytes, or a negative errno.
  ssize_t (*write)(void *_Nullable context, const void *bytes, size_t size);
  /// Like ioctl(2): 0 or an errno. The argument is passed by value. Any thread.
  int (*control)(void *_Nullable context, unsigned long request, unsigned long value);
  void (*close)(void *_Nullable context);
} cuwb_node;

/// Opens a link on a device. On CUWB_OK it owns the device; on any other outcome the caller still
/// does.
cuwb_result cuwb_open_node(cuwb_node node, cuwb_start start, cuwb_link *_Nullable *_Nonnull link);

/// Takes over a non-blocking descriptor on which each read and each write is one packet, as on the
/// devices of Qorvo's driver. On CUWB_OK the link owns the descriptor; on any other outcome the caller
/// still does.
cuwb_result cuwb_open_packets(int descriptor, cuwb_link *_Nullable *_Nonnull link);

#pragma clang assume_nonnull end

#endif
