// SPDX-License-Identifier: Apache-2.0
#include "nxp_driver_model.h"

#include <errno.h>
#include <stdlib.h>

static void push(struct nxp_driver_model *driver, const uint8_t *bytes, size_t length, int error) {
  pthread_mutex_lock(&driver->lock);
  unsigned position = driver->last++ % 4096;
  driver->replies[position] = NULL;
  if (length > 0) {
    driver->replies[position] = malloc(length);
    memcpy(driver->replies[position], bytes, length);
  }
  driver->lengths[position] = length;
  driver->errors[position] = error;
  pthread_cond_broadcast(&driver->changed);
  pthread_mutex_unlock(&driver->lock);
}

void nxp_driver_model_reply(struct nxp_driver_model *driver, const uint8_t *bytes, size_t length) {
  push(driver, bytes, length, 0);
}

void nxp_driver_model_fail(struct nxp_driver_model *driver, int error) {
  push(driver, NULL, 0, error);
}

static ssize_t driver_read(void *context, void *memory, size_t size) {
  struct nxp_driver_model *driver = context;
  pthread_mutex_lock(&driver->lock);
  if (size < driver->least) driver->least = size;
  if (size > driver->most) driver->most = size;
  driver->reading = true;
  pthread_cond_broadcast(&driver->changed);
  while (driver->first == driver->last && !driver->aborted && !driver->forever) {
    pthread_cond_wait(&driver->changed, &driver->lock);
  }
  driver->reading = false;
  ssize_t result = -EINTR;
  if (driver->aborted) {
    driver->aborted = false;
  } else if (driver->first == driver->last) {
    result = -driver->forever;
  } else {
    unsigned position = driver->first++ % 4096;
    size_t length = driver->lengths[position];
    result = length > 0 ? (ssize_t)length : -driver->errors[position];
    // The size is not checked: the sanitizer detects memory that is too small.
    if (length > 0) memcpy(memory, driver->replies[position], length);
    free(driver->replies[position]);
  }
  pthread_mutex_unlock(&driver->lock);
  return result;
}

static ssize_t driver_write(void *context, const void *bytes, size_t size) {
  struct nxp_driver_model *driver = context;
  pthread_mutex_lock(&driver->lock);
  ssize_t result = (ssize_t)size;
  if (driver->busy > 0) {
    driver->busy--;
    result = -EBUSY;
  } else {
    memcpy(driver->written, bytes, size);
    driver->written_length = size;
    driver->writes++;
  }
  pthread_mutex_unlock(&driver->lock);
  return result;
}

static int driver_control(void *context, unsigned long request, unsigned long value) {
  struct nxp_driver_model *driver = context;
  int result = ENOTTY;
  pthread_mutex_lock(&driver->lock);
  unsigned width = request >> 16 & 0x3FFF;
  if (width == driver->width) {
    result = 0;
    if (driver->call_count < CALLS) {
      driver->calls[driver->call_count].request = request;
      driver->calls[driver->call_count++].value = value;
    }
    if ((request & 0xFF) == 1 && value == 2) driver->aborted = true;
    pthread_cond_broadcast(&driver->changed);
  }
  pthread_mutex_unlock(&driver->lock);
  return result;
}

static void driver_close(void *context) {
  struct nxp_driver_model *driver = context;
  driver->closed = true;
}

cuwb_chardev_ops nxp_driver_model_init(struct nxp_driver_model *driver, unsigned width) {
  memset(driver, 0, sizeof(*driver));
  pthread_mutex_init(&driver->lock, NULL);
  pthread_cond_init(&driver->changed, NULL);
  driver->width = width;
  driver->least = SIZE_MAX;
  return (cuwb_chardev_ops){
      .context = driver,
      .read = driver_read,
      .write = driver_write,
      .control = driver_control,
      .close = driver_close,
  };
}

void nxp_driver_model_destroy(struct nxp_driver_model *driver) {
  while (driver->first != driver->last) free(driver->replies[driver->first++ % 4096]);
  pthread_cond_destroy(&driver->changed);
  pthread_mutex_destroy(&driver->lock);
}
