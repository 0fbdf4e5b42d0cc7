// SPDX-License-Identifier: Apache-2.0
#ifndef CUWB_SPAWN_H
#define CUWB_SPAWN_H

#include <sys/types.h>

/// Starts a program that has the default action for each signal, blocks none, leads a process
/// group, and inherits only the three given descriptors, each of them -1 for the caller's own.
/// Returns 0 or an errno.
int cuwb_test_spawn(pid_t *pid, const char *path, char *const arguments[], char *const variables[],
                    const char *folder, const int standard[3]);

#endif
