// SPDX-License-Identifier: Apache-2.0
//
// A pseudo-terminal as the line between a chip and its host, and the simplest reader of a C program
// at its end: the lower bound for the path from the line to the fields.
#ifndef CUWB_REFERENCE_LINE_H
#define CUWB_REFERENCE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Both ends of a pseudo-terminal, and the path of the slave.
typedef struct cuwb_test_terminal {
  int master;
  int slave;
  char path[64];
} cuwb_test_terminal;

/// Opens a pseudo-terminal with the kernel's default settings. Returns false, with `errno` set, if
/// there is none.
bool cuwb_test_open_terminal(cuwb_test_terminal *terminal);

/// Opens a raw pseudo-terminal: `chip` is the master, `host` the slave. Returns false, with `errno`
/// set, if there is none.
bool cuwb_test_open_line(int *chip, int *host);

typedef struct cuwb_reference_reader cuwb_reference_reader;

/// The system calls of a reader for each frame.
enum cuwb_reference_wait {
  /// A read(2) that blocks. Only a signal can cancel it.
  CUWB_REFERENCE_READ,
  /// ppoll(2) for the line and an event descriptor, then read(2): it can be cancelled, and may have
  /// a deadline.
  CUWB_REFERENCE_POLL,
  /// One io_uring_enter(2), which submits the read and waits for it or an event descriptor.
  CUWB_REFERENCE_URING,
};

/// Whether the kernel has io_uring and permits its use.
bool cuwb_reference_has_uring(void);

/// Starts a thread that waits for bytes from `host`, cuts frames out of them, reads all their
/// fields, and writes the time to `arrived` at the index of the frame's sequence number. Frames
/// with a number of `capacity` or more are only counted. Ends when the chip's end is closed.
cuwb_reference_reader *cuwb_reference_reader_start(int host, enum cuwb_reference_wait wait,
                                                   uint64_t *arrived, size_t capacity);

/// Starts a thread for the hand-over alone. After each read(2) it takes the time, cuts the frame
/// out, copies it and passes it to a function, which takes the time again. The times are in the
/// order of arrival.
cuwb_reference_reader *cuwb_reference_hand_over_start(int host, uint64_t *received,
                                                      uint64_t *entered, size_t capacity);

/// Returns the frames read so far. Callable from any thread.
size_t cuwb_reference_reader_count(const cuwb_reference_reader *reader);

/// Waits for the thread to end, which happens after the chip's end is closed. Closes `host`.
void cuwb_reference_reader_join(cuwb_reference_reader *reader);

#endif
