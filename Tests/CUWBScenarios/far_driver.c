// SPDX-License-Identifier: Apache-2.0
#include "far_driver.h"

#include <errno.h>
#include <stdlib.h>

static void push(struct far_driver *driver, const uint8_t *bytes, size_t length, int error) {
  pthread_mutex_lock(&driver->lock);
  unsigned place = driver->last++ % 4096;
  driver->replies[place] = NULL;
  if (length > 0) {
    driver->replies[place] = malloc(length);
    memcpy(driver->replies[place], bytes, length);
  }
  driver->lengths[place] = length;
  driver->errors[place] = error;
  pthread_cond_broadcast(&driver->changed);
  pthread_mutex_unlock(&driver->lock);
}

void far_driver_reply(struct far_driver *driver, const uint8_t *bytes, size_t length) {
  push(driver, bytes, length, 0);
}

void far_driver_fail(struct far_driver *driver, int error) { push(driver, NULL, 0, error); }

static ssize_t driver_read(void *context, void *memory, size_t size) {
  struct far_driver *driver = context;
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
    unsigned place = driver->first++ % 4096;
    size_t length = driver->lengths[place];
    result = length > 0 ? (ssize_t)length : -driver->errors[place];
    // Whatever the count is: the sanitizer sees it if the memory is too small.
    if (length > 0) memcpy(memory, driver->replies[place], length);
    free(driver->replies[place]);
  }
  pthread_mutex_unlock(&driver->lock);
  return result;
}

static ssize_t driver_write(void *context, const void *bytes, size_t size) {
  struct far_driver *driver = context;
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
  struct far_driver *driver = context;
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
  struct far_driver *driver = context;
  driver->closed = true;
}

cuwb_chardev_ops far_driver_open(struct far_driver *driver, unsigned width) {
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

void far_driver_forget(struct far_driver *driver) {
  for (; driver->first != driver->last; driver->first++) free(driver->replies[driver->first % 4096]);
  pthread_cond_destroy(&driver->changed);
  pthread_mutex_destroy(&driver->lock);
}
