// SPDX-License-Identifier: Apache-2.0
#include "gpio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/gpio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// The name that `gpioinfo` shows as the consumer of our lines.
#define CONSUMER "swift-uwb"

// The number of edges that the kernel keeps. An overflow does no harm: only the kinds of edges
// count, not their number.
#define EVENTS 64

// --------------------------------------------------------------------------------- finding a line

static int open_chip(const char *path) { return open(path, O_RDWR | O_NOCTTY | O_CLOEXEC); }

static int chip_info(int chip, struct gpiochip_info *info) {
  memset(info, 0, sizeof(*info));
  return ioctl(chip, GPIO_GET_CHIPINFO_IOCTL, info) < 0 ? errno : 0;
}

// Splits `gpiochip0:24`, `/dev/gpiochip0:24` or `0:24`. Returns false if the text is a name.
static bool split(const char *text, char *path, size_t size, uint32_t *offset) {
  const char *colon = strrchr(text, ':');
  if (!colon || colon == text) return false;
  size_t length = (size_t)(colon - text);
  char *end;
  errno = 0;
  unsigned long number = strtoul(colon + 1, &end, 10);
  if (colon[1] < '0' || colon[1] > '9' || *end || errno || number > UINT32_MAX) return false;
  bool digits = strspn(text, "0123456789") == length;
  int printed;
  if (digits) {
    printed = snprintf(path, size, "/dev/gpiochip%.*s", (int)length, text);
  } else if (text[0] == '/') {
    printed = snprintf(path, size, "%.*s", (int)length, text);
  } else if (strncmp(text, "gpiochip", 8) == 0) {
    printed = snprintf(path, size, "/dev/%.*s", (int)length, text);
  } else {
    return false;
  }
  *offset = (uint32_t)number;
  return printed > 0 && (size_t)printed < size;
}

static int find_offset(const char *path, uint32_t offset, struct cuwb_gpio_line *found) {
  int chip = open_chip(path);
  if (chip < 0) return errno;
  struct gpiochip_info info;
  int error = chip_info(chip, &info);
  if (!error && offset >= info.lines) error = ERANGE;
  if (error) {
    close(chip);
    return error;
  }
  *found = (struct cuwb_gpio_line){chip, offset};
  return 0;
}

// Counts the lines of that name on one chip; *offset is the offset of the last one.
static unsigned count_named(int chip, const char *name, uint32_t *offset) {
  struct gpiochip_info info;
  if (chip_info(chip, &info) != 0) return 0;
  unsigned count = 0;
  for (uint32_t i = 0; i < info.lines; i++) {
    struct gpio_v2_line_info line = {.offset = i};
    if (ioctl(chip, GPIO_V2_GET_LINEINFO_IOCTL, &line) < 0) continue;
    if (strncmp(line.name, name, sizeof(line.name)) != 0) continue;
    *offset = i;
    count++;
  }
  return count;
}

static int find_name(const char *name, struct cuwb_gpio_line *found) {
  DIR *folder = opendir("/dev");
  if (!folder) return errno;
  unsigned count = 0;
  int denied = 0;
  found->chip = -1;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (strncmp(entry->d_name, "gpiochip", 8) != 0) continue;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
    // Symbolic links are skipped, because each line would be found twice.
    if (entry->d_type == DT_LNK) continue;
    int chip = open_chip(path);
    if (chip < 0) {
      denied = errno == EACCES || errno == EPERM ? errno : denied;
      continue;
    }
    uint32_t offset = 0;
    unsigned here = count_named(chip, name, &offset);
    count += here;
    if (here > 0 && found->chip < 0) {
      *found = (struct cuwb_gpio_line){chip, offset};
    } else {
      close(chip);
    }
  }
  closedir(folder);
  if (count == 1) return 0;
  if (found->chip >= 0) cuwb_gpio_release(found);
  if (count > 1) return ENOTUNIQ;
  // The line may be on a chip that this user is not allowed to open.
  return denied ? denied : ENOENT;
}

int cuwb_gpio_find(const char *text, struct cuwb_gpio_line *found) {
  char path[PATH_MAX];
  uint32_t offset;
  if (split(text, path, sizeof(path), &offset)) return find_offset(path, offset, found);
  return *text ? find_name(text, found) : ENOENT;
}

