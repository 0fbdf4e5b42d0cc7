// SPDX-License-Identifier: Apache-2.0
//
// Finding frames in a stream of bytes, without a descriptor and without a clock: whoever feeds it
// says what arrived when. The stream links use it; so can a program that replays a capture.
//
// UCI on a serial line has no start marker, no checksum and no sequence number. All there is to
// go by is that headers look like headers, that a frame is followed by another one or by silence,
// and that a chip never pauses for long inside a frame. See framing.c for how that is used.
#ifndef CUWB_FRAMER_H
#define CUWB_FRAMER_H

#include "cuwb.h"

#pragma clang assume_nonnull begin

typedef struct cuwb_framer cuwb_framer;

/// A frame as it lies in the framer's memory, valid until the next call that is not
/// `cuwb_framer_find`.
typedef struct cuwb_found {
  const uint8_t *_Nullable bytes;
  cuwb_frame frame;
} cuwb_found;

/// `now_ns` is when listening began. NULL when there is no memory.
cuwb_framer *_Nullable cuwb_framer_create(cuwb_framing framing, uint64_t now_ns);

void cuwb_framer_destroy(cuwb_framer *_Nullable framer);

/// Replaces the rules; what is buffered is judged by the new ones.
void cuwb_framer_set_framing(cuwb_framer *framer, cuwb_framing framing);

/// Memory for what arrives next, and how much there is of it: never 0 once
/// `cuwb_framer_find` has returned false.
uint8_t *cuwb_framer_room(cuwb_framer *framer, size_t *room);

/// `count` bytes were put into the memory given by `cuwb_framer_room`.
void cuwb_framer_arrived(cuwb_framer *framer, size_t count, uint64_t now_ns);

/// There was nothing to read at `now_ns`. Only this counts as silence: bytes that wait in the
/// kernel while nobody reads do not.
void cuwb_framer_quiet(cuwb_framer *framer, uint64_t now_ns);

/// No byte will ever follow: as good as any silence.
void cuwb_framer_ended(cuwb_framer *framer);

/// Whether there is a frame at the head; it stays there until `cuwb_framer_take`.
bool cuwb_framer_find(cuwb_framer *framer, cuwb_found *found);

/// Removes the frame that `cuwb_framer_find` has just returned.
void cuwb_framer_take(cuwb_framer *framer);

/// When silence would decide something; UINT64_MAX if only bytes can.
uint64_t cuwb_framer_deadline(const cuwb_framer *framer);

/// When bytes arrived last; before that, when listening began.
uint64_t cuwb_framer_arrival(const cuwb_framer *framer);

/// The silence, in nanoseconds, after which nothing incomplete will be completed.
uint64_t cuwb_framer_gap(const cuwb_framer *framer);

/// Bytes thrown away so far.
uint64_t cuwb_framer_skipped(const cuwb_framer *framer);

/// How often the boundary between frames was lost so far.
uint64_t cuwb_framer_resynchronisations(const cuwb_framer *framer);

#pragma clang assume_nonnull end

#endif
