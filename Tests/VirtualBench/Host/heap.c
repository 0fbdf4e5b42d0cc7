// SPDX-License-Identifier: Apache-2.0
//
// Loaded into a program (LD_PRELOAD): writes the bytes of its heap that are in use, of all arenas,
// into the pipe BENCH_HEAP whenever a program reads from it. The resident size also depends on
// stacks, arenas and huge pages.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *serve(void *path) {
  for (;;) {
    int pipe = open(path, O_WRONLY | O_CLOEXEC);
    if (pipe < 0) return NULL;
    struct mallinfo2 heap = mallinfo2();
    dprintf(pipe, "%zu\n", heap.uordblks + heap.hblkhd);
    close(pipe);
  }
}

__attribute__((constructor)) static void start(void) {
  char *path = getenv("BENCH_HEAP");
  pthread_t thread;
  sigset_t all, before;
  if (!path) return;
  // The program's signals must not run on this thread, and the reader may have exited.
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread, NULL, serve, path) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}
