// SPDX-License-Identifier: Apache-2.0
#include "spidev.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/spi/spidev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SEGMENTS 4

int cuwb_spidev_open(struct cuwb_spidev *device, const char *path) {
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return errno;
  // spidev itself admits any number of programs.
  if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
    int error = errno == EWOULDBLOCK ? EBUSY : errno;
    close(fd);
    return error;
  }
  *device = (struct cuwb_spidev){.fd = fd};
  return 0;
}

void cuwb_spidev_close(struct cuwb_spidev *device) {
  // Explicitly, because a child shares the open file, and with it the lock, between fork and exec.
  flock(device->fd, LOCK_UN);
  close(device->fd);
  device->fd = -1;
}

int cuwb_spidev_set_up(struct cuwb_spidev *device, uint32_t speed_hz) {
  // The device tree sets the polarity of the chip select, and the kernel keeps it.
  uint8_t mode = SPI_MODE_0;
  uint8_t bits = 8;
  if (ioctl(device->fd, SPI_IOC_WR_MODE, &mode) < 0) return errno;
  if (ioctl(device->fd, SPI_IOC_WR_BITS_PER_WORD, &bits) < 0) return errno;
  if (ioctl(device->fd, SPI_IOC_WR_MAX_SPEED_HZ, &speed_hz) < 0) return errno;
  return 0;
}

// Not repeated after EINTR: spidev and spi_sync() wait uninterruptibly, so it could only come from
// a controller's driver that gave up in the middle, and then part of the packet may have been
// clocked out already.
static int message(int fd, const struct spi_ioc_transfer *transfers, uint32_t count) {
  // SPI_IOC_MESSAGE needs a constant.
  int result;
  switch (count) {
  case 1: result = ioctl(fd, SPI_IOC_MESSAGE(1), transfers); break;
  case 2: result = ioctl(fd, SPI_IOC_MESSAGE(2), transfers); break;
  case 3: result = ioctl(fd, SPI_IOC_MESSAGE(3), transfers); break;
  default: result = ioctl(fd, SPI_IOC_MESSAGE(4), transfers); break;
  }
  return result < 0 ? errno : 0;
}

int cuwb_spidev_transfer(struct cuwb_spidev *device, const cuwb_segment *segments,
                         uint32_t count) {
  if (count > SEGMENTS) return EINVAL;
  struct spi_ioc_transfer transfers[SEGMENTS];
  memset(transfers, 0, sizeof(transfers));
  uint32_t used = 0;
  bool has_empty = false;
  for (uint32_t i = 0; i < count; i++) {
    if (segments[i].length == 0 && device->refuses_empty) continue;
    has_empty |= segments[i].length == 0;
    transfers[used].tx_buf = (uintptr_t)segments[i].out;
    transfers[used].rx_buf = (uintptr_t)segments[i].in;
    transfers[used].len = segments[i].length;
    transfers[used].delay_usecs = segments[i].hold_us;
    used++;
  }
  if (used == 0) return 0;
  int error = message(device->fd, transfers, used);
  if (error != EINVAL || !has_empty) return error;
  device->refuses_empty = true;
  return cuwb_spidev_transfer(device, segments, count);
}

uint32_t cuwb_spi_bufsiz(void) {
  char text[16] = {0};
  int fd = open("/sys/module/spidev/parameters/bufsiz", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    ssize_t count = read(fd, text, sizeof(text) - 1);
    if (count < 0) text[0] = 0;
    close(fd);
  }
  unsigned long size = strtoul(text, NULL, 10);
  // The kernel's default.
  return size > 0 && size <= UINT32_MAX ? (uint32_t)size : 4096;
}
