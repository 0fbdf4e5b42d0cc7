// SPDX-License-Identifier: Apache-2.0
//
// Finds frames in a byte stream, without a descriptor and without a clock: the caller passes bytes
// and times. The stream links use it, and so can a program that replays a capture.
//
// UCI on a serial line has no start marker, no checksum and no sequence number. Only three
// properties help: headers have a recognisable form, another frame or a silence follows a frame,
// and a chip never pauses for long inside a frame. CUWB/framing/framer.c describes their use.
#ifndef CUWB_FRAMER_H
#define CUWB_FRAMER_H

#include "cuwb.h"

#pragma clang assume_nonnull begin

typedef struct cuwb_framer cuwb_framer;

/// A frame in the framer's memory, valid until the next call other than `cuwb_framer_find`.
typedef struct cuwb_found {
  const uint8_t *_Nullable bytes;
  cuwb_frame frame;
} cuwb_found;

/// Creates a framer that has been listening since `now_ns`. Returns NULL if there is no memory.
cuwb_framer *_Nullable cuwb_framer_create(cuwb_framing framing, uint64_t now_ns);

void cuwb_framer_destroy(cuwb_framer *_Nullable framer);

/// Replaces the rules, also for bytes that are already buffered.
void cuwb_framer_set_framing(cuwb_framer *framer, cuwb_framing framing);

/// Returns memory for the next bytes, and its size in *room: never 0 after `cuwb_framer_find` has
/// returned false.
uint8_t *cuwb_framer_room(cuwb_framer *framer, size_t *room);

/// Announces that `count` bytes were written into the memory of `cuwb_framer_room`.
void cuwb_framer_arrived(cuwb_framer *framer, size_t count, uint64_t now_ns);

/// Announces that there was nothing to read at `now_ns`. Only this counts as silence, because bytes
/// may wait in the kernel while the caller does not read.
void cuwb_framer_quiet(cuwb_framer *framer, uint64_t now_ns);

/// Announces that nothing will follow, which counts as a silence of any length.
void cuwb_framer_ended(cuwb_framer *framer);

/// Returns whether there is a frame. It stays there until `cuwb_framer_take`.
bool cuwb_framer_find(cuwb_framer *framer, cuwb_found *found);

/// Removes the frame that `cuwb_framer_find` has just returned.
void cuwb_framer_take(cuwb_framer *framer);

/// Returns the time at which a silence would decide something; UINT64_MAX if only more bytes can.
uint64_t cuwb_framer_deadline(const cuwb_framer *framer);

/// Returns the time of the last bytes, or of the start.
uint64_t cuwb_framer_arrival(const cuwb_framer *framer);

/// Returns the silence, in nanoseconds, after which an incomplete frame is given up.
uint64_t cuwb_framer_gap(const cuwb_framer *framer);

/// Returns the number of skipped bytes. Callable from any thread.
uint64_t cuwb_framer_skipped(const cuwb_framer *framer);

/// Returns the number of times that the boundary between frames was lost. Callable from any thread.
uint64_t cuwb_framer_resynchronisations(const cuwb_framer *framer);

#pragma clang assume_nonnull end

#endif
