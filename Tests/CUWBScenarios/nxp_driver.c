// SPDX-License-Identifier: Apache-2.0
//
// NXP's kernel drivers.
#include <errno.h>
#include <stdlib.h>

#include "../ChipModels/nxp_driver_model.h"
#include "scenario.h"

static struct nxp_driver_model driver;
static cuwb_link *link;
static uint8_t memory[8192];
static cuwb_frame frame;
static const uint8_t status_ready[] = {0x60, 0x01, 0x00, 0x01, 0x01};

static void open_driver(unsigned width, cuwb_start start) {
  cuwb_chardev_ops ops = nxp_driver_model_init(&driver, width);
  CHECK_EQUAL(cuwb_open_chardev(ops, start, &link).outcome, CUWB_OK);
}

static void close_driver(void) {
  cuwb_link_close(link);
  CHECK(driver.closed);
  nxp_driver_model_destroy(&driver);
}

static cuwb_outcome read_packet(int32_t timeout_ms) {
  return cuwb_read_frame(link, memory, sizeof(memory), timeout_ms, &frame).outcome;
}

static void expect(const uint8_t *bytes, uint32_t length) {
  CHECK_EQUAL(read_packet(10000), CUWB_OK);
  CHECK_EQUAL(frame.length, length);
  CHECK(memcmp(memory, bytes, length) == 0);
}

static void expect_calls(const unsigned long (*calls)[2], unsigned count) {
  CHECK_EQUAL(driver.call_count, count);
  for (unsigned i = 0; i < count && i < driver.call_count; i++) {
    CHECK_EQUAL(driver.calls[i].request, calls[i][0]);
    CHECK_EQUAL(driver.calls[i].value, calls[i][1]);
  }
}

static void encodings(void) {
  static const unsigned long narrow[][2] = {{SET_PWR_32, 1}, {SET_FWD_32, 1}, {SET_FWD_32, 0}};
  static const unsigned long wide[][2] = {{SET_PWR_64, 1}, {SET_FWD_64, 1}, {SET_FWD_64, 0}};
  open_driver(4, CUWB_START_KEEP);
  CHECK_EQUAL(read_packet(0), CUWB_TIMEOUT);
  expect_calls(narrow, 3);
  close_driver();

  open_driver(8, CUWB_START_KEEP);
  CHECK_EQUAL(read_packet(0), CUWB_TIMEOUT);
  expect_calls(wide, 3);
  close_driver();

  cuwb_result result = cuwb_open_chardev(nxp_driver_model_init(&driver, 0), CUWB_START_KEEP, &link);
  CHECK_EQUAL(result.outcome, CUWB_FAILED);
  CHECK_EQUAL(result.error, ENOTTY);
  CHECK(!driver.closed);
  nxp_driver_model_destroy(&driver);
}

static void cycle(void) {
  static const unsigned long calls[][2] = {{SET_PWR_32, 1}, {SET_PWR_32, 0}, {SET_PWR_32, 1}};
  open_driver(4, CUWB_START_CYCLE);
  expect_calls(calls, 3);
  close_driver();
}

static void several_packets_at_once(void) {
  static uint8_t block[4200];
  open_driver(4, CUWB_START_KEEP);
  uint32_t first = make_packet(block, 0x62, 0, 56, 1);
  uint32_t second = make_packet(block + first, 0x69, 0x8A, 2000, 2);
  uint32_t third = make_packet(block + first + second, 0x02, 0, 300, 3);
  nxp_driver_model_reply(&driver, block, first + second + third);
  expect(block, first);
  expect(block + first, second);
  expect(block + first + second, third);
  CHECK_EQUAL(read_packet(0), CUWB_TIMEOUT);
  // A smaller buffer would be overrun.
  CHECK(driver.least >= 4200);
  close_driver();
}

static void ends_a_read(void) {
  open_driver(4, CUWB_START_KEEP);
  CHECK_EQUAL(read_packet(0), CUWB_TIMEOUT);
  pthread_mutex_lock(&driver.lock);
  while (!driver.reading) pthread_cond_wait(&driver.changed, &driver.lock);
  pthread_mutex_unlock(&driver.lock);
  cuwb_link_close(link);
  CHECK(driver.closed);
  CHECK_EQUAL(driver.calls[driver.call_count - 1].request, SET_PWR_32);
  CHECK_EQUAL(driver.calls[driver.call_count - 1].value, 2);
  nxp_driver_model_destroy(&driver);

  // The link is never read from, so there is no read to end.
  open_driver(4, CUWB_START_KEEP);
  close_driver();
  CHECK_EQUAL(driver.call_count, 1);
}

static void wakes(void) {
  open_driver(4, CUWB_START_KEEP);
  cuwb_link_wake(link);
  CHECK_EQUAL(read_packet(-1), CUWB_WOKEN);
  nxp_driver_model_reply(&driver, status_ready, 5);
  expect(status_ready, 5);
  cuwb_link_wake(link);
  CHECK_EQUAL(read_packet(-1), CUWB_WOKEN);
  CHECK_EQUAL(read_packet(1), CUWB_TIMEOUT);
  close_driver();
}

