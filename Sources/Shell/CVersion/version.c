// SPDX-License-Identifier: Apache-2.0
#include "CVersion.h"

const char *cversion_number(void) { return "0.1.0"; }

const char *cversion_commit(void) { return UWB_COMMIT; }
