// SPDX-License-Identifier: Apache-2.0
//
// The vendors' character devices, separate from opening them, so that a test can replace them by a
// model of a driver.
#ifndef CUWB_CHARDEV_H
#define CUWB_CHARDEV_H

#include <sys/types.h>

#include "cuwb_chips.h"

#pragma clang assume_nonnull begin

/// The system calls on a device of NXP's kernel drivers.
typedef struct cuwb_chardev_ops {
  void *_Nullable context;
  /// Like read(2), but returns a negative errno on failure. Called by one thread of the link.
  ssize_t (*read)(void *_Nullable context, void *memory, size_t size);
  /// Like write(2), but returns a negative errno on failure.
  ssize_t (*write)(void *_Nullable context, const void *bytes, size_t size);
  /// Like ioctl(2) with an argument passed by value, but returns 0 or an errno. Called by any
  /// thread.
  int (*control)(void *_Nullable context, unsigned long request, unsigned long value);
  void (*close)(void *_Nullable context);
} cuwb_chardev_ops;

/// Opens a link on a device of NXP's kernel drivers. On CUWB_OK the link owns the device; on any
/// other outcome the caller still owns it.
cuwb_result cuwb_open_chardev(cuwb_chardev_ops ops, cuwb_start start,
                              cuwb_link *_Nullable *_Nonnull link);

/// Takes over a non-blocking descriptor on which each read and each write is one packet, as on the
/// devices of Qorvo's driver. On CUWB_OK the link owns the descriptor; on any other outcome the
/// caller still owns it.
cuwb_result cuwb_open_packets(int descriptor, cuwb_link *_Nullable *_Nonnull link);

#pragma clang assume_nonnull end

#endif
