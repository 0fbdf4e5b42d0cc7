// SPDX-License-Identifier: Apache-2.0
//
// The bus of a chip on a Linux machine: spidev, and lines of the GPIO character device.
#include <fcntl.h>
#include <linux/spi/spidev.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "gpio.h"
#include "spi_chip.h"

// The greatest number of segments of a transfer.
#define SEGMENTS 4

struct linux_spi_host {
  int spi;
  // Some controllers' drivers refuse a transfer of zero bytes. Then there is no pause between the
  // chip select and the first clock.
  bool refuses_empty;
  // The descriptors of the lines, by line; -1 for a line that is not connected.
  int lines[CUWB_LINES];
};

static bool is_input(cuwb_line line) { return line <= CUWB_LINE_AWAKE; }

// ------------------------------------------------------------------------------------------ spidev

// Sets mode 0, 8 bits, most significant bit first.
static int set_up(int fd, uint32_t speed_hz) {
  // The device tree sets the polarity of the chip select, and the kernel keeps it.
  uint8_t mode = SPI_MODE_0;
  uint8_t bits = 8;
  if (ioctl(fd, SPI_IOC_WR_MODE, &mode) < 0) return errno;
  if (ioctl(fd, SPI_IOC_WR_BITS_PER_WORD, &bits) < 0) return errno;
  if (ioctl(fd, SPI_IOC_WR_MAX_SPEED_HZ, &speed_hz) < 0) return errno;
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

static int host_transfer(void *context, const cuwb_segment *segments, uint32_t count) {
  struct linux_spi_host *host = context;
  if (count > SEGMENTS) return EINVAL;
  struct spi_ioc_transfer transfers[SEGMENTS];
  memset(transfers, 0, sizeof(transfers));
  uint32_t used = 0;
  bool has_empty = false;
  for (uint32_t i = 0; i < count; i++) {
    if (segments[i].length == 0 && host->refuses_empty) continue;
    has_empty |= segments[i].length == 0;
    transfers[used].tx_buf = (uintptr_t)segments[i].out;
    transfers[used].rx_buf = (uintptr_t)segments[i].in;
    transfers[used].len = segments[i].length;
    transfers[used].delay_usecs = segments[i].hold_us;
    used++;
  }
  if (used == 0) return 0;
  int error = message(host->spi, transfers, used);
  if (error != EINVAL || !has_empty) return error;
  host->refuses_empty = true;
  return host_transfer(host, segments, count);
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
  // The kernel's default is 4096.
  return size > 0 && size <= UINT32_MAX ? (uint32_t)size : 4096;
}

// -------------------------------------------------------------------------------------------- GPIO

static int host_drive(void *context, cuwb_line line, bool high) {
  struct linux_spi_host *host = context;
  return cuwb_gpio_set(host->lines[line], high);
}

static int host_sense(void *context, cuwb_line line, bool *high) {
  struct linux_spi_host *host = context;
  return cuwb_gpio_get(host->lines[line], high);
}

static int host_edges(void *context, cuwb_line line, cuwb_edges *seen) {
  struct linux_spi_host *host = context;
  return cuwb_gpio_edges(host->lines[line], seen);
}

static int host_wait(void *context, uint8_t lines, int wake_fd, uint64_t until_ns, bool *woken) {
  struct linux_spi_host *host = context;
  struct pollfd polled[CUWB_LINES + 1] = {{.fd = wake_fd, .events = POLLIN}};
  nfds_t count = 1;
  for (unsigned line = 0; line < CUWB_LINES; line++) {
    if (!(lines >> line & 1)) continue;
    polled[count++] = (struct pollfd){.fd = host->lines[line], .events = POLLIN};
  }
  int error = cuwb_poll(polled, count, until_ns);
  if (error) return error;
  if (woken) *woken = polled[0].revents != 0;
  for (nfds_t i = 1; i < count; i++) {
    // The GPIO chip was unplugged.
    if (polled[i].revents & (POLLERR | POLLHUP | POLLNVAL)) return ENODEV;
  }
  return 0;
}

static uint64_t host_now(void *context) {
  (void)context;
  return cuwb_monotonic_ns();
}

static void host_pause(void *context, uint64_t duration_ns) {
  (void)context;
  const uint64_t second = UINT64_C(1000000000);
  struct timespec left = {(time_t)(duration_ns / second), (long)(duration_ns % second)};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

static void host_close(void *context) {
  struct linux_spi_host *host = context;
  for (unsigned line = 0; line < CUWB_LINES; line++) {
    if (host->lines[line] >= 0) close(host->lines[line]);
  }
  if (host->spi >= 0) cuwb_close_locked(host->spi);
  free(host);
}

// ------------------------------------------------------------------------------------------ open

// CE and the resets start high, so that a running chip is not disturbed.
static enum cuwb_gpio_use use_of(cuwb_line line) {
  if (is_input(line)) return CUWB_GPIO_INPUT;
  return line == CUWB_LINE_POWER ? CUWB_GPIO_HIGH : CUWB_GPIO_LOW;
}

static int open_line(struct linux_spi_host *host, cuwb_line line, const char *text,
                     cuwb_spi_error_info *info) {
  struct cuwb_gpio_line found;
  info->line = line;
  info->step = CUWB_SPI_LINE_LOOKUP;
  int error = cuwb_gpio_find(text, &found);
  if (error) return error;
  info->step = CUWB_SPI_LINE_REQUEST;
  error = cuwb_gpio_request(found, use_of(line), &host->lines[line]);
  if (error == EBUSY) cuwb_gpio_is_used(found, info->consumer);
  cuwb_gpio_release(&found);
  return error;
}

static uint32_t default_speed(cuwb_spi_protocol protocol) {
  return protocol == CUWB_SPI_HSSPI ? 3000000 : 16000000;
}

cuwb_result cuwb_open_spi(const char *path, const cuwb_spi_options *options, cuwb_link **link,
                          cuwb_spi_error_info *info) {
  memset(info, 0, sizeof(*info));
  struct linux_spi_host *host = calloc(1, sizeof(*host));
  if (!host) return cuwb_failed(ENOMEM);
  for (unsigned line = 0; line < CUWB_LINES; line++) host->lines[line] = -1;
  host->spi = -1;
  cuwb_spi_bus bus = {
      .context = host,
      .longest = cuwb_spi_bufsiz(),
      .transfer = host_transfer,
      .drive = host_drive,
      .sense = host_sense,
      .edges = host_edges,
      .wait = host_wait,
      .now = host_now,
      .pause = host_pause,
      .close = host_close,
  };
  for (unsigned line = 0; line < CUWB_LINES; line++) {
    if (options->lines[line]) bus.lines |= (uint8_t)(1u << line);
  }

  cuwb_result result;
  uint8_t missing = cuwb_spi_lines_needed(options->protocol) & (uint8_t)~bus.lines;
  if (missing) {
    info->step = CUWB_SPI_LINE_NEEDED;
    info->line = (uint32_t)__builtin_ctz(missing);
    result = cuwb_outcome_of(CUWB_INVALID);
    goto close;
  }
  info->step = CUWB_SPI_DEVICE;
  int error = cuwb_open_locked(path, &host->spi);
  if (!error) {
    info->step = CUWB_SPI_SETTINGS;
    uint32_t speed = options->speed_hz ? options->speed_hz : default_speed(options->protocol);
    error = set_up(host->spi, speed);
  }
  for (unsigned line = 0; line < CUWB_LINES && !error; line++) {
    if (options->lines[line]) error = open_line(host, (cuwb_line)line, options->lines[line], info);
  }
  if (error) {
    result = cuwb_failed(error);
    goto close;
  }
  info->step = CUWB_SPI_CHIP;
  result = cuwb_open_spi_bus(bus, options->protocol, options->start, link);
  if (result.outcome == CUWB_OK) return result;

close:
  host_close(host);
  return result;
}
