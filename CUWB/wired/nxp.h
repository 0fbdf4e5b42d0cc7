// SPDX-License-Identifier: Apache-2.0
//
// What NXP's two families have in common.
#ifndef CUWB_WIRED_NXP_H
#define CUWB_WIRED_NXP_H

#include "wired.h"

// The longest packet that NXP's drivers read is 4200 bytes. Source: sr1xx.c (NXP/uwb-driver-testapp).
#define NXP_PACKET_MAX 4200

// Bytes behind a header. Source: the same, and the SR2xx transport of sr250-uwbiot-zephyr: data
// and whatever has bit 7 of byte 1 set have a 16-bit little-endian length.
static inline uint32_t nxp_payload_length(const uint8_t *header) {
  bool wide = header[0] >> 5 == 0 || header[1] & 0x80;
  return wide ? header[2] | (uint32_t)header[3] << 8 : header[3];
}

// Bytes that no chip means: what an idle bus reads as, before the first state after switching on.
static inline bool nxp_is_junk(const uint8_t *header) {
  return header[0] == 0xFF || (header[0] == 0 && header[3] == 0 && header[2] == 0);
}

// CORE_DEVICE_STATUS_NTF, the first thing that a chip says.
static inline bool nxp_is_device_status(const uint8_t *header) {
  return header[0] == 0x60 && header[1] == 0x01;
}

#endif
