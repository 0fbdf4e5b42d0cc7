// SPDX-License-Identifier: Apache-2.0
#ifndef CUWB_TEST_SUPPORT_H
#define CUWB_TEST_SUPPORT_H
#endif
