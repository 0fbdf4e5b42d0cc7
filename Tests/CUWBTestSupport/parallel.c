// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/// Limits the number of tests that run at once, unless the environment or an option does. Swift
/// Testing starts all of them together, and on a machine with two processors chips and programs
/// then wait for seconds: longer than the time limits that are tested. It reads the variable when
/// it starts, so this runs before.
__attribute__((constructor)) static void limit_parallel_tests(void)
{
    char width[16];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(width, sizeof width, "%ld", 4 * (processors > 0 ? processors : 1));
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, 0);
}
