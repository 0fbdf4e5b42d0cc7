// SPDX-License-Identifier: Apache-2.0
//
// The wires of a chip on a Linux machine: spidev and lines of the GPIO character device.
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpio.h"
#include "spidev.h"
#include "wired.h"

struct machine {
  struct cuwb_spidev spi;
  // One descriptor for each line, -1 where it is not connected.
  int lines[CUWB_LINES];
};

static bool is_input(cuwb_line line) { return line <= CUWB_LINE_AWAKE; }

// ------------------------------------------------------------------------------------------ wires

static int machine_transfer(void *context, const cuwb_segment *segments, uint32_t count) {
  struct machine *machine = context;
  return cuwb_spidev_transfer(&machine->spi, segments, count);
}

static int machine_drive(void *context, cuwb_line line, bool high) {
  struct machine *machine = context;
  return cuwb_gpio_set(machine->lines[line], high);
}

static int machine_sense(void *context, cuwb_line line, bool *high) {
  struct machine *machine = context;
  return cuwb_gpio_get(machine->lines[line], high);
}

static int machine_edges(void *context, cuwb_line line, cuwb_edges *seen) {
  struct machine *machine = context;
  return cuwb_gpio_edges(machine->lines[line], seen);
}

static int machine_wait(void *context, uint8_t lines, int wake_fd, uint64_t until_ns) {
  struct machine *machine = context;
  struct pollfd polled[CUWB_LINES + 1] = {{.fd = wake_fd, .events = POLLIN}};
  nfds_t count = 1;
  for (unsigned line = 0; line < CUWB_LINES; line++) {
    if (!(lines >> line & 1)) continue;
    polled[count++] = (struct pollfd){.fd = machine->lines[line], .events = POLLIN};
  }
  int error = cuwb_poll(polled, count, until_ns);
  if (error) return error;
  for (nfds_t i = 1; i < count; i++) {
    // The GPIO chip has gone.
    if (polled[i].revents & (POLLERR | POLLHUP | POLLNVAL)) return ENODEV;
  }
  return 0;
}

static uint64_t machine_now(void *context) {
  (void)context;
  return cuwb_monotonic_ns();
}

static void machine_pause(void *context, uint64_t duration_ns) {
  (void)context;
  const uint64_t second = UINT64_C(1000000000);
  struct timespec left = {(time_t)(duration_ns / second), (long)(duration_ns % second)};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

static void machine_close(void *context) {
  struct machine *machine = context;
  for (unsigned line = 0; line < CUWB_LINES; line++) {
    if (machine->lines[line] >= 0) close(machine->lines[line]);
  }
  if (machine->spi.fd >= 0) cuwb_spidev_close(&machine->spi);
  free(machine);
}

// ------------------------------------------------------------------------------------------ open

// A line that the chip drives is an input; of the others, CE and the resets begin as they will stay,
// so that a chip which runs is not disturbed.
static enum cuwb_gpio_use use_of(cuwb_line line) {
  if (is_input(line)) return CUWB_GPIO_INPUT;
  return line == CUWB_LINE_POWER ? CUWB_GPIO_HIGH : CUWB_GPIO_LOW;
}

static int open_line(struct machine *machine, cuwb_line line, const char *text,
                     cuwb_spi_trouble *trouble) {
  struct cuwb_gpio_line found;
  trouble->line = line;
  trouble->step = CUWB_SPI_LINE_LOOKUP;
  int error = cuwb_gpio_find(text, &found);
  if (error) return error;
  trouble->step = CUWB_SPI_LINE_REQUEST;
  error = cuwb_gpio_request(found, use_of(line), &machine->lines[line]);
  if (error == EBUSY) cuwb_gpio_is_used(found, trouble->consumer);
  cuwb_gpio_release(&found);
  return error;
}

static uint32_t default_speed(cuwb_wired_protocol protocol) {
  return protocol == CUWB_WIRED_HSSPI ? 3000000 : 16000000;
}

cuwb_result cuwb_open_spi(const char *path, const cuwb_spi_options *options, cuwb_link **link,
                          cuwb_spi_trouble *trouble) {
  memset(trouble, 0, sizeof(*trouble));
  struct machine *machine = calloc(1, sizeof(*machine));
  if (!machine) return cuwb_failed(ENOMEM);
  for (unsigned line = 0; line < CUWB_LINES; line++) machine->lines[line] = -1;
  machine->spi.fd = -1;
  cuwb_wires wires = {
      .context = machine,
      .longest = cuwb_spi_bufsiz(),
      .transfer = machine_transfer,
      .drive = machine_drive,
      .sense = machine_sense,
      .edges = machine_edges,
      .wait = machine_wait,
      .now = machine_now,
      .pause = machine_pause,
      .close = machine_close,
  };
  const char *names[CUWB_LINES] = {
      [CUWB_LINE_IRQ] = options->irq,     [CUWB_LINE_READY] = options->ready,
      [CUWB_LINE_AWAKE] = options->awake, [CUWB_LINE_POWER] = options->power,
      [CUWB_LINE_READ] = options->read,   [CUWB_LINE_WAKE] = options->wake,
  };
  for (unsigned line = 0; line < CUWB_LINES; line++) {
    if (names[line]) wires.lines |= (uint8_t)(1u << line);
  }

  cuwb_result result;
  uint8_t missing = cuwb_wired_lines_needed(options->protocol) & (uint8_t)~wires.lines;
  if (missing) {
    trouble->step = CUWB_SPI_LINE_NEEDED;
    trouble->line = (uint32_t)__builtin_ctz(missing);
    result = cuwb_outcome_of(CUWB_INVALID);
    goto close;
  }
  trouble->step = CUWB_SPI_DEVICE;
  int error = cuwb_spidev_open(&machine->spi, path);
  if (!error) {
    trouble->step = CUWB_SPI_SETTINGS;
    uint32_t speed = options->speed_hz ? options->speed_hz : default_speed(options->protocol);
    error = cuwb_spidev_set_up(&machine->spi, speed);
  }
  for (unsigned line = 0; line < CUWB_LINES && !error; line++) {
    if (names[line]) error = open_line(machine, (cuwb_line)line, names[line], trouble);
  }
  if (error) {
    result = cuwb_failed(error);
    goto close;
  }
  trouble->step = CUWB_SPI_CHIP;
  result = cuwb_open_wires(wires, options->protocol, options->start, link);
  if (result.outcome == CUWB_OK) return result;

close:
  machine_close(machine);
  return result;
}
