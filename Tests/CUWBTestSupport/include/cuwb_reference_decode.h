// SPDX-License-Identifier: Apache-2.0
//
// The work of a careful C program for a SESSION_INFO_NTF of two-way measurements: the reference for
// the reader in Swift.
#ifndef CUWB_REFERENCE_DECODE_H
#define CUWB_REFERENCE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cuwb_reference_angle {
  int16_t raw;
  uint8_t figure_of_merit;
} cuwb_reference_angle;

typedef struct cuwb_reference_measurement {
  uint64_t address;
  bool extended;
  uint8_t status;
  uint8_t line_of_sight;
  uint16_t distance;
  cuwb_reference_angle azimuth;
  cuwb_reference_angle elevation;
  cuwb_reference_angle destination_azimuth;
  cuwb_reference_angle destination_elevation;
  uint8_t slot_index;
  uint8_t rssi;
} cuwb_reference_measurement;

typedef struct cuwb_reference_session_info {
  uint32_t sequence_number;
  uint32_t session_token;
  uint32_t interval_ms;
  uint8_t type;
  uint8_t count;
  bool extended;
} cuwb_reference_session_info;

/// Reads every field of one whole frame, including its header, and returns their sum; 0 if the
/// frame is not a complete SESSION_INFO_NTF. `sequence_number` may be NULL.
uint64_t cuwb_reference_decode(const uint8_t *frame, size_t length, uint32_t *sequence_number);

/// Reads `rounds` times `count` frames of `length` bytes that lie `stride` bytes apart, and returns
/// the sum.
uint64_t cuwb_reference_decode_all(const uint8_t *frames, size_t length, size_t stride,
                                   size_t count, size_t rounds);

#endif
