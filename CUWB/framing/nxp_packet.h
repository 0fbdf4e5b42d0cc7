// SPDX-License-Identifier: Apache-2.0
//
// The common properties of NXP's two chip families below UCI.
#ifndef CUWB_NXP_PACKET_H
#define CUWB_NXP_PACKET_H

#include <stdbool.h>
#include <stdint.h>

// The longest packet that NXP's drivers read, in bytes. Source: sr1xx.c (NXP/uwb-driver-testapp).
#define CUWB_NXP_PACKET_MAX 4200

// Returns the number of bytes after a four-byte header: data packets, and control packets with
// bit 7 of byte 1 set, have a 16-bit little-endian length. Source: sr1xx.c, and the SR2xx transport
// of nxp-uwb/sr250-uwbiot-zephyr.
static inline uint32_t cuwb_nxp_payload_length(const uint8_t *header) {
  bool wide = header[0] >> 5 == 0 || header[1] & 0x80;
  return wide ? header[2] | (uint32_t)header[3] << 8 : header[3];
}

// Returns whether a header has the bytes of an idle bus, before the chip has reported its state.
static inline bool cuwb_nxp_is_junk(const uint8_t *header) {
  return header[0] == 0xFF || (header[0] == 0 && header[3] == 0 && header[2] == 0);
}

// Returns whether a packet is CORE_DEVICE_STATUS_NTF, the first one after the chip is switched on.
static inline bool cuwb_nxp_is_device_status(const uint8_t *header) {
  return header[0] == 0x60 && header[1] == 0x01;
}

#endif
