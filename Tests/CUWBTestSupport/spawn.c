// SPDX-License-Identifier: Apache-2.0
#include "cuwb_spawn.h"

#include <signal.h>
#include <spawn.h>

int cuwb_test_spawn(pid_t *pid, const char *path, char *const arguments[], char *const variables[],
                    const char *folder, const int standard[3])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int number = 0; number < 3; number++)
        if (standard[number] >= 0)
            posix_spawn_file_actions_adddup2(&actions, standard[number], number);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (folder)
        posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    int code = posix_spawnp(pid, path, &actions, &attributes, arguments, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}