void cuwb_gpio_release(struct cuwb_gpio_line *found) {
  close(found->chip);
  found->chip = -1;
}

bool cuwb_gpio_is_used(struct cuwb_gpio_line line, char *consumer) {
  struct gpio_v2_line_info info = {.offset = line.offset};
  consumer[0] = 0;
  if (ioctl(line.chip, GPIO_V2_GET_LINEINFO_IOCTL, &info) < 0) return false;
  memcpy(consumer, info.consumer, GPIO_MAX_NAME_SIZE);
  consumer[GPIO_MAX_NAME_SIZE - 1] = 0;
  return info.flags & GPIO_V2_LINE_FLAG_USED;
}

// ----------------------------------------------------------------------------------- using a line

int cuwb_gpio_request(struct cuwb_gpio_line line, enum cuwb_gpio_use use, int *descriptor) {
  struct gpio_v2_line_request request = {
      .offsets = {line.offset}, .consumer = CONSUMER, .num_lines = 1, .fd = -1};
  if (use == CUWB_GPIO_INPUT) {
    request.config.flags = GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_EDGE_RISING |
                           GPIO_V2_LINE_FLAG_EDGE_FALLING;
    request.event_buffer_size = EVENTS;
  } else {
    request.config.flags = GPIO_V2_LINE_FLAG_OUTPUT;
    // The level is set from the start, so that a running chip is not switched off.
    request.config.num_attrs = 1;
    request.config.attrs[0].attr.id = GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES;
    request.config.attrs[0].attr.values = use == CUWB_GPIO_HIGH;
    request.config.attrs[0].mask = 1;
  }
  if (ioctl(line.chip, GPIO_V2_GET_LINE_IOCTL, &request) < 0) return errno;
  int flags = fcntl(request.fd, F_GETFL);
  if (flags < 0 || fcntl(request.fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    int error = errno;
    close(request.fd);
    return error;
  }
  *descriptor = request.fd;
  return 0;
}

int cuwb_gpio_get(int descriptor, bool *high) {
  struct gpio_v2_line_values values = {.mask = 1};
  if (ioctl(descriptor, GPIO_V2_LINE_GET_VALUES_IOCTL, &values) < 0) return errno;
  *high = values.bits & 1;
  return 0;
}

int cuwb_gpio_set(int descriptor, bool high) {
  struct gpio_v2_line_values values = {.bits = high, .mask = 1};
  return ioctl(descriptor, GPIO_V2_LINE_SET_VALUES_IOCTL, &values) < 0 ? errno : 0;
}

int cuwb_gpio_edges(int descriptor, cuwb_edges *seen) {
  *seen = (cuwb_edges){0};
  for (;;) {
    struct gpio_v2_line_event events[8];
    ssize_t count = read(descriptor, events, sizeof(events));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : errno;
    if (count == 0) return ENODEV;
    size_t events_read = (size_t)count / sizeof(events[0]);
    for (size_t i = 0; i < events_read; i++) {
      seen->rising |= events[i].id == GPIO_V2_LINE_EVENT_RISING_EDGE;
      seen->falling |= events[i].id == GPIO_V2_LINE_EVENT_FALLING_EDGE;
    }
    if (events_read < sizeof(events) / sizeof(events[0])) return 0;
  }
}

// ---------------------------------------------------------------------------- a line of its own

int cuwb_output_open(const char *line, bool high, int *descriptor, cuwb_spi_error_info *info) {
  memset(info, 0, sizeof(*info));
  struct cuwb_gpio_line found;
  info->step = CUWB_SPI_LINE_LOOKUP;
  int error = cuwb_gpio_find(line, &found);
  if (error) return error;
  info->step = CUWB_SPI_LINE_REQUEST;
  error = cuwb_gpio_request(found, high ? CUWB_GPIO_HIGH : CUWB_GPIO_LOW, descriptor);
  if (error == EBUSY) cuwb_gpio_is_used(found, info->consumer);
  cuwb_gpio_release(&found);
  return error;
}

int cuwb_output_set(int descriptor, bool high) { return cuwb_gpio_set(descriptor, high); }
