// SPDX-License-Identifier: Apache-2.0
//
// Devices with a packet for each call: Qorvo's driver, replaced by a socket that keeps packets
// apart, and a driver of NXP's whose reads only cancellation ends.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cuwb_chardev.h"
#include "scenario.h"

static cuwb_link *device;
static int peer;
static uint8_t memory[8192];
static cuwb_frame frame;
static const uint8_t status_ready[] = {0x60, 0x01, 0x00, 0x01, 0x01};

static void open_packets(void) {
  int ends[2] = {-1, -1};
  CHECK_EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
  peer = ends[1];
  CHECK_EQUAL(cuwb_open_packets(ends[0], &device).outcome, CUWB_OK);
}

static void close_packets(void) {
  cuwb_link_close(device);
  if (peer >= 0) close(peer);
}

static cuwb_outcome read_packet(int32_t timeout_ms) {
  return cuwb_read_frame(device, memory, sizeof(memory), timeout_ms, &frame).outcome;
}

static void one_for_each_call(void) {
  static uint8_t packet[4200], got[4200];
  open_packets();
  for (unsigned i = 0; i < 20; i++) {
    uint32_t length = make_packet(packet, 0x02, 0, 10 + i * 200, (uint8_t)i);
    CHECK_EQUAL(send(peer, packet, length, 0), length);
    CHECK_EQUAL(read_packet(10000), CUWB_OK);
    CHECK_EQUAL(frame.length, length);
    CHECK(memcmp(memory, packet, length) == 0);
    CHECK_EQUAL(cuwb_write_frame(device, packet, length, 1000).outcome, CUWB_OK);
    CHECK_EQUAL(recv(peer, got, sizeof(got), 0), length);
    CHECK(memcmp(got, packet, length) == 0);
  }
  CHECK_EQUAL(read_packet(0), CUWB_TIMEOUT);
  CHECK_EQUAL(read_packet(2), CUWB_TIMEOUT);
  CHECK_EQUAL(cuwb_link_get_stats(device).frames_read, 20);
  close_packets();
}

static void wakes(void) {
  open_packets();
  cuwb_link_wake(device);
  CHECK_EQUAL(read_packet(-1), CUWB_WOKEN);
  send(peer, status_ready, 5, 0);
  cuwb_link_wake(device);
  CHECK_EQUAL(read_packet(-1), CUWB_WOKEN);
  CHECK_EQUAL(read_packet(-1), CUWB_OK);
  close_packets();
}

static void gone(void) {
  open_packets();
  send(peer, status_ready, 5, 0);
  close(peer);
  peer = -1;
  CHECK_EQUAL(read_packet(-1), CUWB_OK);
  CHECK_EQUAL(read_packet(-1), CUWB_GONE);
  close_packets();
}

static void no_loader(void) {
  open_packets();
  CHECK_EQUAL(cuwb_boot_begin(device).outcome, CUWB_INVALID);
  CHECK_EQUAL(cuwb_boot_write(device, status_ready, 5).outcome, CUWB_INVALID);
  CHECK_EQUAL(cuwb_boot_read(device, memory, 4, 0).outcome, CUWB_INVALID);
  CHECK_EQUAL(cuwb_boot_end(device).outcome, CUWB_INVALID);
  close_packets();
}

// A file of its own, because a link locks the file that it opens.
static int make_file(char *path) {
  strcpy(path, "/tmp/cuwb-scenario-XXXXXX");
  return mkstemp(path);
}

static void not_such_a_device(void) {
  char path[64];
  int file = make_file(path);
  uint32_t state;
  cuwb_result result = cuwb_open_qm35(path, CUWB_START_KEEP, &device, &state);
  CHECK_EQUAL(result.outcome, CUWB_FAILED);
  CHECK_EQUAL(result.error, ENOTTY);
  result = cuwb_open_qm35("/dev/no-such-device", CUWB_START_KEEP, &device, &state);
  CHECK_EQUAL(result.error, ENOENT);
  result = cuwb_open_srxxx(path, CUWB_START_KEEP, &device);
  CHECK_EQUAL(result.outcome, CUWB_FAILED);
  CHECK_EQUAL(result.error, ENOTTY);
  result = cuwb_open_srxxx("/dev/no-such-device", CUWB_START_KEEP, &device);
  CHECK_EQUAL(result.error, ENOENT);
  close(file);
  unlink(path);
}

