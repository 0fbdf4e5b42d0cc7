// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void say_and_end(int number, siginfo_t *from, void *context)
{
    (void)context;
    char text[64];
    int length = snprintf(text, sizeof text, "tests: ended by signal %d of process %d\n", number,
                          (int)from->si_pid);
    (void)!write(STDERR_FILENO, text, (size_t)length);
    signal(number, SIG_DFL);
    raise(number);
}

static void ignore(int number) { (void)number; }

/// `swift test` does not report that a signal ended the tests, nor which signal. A write to the
/// pipe of a program that has exited fails here instead. Programs that the tests start have the
/// default action.
__attribute__((constructor)) static void say_which_signal_ends(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    action.sa_handler = ignore;
    sigaction(SIGPIPE, &action, NULL);
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = say_and_end;
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
