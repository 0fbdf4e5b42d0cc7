// SPDX-License-Identifier: Apache-2.0
//
// NXP's kernel driver as a program sees it, oddities included: the count of a read is ignored, several
// packets come at once, nothing but an abort ends a read, requests have one of two encodings.
#ifndef CUWB_FAR_DRIVER_H
#define CUWB_FAR_DRIVER_H

#include <pthread.h>

#include "cuwb_chardev.h"
#include "scenario.h"

// Numbers as in the drivers' sources.
#define SET_PWR_32 0x4004EA01
#define SET_FWD_32 0x4004EA02
#define SET_PWR_64 0x4008EA01
#define SET_FWD_64 0x4008EA02

#define CALLS 64

struct far_driver {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  // What the next reads return: bytes, or a negative errno where the length is 0.
  uint8_t *replies[4096];
  size_t lengths[4096];
  int errors[4096];
  unsigned first, last;
  // Reads return this errno when there is nothing else, instead of waiting.
  int forever;
  bool aborted;
  bool reading;
  bool closed;
  // 4, 8, or 0: it knows no requests at all.
  unsigned width;
  struct {
    unsigned long request, value;
  } calls[CALLS];
  unsigned call_count;
  uint8_t written[4300];
  size_t written_length;
  unsigned writes;
  // So many writes are refused for now.
  unsigned busy;
  // Bytes asked for by the reads, at the least and at the most.
  size_t least, most;
};

cuwb_chardev_ops far_driver_open(struct far_driver *driver, unsigned width);

void far_driver_forget(struct far_driver *driver);

void far_driver_reply(struct far_driver *driver, const uint8_t *bytes, size_t length);

void far_driver_fail(struct far_driver *driver, int error);

#endif
