// SPDX-License-Identifier: Apache-2.0
//
// cuwb_chardev_ops on a device of NXP's kernel drivers.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../link/link.h"
#include "cuwb_chardev.h"

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

// Unlocks explicitly, because a child shares the open file, and with it the lock, between fork and
// exec.
static void device_close(void *context) {
  flock(descriptor_of(context), LOCK_UN);
  close(descriptor_of(context));
}

cuwb_result cuwb_open_srxxx(const char *path, cuwb_start start, cuwb_link **link) {
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return cuwb_failed(errno);
  if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
    int error = errno == EWOULDBLOCK ? EBUSY : errno;
    close(fd);
    return cuwb_failed(error);
  }
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
