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
// The bytes of new blocks less the bytes of freed blocks, while bytes are counted.
static bool counting_bytes;
static int64_t bytes_in_use;
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

int64_t cuwb_test_bytes_in_use(void) {
  __atomic_store_n(&counting_bytes, true, __ATOMIC_SEQ_CST);
  return __atomic_load_n(&bytes_in_use, __ATOMIC_SEQ_CST);
}

uint64_t cuwb_test_thread_allocations(void) { return of_this_thread; }

#ifdef COUNTED

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static inline void count(void) {
  of_this_thread += 1;
  if (__atomic_load_n(&counting, __ATOMIC_RELAXED)) {
    __atomic_fetch_add(&of_all_threads, 1, __ATOMIC_RELAXED);
  }
}

static inline bool counts_bytes(void) { return __atomic_load_n(&counting_bytes, __ATOMIC_RELAXED); }

static inline void add_bytes(int64_t bytes) {
  __atomic_fetch_add(&bytes_in_use, bytes, __ATOMIC_RELAXED);
}

// Adds the bytes of a new block, and returns the block.
static inline void *counted(void *memory) {
  if (counts_bytes()) add_bytes((int64_t)malloc_usable_size(memory));
  return memory;
}

void *malloc(size_t size) {
  count();
  return counted(__libc_malloc(size));
}

void *calloc(size_t number, size_t size) {
  count();
  return counted(__libc_calloc(number, size));
}

void *realloc(void *memory, size_t size) {
  count();
  if (!counts_bytes()) return __libc_realloc(memory, size);
  int64_t before = (int64_t)malloc_usable_size(memory);
  void *moved = __libc_realloc(memory, size);
  // The old block remains if there is no memory for the new one.
  if (moved || size == 0) add_bytes((int64_t)malloc_usable_size(moved) - before);
  return moved;
}

void free(void *memory) {
  if (counts_bytes()) add_bytes(-(int64_t)malloc_usable_size(memory));
  __libc_free(memory);
}

void *memalign(size_t alignment, size_t size) {
  count();
  return counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  count();
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  void *found = counted(__libc_memalign(alignment, size));
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}

#endif
