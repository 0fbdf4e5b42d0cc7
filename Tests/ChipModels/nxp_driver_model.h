// SPDX-License-Identifier: Apache-2.0
//
// NXP's kernel driver from the view of a program: the size of a read is ignored, several packets
// are returned at once, only an abort ends a read, and the requests have one of two encodings.
#ifndef CUWB_NXP_DRIVER_MODEL_H
#define CUWB_NXP_DRIVER_MODEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cuwb_chardev.h"

// The numbers of the drivers' sources.
#define SET_PWR_32 0x4004EA01
#define SET_FWD_32 0x4004EA02
#define SET_PWR_64 0x4008EA01
#define SET_FWD_64 0x4008EA02

#define CALLS 64

struct nxp_driver_model {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  // The results of the next reads: bytes, or a negative errno where the length is 0.
  uint8_t *replies[4096];
  size_t lengths[4096];
  int errors[4096];
  unsigned first, last;
  // The errno with which reads fail when nothing else is left; 0 if they wait instead.
  int forever;
  bool aborted;
  bool reading;
  bool closed;
  // The size of the requests' argument: 4, 8, or 0 for a device without requests.
  unsigned width;
  struct {
    unsigned long request, value;
  } calls[CALLS];
  unsigned call_count;
  uint8_t written[4300];
  size_t written_length;
  unsigned writes;
  // The number of writes that fail with EBUSY.
  unsigned busy;
  // The smallest and the largest size of a read.
  size_t least, most;
};

cuwb_chardev_ops nxp_driver_model_init(struct nxp_driver_model *driver, unsigned width);

void nxp_driver_model_destroy(struct nxp_driver_model *driver);

void nxp_driver_model_reply(struct nxp_driver_model *driver, const uint8_t *bytes, size_t length);

void nxp_driver_model_fail(struct nxp_driver_model *driver, int error);

#endif
