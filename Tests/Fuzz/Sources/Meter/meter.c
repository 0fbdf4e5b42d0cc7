// SPDX-License-Identifier: Apache-2.0
#include "meter.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>

// There is only one thread, as in libFuzzer.
static bool counting;
static ptrdiff_t in_use, most;
static size_t allocations;

static void taken(size_t size) {
  if (!counting) return;
  allocations++;
  in_use += (ptrdiff_t)size;
  if (in_use > most) most = in_use;
}

static void given_back(size_t size) {
  if (counting) in_use -= (ptrdiff_t)size;
}

#if __has_feature(address_sanitizer)

#include <sanitizer/allocator_interface.h>

static void on_malloc(const volatile void *memory, size_t size) {
  (void)memory;
  taken(size);
}

static void on_free(const volatile void *memory) {
  if (counting && memory) given_back(__sanitizer_get_allocated_size((const void *)memory));
}

static void install(void) {
  static bool installed;
  if (!installed) __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
  installed = true;
}

#else

static void install(void) {}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size) {
  taken(size);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  taken(number * size);
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  if (counting && memory) given_back(malloc_usable_size(memory));
  taken(size);
  return __libc_realloc(memory, size);
}

void free(void *memory) {
  if (counting && memory) given_back(malloc_usable_size(memory));
  __libc_free(memory);
}

void *memalign(size_t alignment, size_t size) {
  taken(size);
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  taken(size);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  taken(size);
  void *found = __libc_memalign(alignment, size);
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}

#endif

void meter_start(void) {
  install();
  in_use = most = 0;
  allocations = 0;
  counting = true;
}

size_t meter_stop(size_t *count) {
  counting = false;
  *count = allocations;
  return most > 0 ? (size_t)most : 0;
}
