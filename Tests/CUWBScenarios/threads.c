// SPDX-License-Identifier: Apache-2.0
//
// One thread reads, another one writes, a third one wakes, and the clock is the machine's. For
// ThreadSanitizer, and for faults that a single thread cannot show: mutual exclusion, and lost
// wakes.
#include <pthread.h>
#include <time.h>

#include "../ChipModels/sr1xx_model.h"
#include "sim_bus.h"

#define NOTIFICATIONS 600
#define COMMANDS 200

static struct sim_bus bus;
static struct sr1xx_model chip;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cuwb_link *link;
static unsigned heard;
static bool all_heard;

static void catch_up(void) { sim_bus_advance(&bus, cuwb_monotonic_ns()); }

// ---------------------------------------------------------------------------------------- threads

static void *read_all(void *context) {
  (void)context;
  static uint8_t memory[8192], packet[300];
  while (heard < NOTIFICATIONS) {
    cuwb_frame frame;
    cuwb_result result = cuwb_read_frame(link, memory, sizeof(memory), 20000, &frame);
    if (result.outcome == CUWB_WOKEN) continue;
    uint32_t length = make_packet(packet, 0x62, 0, 1 + heard % 200, (uint8_t)heard);
    if (result.outcome != CUWB_OK || frame.length != length ||
        memcmp(memory, packet, length) != 0) {
      break;
    }
    heard++;
  }
  __atomic_store_n(&all_heard, true, __ATOMIC_SEQ_CST);
  return NULL;
}

static void *wake_often(void *context) {
  (void)context;
  while (!__atomic_load_n(&all_heard, __ATOMIC_SEQ_CST)) {
    cuwb_link_wake(link);
    struct timespec slice = {0, 300000};
    nanosleep(&slice, NULL);
  }
  return NULL;
}

static void say_some(unsigned *said) {
  uint8_t packet[300];
  pthread_mutex_lock(&lock);
  catch_up();
  while (chip.base.queue.count < 8 && *said < NOTIFICATIONS) {
    uint32_t length = make_packet(packet, 0x62, 0, 1 + *said % 200, (uint8_t)*said);
    chip_say(&chip.base, 0, packet, length, (*said % 7) * 30 * US);
    ++*said;
  }
  pthread_mutex_unlock(&lock);
}

static void open_chip(void) {
  chip_model_forget(&chip.base);
  sim_bus_reset(&bus, &chip.base);
  sr1xx_init(&chip, &bus.board);
  bus.board.now = cuwb_monotonic_ns();
  bus.lock = &lock;
  cuwb_spi_bus interface = sim_bus_interface(&bus, 1u << CUWB_LINE_IRQ | 1u << CUWB_LINE_READ);
  cuwb_result result = cuwb_open_spi_bus(interface, CUWB_SPI_SR1XX, CUWB_START_KEEP, &link);
  CHECK_EQUAL(result.outcome, CUWB_OK);
  heard = 0;
  all_heard = false;
}

static void all_at_once(void) {
  open_chip();
  pthread_t reader, waker;
  CHECK_EQUAL(pthread_create(&reader, NULL, read_all, NULL), 0);
  CHECK_EQUAL(pthread_create(&waker, NULL, wake_often, NULL), 0);

  unsigned said = 0, sent = 0, refused = 0;
  while (sent < COMMANDS && !__atomic_load_n(&all_heard, __ATOMIC_SEQ_CST)) {
    say_some(&said);
    uint8_t command[32];
    uint32_t length = make_packet(command, 0x21, 0x00, 5 + sent % 20, (uint8_t)sent);
    cuwb_outcome outcome = cuwb_write_frame(link, command, length, 1000).outcome;
    if (outcome == CUWB_OK) sent++;
    refused += outcome != CUWB_OK;
  }
  while (!__atomic_load_n(&all_heard, __ATOMIC_SEQ_CST)) {
    say_some(&said);
    struct timespec slice = {0, 200000};
    nanosleep(&slice, NULL);
  }
  pthread_join(reader, NULL);
  pthread_join(waker, NULL);
  CHECK_EQUAL(heard, NOTIFICATIONS);
  CHECK_EQUAL(refused, 0);
  CHECK_EQUAL(chip.base.received.count, sent);
  CHECK_EQUAL(chip.base.violation_count, 0);
  cuwb_link_close(link);
}

static void *read_one(void *context) {
  static uint8_t memory[8192];
  cuwb_frame frame;
  *(cuwb_outcome *)context = cuwb_read_frame(link, memory, sizeof(memory), -1, &frame).outcome;
  return NULL;
}

// The reader receives no edge; the writer finds the packet and reads it.
static void brought_along(void) {
  static const uint8_t command[] = {0x20, 0x02, 0x00, 0x00};
  uint8_t packet[64];
  cuwb_outcome outcome = CUWB_TIMEOUT;
  open_chip();
  bus.is_deaf[CUWB_LINE_IRQ] = true;
  pthread_t reader;
  CHECK_EQUAL(pthread_create(&reader, NULL, read_one, &outcome), 0);
  // Waits until the reader sleeps, or is about to: the interruption is kept in either case.
  struct timespec moment = {0, 5000000};
  nanosleep(&moment, NULL);
  pthread_mutex_lock(&lock);
  catch_up();
  chip_say(&chip.base, 0, packet, make_packet(packet, 0x62, 0, 20, 1), 0);
  catch_up();
  pthread_mutex_unlock(&lock);
  CHECK_EQUAL(cuwb_write_frame(link, command, sizeof(command), 1000).outcome, CUWB_OK);
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 10;
  int joined = pthread_timedjoin_np(reader, NULL, &limit);
  CHECK_EQUAL(joined, 0);
  if (joined != 0) {
    cuwb_link_wake(link);
    pthread_join(reader, NULL);
  }
  CHECK_EQUAL(outcome, CUWB_OK);
  cuwb_link_close(link);
}

const struct scenario thread_scenarios[] = {
    {"Threads: what a write has brought along wakes the reader", brought_along},
    {"Threads: one reads, one writes, one wakes, and nothing is lost", all_at_once},
    {0},
};
