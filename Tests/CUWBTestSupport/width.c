// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

/// How many tests Swift Testing runs at a time, unless its option or the environment says another
/// number. Without a limit it starts all of them at once: what one waits for then stands behind a
/// thousand others, and time limits of the driver run out that have nothing to do with it.
__attribute__((constructor)) static void limit_parallel_tests(void) {
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "8", 0);
}
