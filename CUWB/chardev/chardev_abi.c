// SPDX-License-Identifier: Apache-2.0
//
// No code: checks at compile time that the request numbers are those of the vendors' drivers on
// every architecture. Values: the sources named in ioctl_requests.h.
#include "ioctl_requests.h"

#define IS(expression, value) _Static_assert((expression) == (value), #expression)

IS(SRXXX_SET_PWR, 0x4004EA01);
IS(SRXXX_SET_FWD, 0x4004EA02);
#if __SIZEOF_LONG__ == 8
IS(SRXXX_SET_PWR_LONG, 0x4008EA01);
IS(SRXXX_SET_FWD_LONG, 0x4008EA02);
#endif

IS(QM35_RESET, 0x80045501);
IS(QM35_GET_STATE, 0x80045502);
IS(QM35_FW_UPLOAD, 0x80045503);
IS(QM35_POWER, 0x40045504);
