// SPDX-License-Identifier: Apache-2.0
#include "cuwb_reference_decode.h"

#include <string.h>

#define HEADER 4
#define SESSION_INFO_HEADER 25
#define MEASUREMENT 31
#define TWO_WAY 1

static inline uint16_t u16(const uint8_t *p) {
  uint16_t value;
  memcpy(&value, p, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap16(value);
#endif
  return value;
}

static inline uint32_t u32(const uint8_t *p) {
  uint32_t value;
  memcpy(&value, p, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap32(value);
#endif
  return value;
}

static inline uint64_t u64(const uint8_t *p) {
  return (uint64_t)u32(p) | (uint64_t)u32(p + 4) << 32;
}

static inline cuwb_reference_angle angle(const uint8_t *p) {
  return (cuwb_reference_angle){(int16_t)u16(p), p[2]};
}

static inline bool read_info(const uint8_t *frame, size_t length,
                             cuwb_reference_session_info *info) {
  if (length < HEADER + SESSION_INFO_HEADER) return false;
  // A whole notification of group 2 with opcode 0, whose length agrees with its header.
  size_t payload = frame[1] & 0x80 ? u16(frame + 2) : frame[3];
  if (frame[0] != 0x62 || (frame[1] & 0x3F) != 0 || HEADER + payload > length) return false;
  const uint8_t *p = frame + HEADER;
  info->sequence_number = u32(p);
  info->session_token = u32(p + 4);
  info->interval_ms = u32(p + 9);
  info->type = p[13];
  info->extended = p[15] != 0;
  info->count = p[24];
  return info->type == TWO_WAY &&
         payload >= SESSION_INFO_HEADER + (size_t)info->count * MEASUREMENT;
}

static inline void read_measurement(const uint8_t *p, bool extended,
                                    cuwb_reference_measurement *m) {
  m->extended = extended;
  m->address = extended ? u64(p) : u16(p);
  p += extended ? 8 : 2;
  m->status = p[0];
  m->line_of_sight = p[1];
  m->distance = u16(p + 2);
  m->azimuth = angle(p + 4);
  m->elevation = angle(p + 7);
  m->destination_azimuth = angle(p + 10);
  m->destination_elevation = angle(p + 13);
  m->slot_index = p[16];
  m->rssi = p[17];
}

static inline uint64_t sum_of_angle(cuwb_reference_angle a) {
  return (uint64_t)(int64_t)a.raw + a.figure_of_merit;
}

static inline uint64_t sum_of(const cuwb_reference_measurement *m) {
  return m->address + m->extended + m->status + m->line_of_sight + m->distance +
         sum_of_angle(m->azimuth) + sum_of_angle(m->elevation) +
         sum_of_angle(m->destination_azimuth) + sum_of_angle(m->destination_elevation) +
         m->slot_index + m->rssi;
}

static inline uint64_t decode(const uint8_t *frame, size_t length, uint32_t *sequence_number) {
  cuwb_reference_session_info info;
  if (!read_info(frame, length, &info)) return 0;
  if (sequence_number) *sequence_number = info.sequence_number;
  uint64_t sum = (uint64_t)info.sequence_number + info.session_token + info.interval_ms + info.type;
  const uint8_t *p = frame + HEADER + SESSION_INFO_HEADER;
  for (unsigned index = 0; index < info.count; index++, p += MEASUREMENT) {
    cuwb_reference_measurement measurement;
    read_measurement(p, info.extended, &measurement);
    sum += sum_of(&measurement);
  }
  return sum;
}

uint64_t cuwb_reference_decode(const uint8_t *frame, size_t length, uint32_t *sequence_number) {
  return decode(frame, length, sequence_number);
}

__attribute__((noinline)) uint64_t cuwb_reference_decode_all(const uint8_t *frames, size_t length,
                                                             size_t stride, size_t count,
                                                             size_t rounds) {
  uint64_t sum = 0;
  for (size_t round = 0; round < rounds; round++) {
    for (size_t index = 0; index < count; index++) {
      sum += decode(frames + index * stride, length, NULL);
    }
  }
  return sum;
}
