// SPDX-License-Identifier: Apache-2.0
#ifndef CUWB_SCENARIO_H
#define CUWB_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct scenario {
  const char *name;
  void (*run)(void);
};

// Each table ends with a NULL name.
extern const struct scenario sr1xx_scenarios[];
extern const struct scenario sr1xx_fault_scenarios[];
extern const struct scenario sr2xx_scenarios[];
extern const struct scenario hsspi_scenarios[];
extern const struct scenario hsspi_fault_scenarios[];
extern const struct scenario nxp_driver_scenarios[];
extern const struct scenario packet_scenarios[];
extern const struct scenario loader_scenarios[];
extern const struct scenario thread_scenarios[];

// Keeps the first failure.
void scenario_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool scenario_has_failed(void);

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) scenario_fail(__FILE__, __LINE__, "%s", #condition);                         \
  } while (0)

#define CHECK_EQUAL(left, right)                                                                   \
  do {                                                                                             \
    long long is = (long long)(left), should = (long long)(right);                                 \
    if (is != should) scenario_fail(__FILE__, __LINE__, #left " is %lld, not %lld", is, should);   \
  } while (0)

// Makes a packet with `payload` bytes that depend on their position.
static inline uint32_t make_packet(uint8_t *bytes, uint8_t first, uint8_t second,
                                   uint32_t payload, uint8_t seed) {
  bool wide = first >> 5 == 0 || second & 0x80;
  bytes[0] = first;
  bytes[1] = second;
  bytes[2] = wide ? (uint8_t)payload : 0;
  bytes[3] = wide ? (uint8_t)(payload >> 8) : (uint8_t)payload;
  for (uint32_t i = 0; i < payload; i++) bytes[4 + i] = (uint8_t)(seed + i * 7 + (i >> 8));
  return 4 + payload;
}

#endif
