// SPDX-License-Identifier: Apache-2.0
#include "cuwb_reference_line.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#endif

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

// ------------------------------------------------------------------------- ways to wait for bytes

#if defined(IORING_SETUP_DEFER_TASKRUN) && defined(SYS_io_uring_setup)
// The queues of an io_uring, and the memory that they are in.
struct uring {
  int fd;
  unsigned mask, completed_mask;
  unsigned *tail, *indices, *completed_head, *completed_tail;
  struct io_uring_sqe *requests;
  struct io_uring_cqe *completions;
  // Requests that the kernel has not processed yet.
  unsigned pending;
};

#define WAKE 1
#define READ 2

static void *map(int fd, size_t length, off_t offset) {
  void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
  if (memory == MAP_FAILED) abort();
  return memory;
}

static void request(struct uring *ring, struct io_uring_sqe wanted) {
  unsigned tail = *ring->tail, index = tail & ring->mask;
  ring->requests[index] = wanted;
  ring->indices[index] = index;
  __atomic_store_n(ring->tail, tail + 1, __ATOMIC_RELEASE);
  ring->pending++;
}

// Fails where the kernel has no io_uring, or does not permit it. Belongs to the calling thread.
static bool uring_open(struct uring *ring, int wake) {
  // The kernel does its part on this thread, in the call that waits: its cheapest mode.
  struct io_uring_params params = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN};
  int fd = (int)syscall(SYS_io_uring_setup, 4, &params);
  if (fd < 0) return false;
  char *queue = map(fd, params.sq_off.array + params.sq_entries * sizeof(unsigned),
                    IORING_OFF_SQ_RING);
  char *completed = map(fd, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
                        IORING_OFF_CQ_RING);
  *ring = (struct uring){
      .fd = fd,
      .mask = *(unsigned *)(queue + params.sq_off.ring_mask),
      .completed_mask = *(unsigned *)(completed + params.cq_off.ring_mask),
      .tail = (unsigned *)(queue + params.sq_off.tail),
      .indices = (unsigned *)(queue + params.sq_off.array),
      .completed_head = (unsigned *)(completed + params.cq_off.head),
      .completed_tail = (unsigned *)(completed + params.cq_off.tail),
      .requests = map(fd, params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES),
      .completions = (struct io_uring_cqe *)(completed + params.cq_off.cqes),
  };
  request(ring, (struct io_uring_sqe){.opcode = IORING_OP_POLL_ADD, .fd = wake,
                                      .poll32_events = POLLIN, .user_data = WAKE});
  return true;
}

static ssize_t uring_read(struct uring *ring, int fd, void *memory, size_t room) {
  request(ring, (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = fd,
                                      .addr = (uintptr_t)memory, .len = (unsigned)room,
                                      .off = UINT64_MAX, .user_data = READ});
  for (;;) {
    long done = syscall(SYS_io_uring_enter, ring->fd, ring->pending, 1, IORING_ENTER_GETEVENTS,
                        NULL, 0);
    if (done < 0 && errno != EINTR) return -1;
    ring->pending = 0;
    unsigned head = *ring->completed_head;
    while (head != __atomic_load_n(ring->completed_tail, __ATOMIC_ACQUIRE)) {
      struct io_uring_cqe completion = ring->completions[head++ & ring->completed_mask];
      __atomic_store_n(ring->completed_head, head, __ATOMIC_RELEASE);
      if (completion.user_data == READ) return completion.res;
    }
  }
}
#else
struct uring {
  int fd;
};
static bool uring_open(struct uring *ring, int wake) { return ring && wake < -1; }
static ssize_t uring_read(struct uring *ring, int fd, void *memory, size_t room) {
  return ring && memory && room ? -1 : fd;
}
#endif

static ssize_t poll_and_read(int fd, int wake, void *memory, size_t room) {
  struct pollfd polled[2] = {{.fd = fd, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
  if (ppoll(polled, 2, NULL, NULL) < 0) return -1;
  return read(fd, memory, room);
}

// ---------------------------------------------------------------------------------------- readers

struct cuwb_reference_reader {
  int host;
  enum cuwb_reference_wait wait;
  // The event descriptor of a reader that can be cancelled. Nothing is written to it.
  int wake;
  struct uring ring;
  uint64_t *arrived;
  // The times of reception, for the hand-over only.
  uint64_t *received;
  void (*volatile handler)(cuwb_reference_reader *, const uint8_t *, size_t);
  uint8_t landing[512];
  size_t capacity;
  size_t count;
  uint64_t sum;
  pthread_t thread;
};

static ssize_t read_some(cuwb_reference_reader *reader, void *memory, size_t room) {
  switch (reader->wait) {
  case CUWB_REFERENCE_POLL: return poll_and_read(reader->host, reader->wake, memory, room);
  case CUWB_REFERENCE_URING: return uring_read(&reader->ring, reader->host, memory, room);
  default: return read(reader->host, memory, room);
  }
}

static void *run(void *context) {
  struct cuwb_reference_reader *reader = context;
  uint8_t bytes[4096];
  size_t held = 0;
  if (reader->wait == CUWB_REFERENCE_URING && !uring_open(&reader->ring, reader->wake)) abort();
  for (;;) {
    ssize_t got = read_some(reader, bytes + held, sizeof(bytes) - held);
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

bool cuwb_reference_has_uring(void) {
  struct uring ring;
  int wake = eventfd(0, 0);
  bool has = uring_open(&ring, wake);
  close(wake);
  if (has) close(ring.fd);
  return has;
}

cuwb_reference_reader *cuwb_reference_reader_start(int host, enum cuwb_reference_wait wait,
                                                   uint64_t *arrived, size_t capacity) {
  cuwb_reference_reader *reader = calloc(1, sizeof(*reader));
  if (!reader) abort();
  *reader = (cuwb_reference_reader){
      .host = host, .wait = wait, .wake = eventfd(0, 0), .arrived = arrived, .capacity = capacity};
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
  reader->wake = -1;
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
  if (reader->wake >= 0) close(reader->wake);
  if (reader->wait == CUWB_REFERENCE_URING) close(reader->ring.fd);
  free(reader);
}
