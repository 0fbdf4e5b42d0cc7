// SPDX-License-Identifier: Apache-2.0
#include "cuwb_allocations.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)
#define COUNTED 1
#endif

static bool counting;
static uint64_t of_all_threads;
// Defined in the executable itself, so that access to it cannot allocate.
static _Thread_local uint64_t of_this_thread __attribute__((tls_model("initial-exec")));

bool cuwb_test_allocations_are_counted(void) {
#ifdef COUNTED
  return true;
#else
  return false;
#endif
}

void cuwb_test_count_allocations(bool on) { __atomic_store_n(&counting, on, __ATOMIC_SEQ_CST); }

uint64_t cuwb_test_allocations(void) { return __atomic_load_n(&of_all_threads, __ATOMIC_SEQ_CST); }

uint64_t cuwb_test_bytes_in_use(void) {
#ifdef COUNTED
  struct mallinfo2 info = mallinfo2();
  return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
#else
  return 0;
#endif
}

uint64_t cuwb_test_thread_allocations(void) { return of_this_thread; }

#ifdef COUNTED

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static inline void count(void) {
  of_this_thread += 1;
  if (__atomic_load_n(&counting, __ATOMIC_RELAXED)) {
    __atomic_fetch_add(&of_all_threads, 1, __ATOMIC_RELAXED);
  }
}

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  count();
  return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  count();
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  void *found = __libc_memalign(alignment, size);
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}

#endif