static void no_spidev(void) {
  char path[64];
  int file = make_file(path);
  cuwb_spi_error_info info;
  cuwb_spi_options options = {.protocol = CUWB_SPI_SR1XX, .lines[CUWB_LINE_IRQ] = "GPIO24"};
  cuwb_result result = cuwb_open_spi(path, &options, &device, &info);
  CHECK_EQUAL(result.outcome, CUWB_INVALID);
  CHECK_EQUAL(info.step, CUWB_SPI_LINE_NEEDED);
  CHECK_EQUAL(info.line, 4);
  options.lines[CUWB_LINE_READ] = "gpiochip250:3";
  result = cuwb_open_spi("/dev/no-such-device", &options, &device, &info);
  CHECK_EQUAL(result.error, ENOENT);
  CHECK_EQUAL(info.step, CUWB_SPI_DEVICE);
  result = cuwb_open_spi(path, &options, &device, &info);
  CHECK_EQUAL(result.error, ENOTTY);
  CHECK_EQUAL(info.step, CUWB_SPI_SETTINGS);
  // Another program has the device open.
  int other = open(path, O_RDWR);
  CHECK_EQUAL(flock(other, LOCK_EX), 0);
  result = cuwb_open_spi(path, &options, &device, &info);
  CHECK_EQUAL(result.error, EBUSY);
  CHECK_EQUAL(info.step, CUWB_SPI_DEVICE);
  result = cuwb_open_srxxx(path, CUWB_START_KEEP, &device);
  CHECK_EQUAL(result.error, EBUSY);
  close(other);
  close(file);
  unlink(path);
  CHECK(cuwb_spi_bufsiz() >= 4096);
}

// Blocks in read(2), and supports only the request that switches the chip on.
static int pipe_ends[2];

static ssize_t stubborn_read(void *context, void *bytes, size_t size) {
  (void)context;
  return read(pipe_ends[0], bytes, size);
}

static ssize_t stubborn_write(void *context, const void *bytes, size_t size) {
  (void)context;
  (void)bytes;
  return (ssize_t)size;
}

static int stubborn_control(void *context, unsigned long request, unsigned long value) {
  (void)context;
  (void)request;
  return value == 2 ? EINVAL : 0;
}

static void stubborn_close(void *context) {
  (void)context;
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

static void stubborn(void) {
#if __has_feature(thread_sanitizer)
  // The driver assumes that a thread which was cancelled in read(2) is still in it.
  return;
#endif
  cuwb_chardev_ops ops = {.read = stubborn_read,
                    .write = stubborn_write,
                    .control = stubborn_control,
                    .close = stubborn_close};
  CHECK_EQUAL(pipe(pipe_ends), 0);
  CHECK_EQUAL(cuwb_open_chardev(ops, CUWB_START_KEEP, &device).outcome, CUWB_OK);
  ssize_t sent = write(pipe_ends[1], status_ready, 5);
  CHECK_EQUAL(sent, 5);
  CHECK_EQUAL(read_packet(10000), CUWB_OK);
  cuwb_link_close(device);
}

const struct scenario packet_scenarios[] = {
    {"A packet for each call: every packet passes whole", one_for_each_call},
    {"A packet for each call: a wake ends a read", wakes},
    {"A packet for each call: the device goes away", gone},
    {"A packet for each call: there is no boot loader", no_loader},
    {"Other kinds of devices are refused", not_such_a_device},
    {"An SPI device is refused if it is not one, is in use, or lacks a line", no_spidev},
    {"NXP's driver: a read that no request ends is cancelled", stubborn},
    {0},
};
