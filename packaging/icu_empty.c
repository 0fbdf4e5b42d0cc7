// SPDX-License-Identifier: Apache-2.0
//
// Foundation brings 34 MB of ICU's data on languages, calendars and time zones into a program that is
// linked statically. uwbctl prints numbers and English only: this empty package is
// used in place of the data (--wrap=icudt76_dat), so that the linker leaves the data out, and ICU
// answers every question with "missing".
// The layout is that of ICU's own empty package (source/stubdata/stubdata.cpp).
#include <stdint.h>

struct package {
  uint16_t header_size;
  uint8_t magic[2];
  uint16_t info_size, reserved;
  uint8_t is_big_endian, charset, size_of_uchar, reserved_byte;
  uint8_t format[4], format_version[4], data_version[4];
  uint8_t padding[8];
  uint32_t entries, end;
};

_Alignas(16) const struct package __wrap_icudt76_dat = {
    .header_size = 32,
    .magic = {0xDA, 0x27},
    .info_size = 20,
    .size_of_uchar = 2,
    .format = {'T', 'o', 'C', 'P'},
    .format_version = {1},
};