// More packets than the queue holds while the link is not read: the thread waits, and none is lost.
static void a_slow_reader(void) {
  static uint8_t packet[300];
  open_driver(4, CUWB_START_KEEP);
  CHECK_EQUAL(read_packet(0), CUWB_TIMEOUT);
  for (unsigned i = 0; i < 1000; i++) {
    uint32_t length = make_packet(packet, 0x62, 0, 100 + i % 100, (uint8_t)i);
    nxp_driver_model_reply(&driver, packet, length);
  }
  for (unsigned i = 0; i < 1000 && !scenario_has_failed(); i++) {
    uint32_t length = make_packet(packet, 0x62, 0, 100 + i % 100, (uint8_t)i);
    expect(packet, length);
  }
  close_driver();
}

static void closed_while_full(void) {
  static uint8_t packet[300];
  open_driver(4, CUWB_START_KEEP);
  for (unsigned i = 0; i < 1000; i++) {
    nxp_driver_model_reply(&driver, packet, make_packet(packet, 0x62, 0, 200, (uint8_t)i));
  }
  CHECK_EQUAL(read_packet(10000), CUWB_OK);
  close_driver();
}

static void failures(void) {
  open_driver(4, CUWB_START_KEEP);
  for (unsigned i = 0; i < 3; i++) nxp_driver_model_fail(&driver, EIO);
  nxp_driver_model_fail(&driver, ETIME);
  nxp_driver_model_reply(&driver, status_ready, 5);
  expect(status_ready, 5);
  CHECK_EQUAL(cuwb_link_get_stats(link).resynchronisations, 4);
  nxp_driver_model_fail(&driver, ENODEV);
  CHECK_EQUAL(read_packet(10000), CUWB_GONE);
  CHECK_EQUAL(read_packet(10000), CUWB_GONE);
  close_driver();

  open_driver(4, CUWB_START_KEEP);
  driver.forever = EIO;
  CHECK_EQUAL(read_packet(10000), CUWB_NO_ANSWER);
  close_driver();
}

static void junk(void) {
  static const uint8_t bytes[] = {0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00};
  static uint8_t cut[64];
  open_driver(4, CUWB_START_KEEP);
  nxp_driver_model_reply(&driver, bytes, sizeof(bytes));
  nxp_driver_model_reply(&driver, status_ready, 5);
  expect(status_ready, 5);
  CHECK_EQUAL(cuwb_link_get_stats(link).bytes_skipped, 8);
  make_packet(cut, 0x62, 0, 56, 1);
  nxp_driver_model_reply(&driver, cut, 40);
  nxp_driver_model_reply(&driver, status_ready, 5);
  expect(status_ready, 5);
  CHECK_EQUAL(cuwb_link_get_stats(link).bytes_skipped, 48);
  close_driver();
}

static void writes(void) {
  const uint8_t command[] = {0x20, 0x00, 0x00, 0x01, 0x00};
  open_driver(4, CUWB_START_KEEP);
  driver.busy = 3;
  CHECK_EQUAL(cuwb_write_frame(link, command, 5, 1000).outcome, CUWB_OK);
  CHECK_EQUAL(driver.writes, 1);
  CHECK_EQUAL(driver.written_length, 5);
  CHECK(memcmp(driver.written, command, 5) == 0);
  driver.busy = 1000000;
  CHECK_EQUAL(cuwb_write_frame(link, command, 5, 10).outcome, CUWB_TIMEOUT);
  close_driver();
}

static void loader(void) {
  static const unsigned long calls[][2] = {{SET_PWR_32, 1}, {SET_PWR_32, 0}, {SET_PWR_32, 1},
                                           {SET_FWD_32, 1}, {SET_FWD_32, 0}};
  static const uint8_t query[] = {0x01, 0x21, 0x00, 0x00}, answer[] = {0x02, 0x21, 0x00, 0x00};
  uint8_t got[4];
  open_driver(4, CUWB_START_KEEP);
  CHECK_EQUAL(cuwb_boot_begin(link).outcome, CUWB_OK);
  CHECK_EQUAL(cuwb_boot_write(link, query, 4).outcome, CUWB_OK);
  CHECK(driver.written_length == 4 && memcmp(driver.written, query, 4) == 0);
  nxp_driver_model_fail(&driver, EIO);
  nxp_driver_model_reply(&driver, answer, 4);
  CHECK_EQUAL(cuwb_boot_read(link, got, 4, 1000).outcome, CUWB_OK);
  CHECK(memcmp(got, answer, 4) == 0);
  CHECK_EQUAL(cuwb_boot_end(link).outcome, CUWB_OK);
  CHECK_EQUAL(read_packet(0), CUWB_TIMEOUT);
  expect_calls(calls, 5);
  // Too late: a read of the driver is in progress.
  CHECK_EQUAL(cuwb_boot_begin(link).outcome, CUWB_INVALID);
  close_driver();
}

const struct scenario nxp_driver_scenarios[] = {
    {"NXP's driver: both encodings of the requests, and none", encodings},
    {"NXP's driver: the chip is switched off and on", cycle},
    {"NXP's driver: several packets in one read, whatever its count", several_packets_at_once},
    {"NXP's driver: closing ends a read that waits", ends_a_read},
    {"NXP's driver: a wake ends a read", wakes},
    {"NXP's driver: a slow reader loses nothing", a_slow_reader},
    {"NXP's driver: a link is closed while its queue is full", closed_while_full},
    {"NXP's driver: failures are tolerated, or end the link", failures},
    {"NXP's driver: junk and packets that are cut off", junk},
    {"NXP's driver: a refused write is repeated", writes},
    {"NXP's driver: the boot loader", loader},
    {0},
};
