// SPDX-License-Identifier: Apache-2.0
#ifndef CUWB_REFERENCE_PAUSE_H
#define CUWB_REFERENCE_PAUSE_H

/// Signals to the processor that the thread spins.
static inline void cuwb_reference_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#endif
