// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

// Lets Swift Testing run more test cases at the same time. Since 6.3 its limit is two for each
// processor, so that a few tests that wait for other programs stop all other tests. The limit is
// read when the tests start. A value of the environment is kept.
__attribute__((constructor)) static void widen(void) {
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "16", 0);
}
