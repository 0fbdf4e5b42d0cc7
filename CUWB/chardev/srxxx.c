// SPDX-License-Identifier: Apache-2.0
//
// NXP's kernel drivers: /dev/srxxx, /dev/sr1xx, /dev/sr200. The facts of the interface are from
// NXP/uwb-driver-testapp (sr1xx.c and its test program), its relatives, AOSP's HAL and sr200.c.
//
// A read returns one or more whole packets whatever its size is, so it needs memory for 4200 bytes.
// There is no poll(2): a read waits until there is a packet or SET_PWR is called with 2. So a
// thread of the link reads into a queue, and the reader waits for the link's eventfd.
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "srxxx.h"

#define QUEUE_CAPACITY (64 * 1024)
// The pause after each edge of CE. Source: the drivers wait 10 to 12 ms.
#define POWER_MS 10

static int set_mode(struct cuwb_srxxx *device, unsigned long value) {
  unsigned long request = device->takes_long ? SRXXX_SET_FWD_LONG : SRXXX_SET_FWD;
  return device->ops.control(device->ops.context, request, value);
}

static cuwb_result outcome_of_error(int error) {
  return error ? cuwb_failed_or_gone(error) : cuwb_outcome_of(CUWB_OK);
}

// ---------------------------------------------------------------------------------------- reading

// One family of drivers starts listening when it enters its boot loader mode, the other when it
// exits that mode. So this function enters and exits the mode even if the firmware already runs.
static int enter_uci_mode(struct cuwb_srxxx *device) {
  int error = device->was_in_uci_mode ? 0 : set_mode(device, SRXXX_MODE_HBCI);
  if (!error && !device->was_in_uci_mode) error = set_mode(device, SRXXX_MODE_UCI);
  device->was_in_uci_mode = !error;
  return error;
}

static cuwb_result begin(struct cuwb_srxxx *device) {
  int error = enter_uci_mode(device);
  if (error) return outcome_of_error(error);
  pthread_mutex_lock(&device->lock);
  __atomic_store_n(&device->phase, PHASE_READING, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&device->changed);
  pthread_mutex_unlock(&device->lock);
  return cuwb_outcome_of(CUWB_OK);
}

static cuwb_result srxxx_read(cuwb_link *link, void *memory, size_t capacity, int32_t timeout_ms,
                              cuwb_frame *frame) {
  struct cuwb_srxxx *device = link->device;
  if (__atomic_load_n(&device->phase, __ATOMIC_ACQUIRE) == PHASE_IDLE) {
    cuwb_result result = begin(device);
    if (result.outcome != CUWB_OK) return result;
  }
  uint64_t deadline = cuwb_deadline(timeout_ms);
  for (;;) {
    pthread_mutex_lock(&device->lock);
    cuwb_result result = cuwb_packet_queue_take(&device->packets, memory, capacity, frame);
    if (result.outcome == CUWB_OK) pthread_cond_broadcast(&device->changed);
    if (result.outcome == CUWB_TIMEOUT && device->phase == PHASE_ENDED) result = device->end;
    pthread_mutex_unlock(&device->lock);
    if (result.outcome == CUWB_OK) cuwb_count(&link->stats.frames_read, 1);
    if (result.outcome != CUWB_TIMEOUT) return result;

    short seen;
    bool woken;
    int error = cuwb_wait(-1, 0, link->wake_fd, deadline, &seen, &woken);
    if (error) return cuwb_failed(error);
    if (!woken) return result;
    // Needed after every wait, because the thread also announces packets by the eventfd.
    if (cuwb_link_acknowledge_wake(link)) return cuwb_outcome_of(CUWB_WOKEN);
  }
}

// ---------------------------------------------------------------------------------------- writing

static cuwb_result write_whole(struct cuwb_srxxx *device, const void *bytes, size_t length,
                               int32_t timeout_ms) {
  uint64_t deadline = cuwb_deadline(timeout_ms);
  for (;;) {
    ssize_t count = device->ops.write(device->ops.context, bytes, length);
    if (count == (ssize_t)length) return cuwb_outcome_of(CUWB_OK);
    if (count == -EINTR) continue;
    if (count >= 0) return cuwb_failed(EIO);
    if (cuwb_is_device_lost((int)-count)) return cuwb_outcome_of(CUWB_GONE);
    // One driver refuses to write while it receives a packet.
    if (count != -EAGAIN && count != -EBUSY) return cuwb_failed((int)-count);
    if (cuwb_monotonic_ns() >= deadline) return cuwb_outcome_of(CUWB_TIMEOUT);
    cuwb_sleep_ms(CUWB_SRXXX_PAUSE_MS);
  }
}

static cuwb_result srxxx_write(cuwb_link *link, const void *bytes, size_t length,
                               int32_t timeout_ms) {
  if (length > CUWB_NXP_PACKET_MAX) return cuwb_failed(EMSGSIZE);
  cuwb_result result = write_whole(link->device, bytes, length, timeout_ms);
  if (result.outcome == CUWB_OK) cuwb_count(&link->stats.bytes_written, length);
  return result;
}

// ------------------------------------------------------------------------------------ boot loader

static int cycle(struct cuwb_srxxx *device) {
  int error = cuwb_srxxx_set_power(device, SRXXX_POWER_OFF);
  cuwb_sleep_ms(POWER_MS);
  if (!error) error = cuwb_srxxx_set_power(device, SRXXX_POWER_ON);
  cuwb_sleep_ms(POWER_MS);
  return error;
}

