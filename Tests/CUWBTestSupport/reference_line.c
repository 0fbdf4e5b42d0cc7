// SPDX-License-Identifier: Apache-2.0
#include "cuwb_reference_line.h"

#include <errno.h>
#include <pthread.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cuwb_reference_decode.h"
#include "cuwb_threads.h"

bool cuwb_test_open_terminal(cuwb_test_terminal *terminal) {
  *terminal = (cuwb_test_terminal){-1, -1, ""};
  return openpty(&terminal->master, &terminal->slave, NULL, NULL, NULL) == 0 &&
         ttyname_r(terminal->slave, terminal->path, sizeof(terminal->path)) == 0;
}

bool cuwb_test_open_line(int *chip, int *host) {
  struct termios raw;
  cuwb_test_terminal terminal;
  if (!cuwb_test_open_terminal(&terminal)) return false;
  *chip = terminal.master;
  *host = terminal.slave;
  if (tcgetattr(*host, &raw) < 0) return false;
  cfmakeraw(&raw);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  return tcsetattr(*host, TCSANOW, &raw) == 0;
}

struct cuwb_reference_reader {
  int host;
  uint64_t *arrived;
  // Of the hand-over only.
  uint64_t *received;
  void (*volatile handler)(cuwb_reference_reader *, const uint8_t *, size_t);
  uint8_t landing[512];
  size_t capacity;
  size_t count;
  uint64_t sum;
  pthread_t thread;
};

static void *run(void *context) {
  struct cuwb_reference_reader *reader = context;
  uint8_t bytes[4096];
  size_t held = 0;
  for (;;) {
    ssize_t got = read(reader->host, bytes + held, sizeof(bytes) - held);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return NULL;
    held += (size_t)got;
    size_t at = 0;
    while (held - at >= 4) {
      size_t length = 4 + (size_t)bytes[at + 3];
      if (held - at < length) break;
      uint32_t number = 0;
      uint64_t sum = cuwb_reference_decode(bytes + at, length, &number);
      if (sum != 0 && number < reader->capacity) reader->arrived[number] = cuwb_test_now();
      reader->sum += sum;
      __atomic_store_n(&reader->count, reader->count + 1, __ATOMIC_RELEASE);
      at += length;
    }
    memmove(bytes, bytes + at, held - at);
    held -= at;
  }
}

cuwb_reference_reader *cuwb_reference_reader_start(int host, uint64_t *arrived, size_t capacity) {
  cuwb_reference_reader *reader = calloc(1, sizeof(*reader));
  if (!reader) abort();
  *reader = (cuwb_reference_reader){.host = host, .arrived = arrived, .capacity = capacity};
  if (pthread_create(&reader->thread, NULL, run, reader) != 0) abort();
  return reader;
}

static void handle(cuwb_reference_reader *reader, const uint8_t *bytes, size_t length) {
  uint64_t now = cuwb_test_now();
  reader->sum += bytes[length - 1];
  if (reader->count < reader->capacity) reader->arrived[reader->count] = now;
  __atomic_store_n(&reader->count, reader->count + 1, __ATOMIC_RELEASE);
}

static void *run_hand_over(void *context) {
  struct cuwb_reference_reader *reader = context;
  uint8_t bytes[4096];
  size_t held = 0;
  for (;;) {
    ssize_t got = read(reader->host, bytes + held, sizeof(bytes) - held);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return NULL;
    uint64_t now = cuwb_test_now();
    held += (size_t)got;
    size_t at = 0;
    while (held - at >= 4) {
      size_t length = 4 + (size_t)bytes[at + 3];
      if (held - at < length) break;
      memcpy(reader->landing, bytes + at, length);
      if (reader->count < reader->capacity) reader->received[reader->count] = now;
      reader->handler(reader, reader->landing, length);
      at += length;
    }
    memmove(bytes, bytes + at, held - at);
    held -= at;
  }
}

cuwb_reference_reader *cuwb_reference_hand_over_start(int host, uint64_t *received,
                                                      uint64_t *entered, size_t capacity) {
  cuwb_reference_reader *reader = calloc(1, sizeof(*reader));
  if (!reader) abort();
  reader->host = host;
  reader->received = received;
  reader->arrived = entered;
  reader->capacity = capacity;
  reader->handler = handle;
  if (pthread_create(&reader->thread, NULL, run_hand_over, reader) != 0) abort();
  return reader;
}

size_t cuwb_reference_reader_count(const cuwb_reference_reader *reader) {
  return __atomic_load_n(&reader->count, __ATOMIC_ACQUIRE);
}

void cuwb_reference_reader_join(cuwb_reference_reader *reader) {
  pthread_join(reader->thread, NULL);
  close(reader->host);
  free(reader);
}