static cuwb_result srxxx_boot_begin(cuwb_link *link) {
  struct cuwb_srxxx *device = link->device;
  if (__atomic_load_n(&device->phase, __ATOMIC_ACQUIRE) != PHASE_IDLE) {
    return cuwb_outcome_of(CUWB_INVALID);
  }
  int error = cycle(device);
  return outcome_of_error(error ? error : set_mode(device, SRXXX_MODE_HBCI));
}

static cuwb_result srxxx_boot_write(cuwb_link *link, const void *bytes, size_t length) {
  return write_whole(link->device, bytes, length, 1000);
}

// The driver itself waits for the chip, for at most 500 ms.
static cuwb_result srxxx_boot_read(cuwb_link *link, void *memory, size_t length,
                                   int32_t timeout_ms) {
  struct cuwb_srxxx *device = link->device;
  uint64_t deadline = cuwb_deadline(timeout_ms);
  for (;;) {
    ssize_t count = device->ops.read(device->ops.context, memory, length);
    if (count == (ssize_t)length) return cuwb_outcome_of(CUWB_OK);
    if (count < 0 && cuwb_is_device_lost((int)-count)) return cuwb_outcome_of(CUWB_GONE);
    if (count > 0) return cuwb_failed(EIO);
    bool again = count == 0 || count == -EINTR || count == -EIO || count == -ETIME ||
                 count == -ETIMEDOUT || count == -EAGAIN;
    if (!again) return cuwb_failed((int)-count);
    if (cuwb_monotonic_ns() >= deadline) return cuwb_outcome_of(CUWB_TIMEOUT);
    cuwb_sleep_ms(1);
  }
}

static cuwb_result srxxx_boot_end(cuwb_link *link) {
  struct cuwb_srxxx *device = link->device;
  int error = set_mode(device, SRXXX_MODE_UCI);
  device->was_in_uci_mode = !error;
  return outcome_of_error(error);
}

// ---------------------------------------------------------------------------------- open and close

static void srxxx_close(cuwb_link *link) {
  struct cuwb_srxxx *device = link->device;
  cuwb_srxxx_end_thread(device);
  device->ops.close(device->ops.context);
  cuwb_packet_queue_destroy(&device->packets);
  pthread_cond_destroy(&device->changed);
  pthread_mutex_destroy(&device->lock);
  free(device);
}

static const struct cuwb_link_ops srxxx_ops = {
    .read_frame = srxxx_read,
    .write_frame = srxxx_write,
    .close = srxxx_close,
    .boot_begin = srxxx_boot_begin,
    .boot_write = srxxx_boot_write,
    .boot_read = srxxx_boot_read,
    .boot_end = srxxx_boot_end,
};

static int start_chip(struct cuwb_srxxx *device, cuwb_start start) {
  int error = cuwb_srxxx_set_power(device, SRXXX_POWER_ON);
  if (error == EINVAL || error == ENOTTY) {
    device->takes_long = true;
    error = cuwb_srxxx_set_power(device, SRXXX_POWER_ON);
  }
  if (error) return error == EINVAL ? ENOTTY : error;
  if (start == CUWB_START_CYCLE) return cycle(device);
  cuwb_sleep_ms(POWER_MS);
  return 0;
}

cuwb_result cuwb_open_chardev(cuwb_chardev_ops ops, cuwb_start start, cuwb_link **opened) {
  struct cuwb_srxxx *device = calloc(1, sizeof(*device));
  if (!device) return cuwb_failed(ENOMEM);
  device->ops = ops;
  int error = start_chip(device, start);
  if (error) goto free_device;
  error = cuwb_packet_queue_create(&device->packets, QUEUE_CAPACITY);
  if (error) goto free_device;
  cuwb_link *link = cuwb_link_allocate(&error);
  if (!link) goto free_packets;
  device->link = link;
  link->ops = &srxxx_ops;
  link->device = device;
  pthread_mutex_init(&device->lock, NULL);
  pthread_cond_init(&device->changed, NULL);
  error = cuwb_srxxx_start_thread(device);
  if (error) goto free_link;
  *opened = link;
  return cuwb_outcome_of(CUWB_OK);

free_link:
  pthread_cond_destroy(&device->changed);
  pthread_mutex_destroy(&device->lock);
  cuwb_link_free(link);
free_packets:
  cuwb_packet_queue_destroy(&device->packets);
free_device:
  free(device);
  return cuwb_failed(error);
}

// ---------------------------------------------------------------------- the operations on a device

static int descriptor_of(void *context) { return (int)(intptr_t)context; }

static ssize_t device_read(void *context, void *memory, size_t size) {
  ssize_t count = read(descriptor_of(context), memory, size);
  return count < 0 ? -errno : count;
}

static ssize_t device_write(void *context, const void *bytes, size_t size) {
  ssize_t count = write(descriptor_of(context), bytes, size);
  return count < 0 ? -errno : count;
}

static int device_control(void *context, unsigned long request, unsigned long value) {
  return ioctl(descriptor_of(context), request, value) < 0 ? errno : 0;
}

static void device_close(void *context) { cuwb_close_locked(descriptor_of(context)); }

cuwb_result cuwb_open_srxxx(const char *path, cuwb_start start, cuwb_link **link) {
  int fd;
  int error = cuwb_open_locked(path, &fd);
  if (error) return cuwb_failed(error);
  cuwb_chardev_ops ops = {
      .context = (void *)(intptr_t)fd,
      .read = device_read,
      .write = device_write,
      .control = device_control,
      .close = device_close,
  };
  cuwb_result result = cuwb_open_chardev(ops, start, link);
  if (result.outcome != CUWB_OK) device_close(ops.context);
  return result;
}
