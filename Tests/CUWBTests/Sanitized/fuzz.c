// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary bytes, in arbitrary pieces and with arbitrary pauses, through the framer alone and
// through a link on a socket pair. Runs under the sanitizers, and traps if the length of a frame
// disagrees with its header. With -fsanitize=fuzzer -DFUZZER this is a libFuzzer target; otherwise
// main() runs seeded random inputs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cuwb_framer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t length_of(const cuwb_framing *rules, const uint8_t *bytes) {
  unsigned type = bytes[0] >> 5;
  size_t wide = bytes[2] | (size_t)bytes[3] << 8;
  if (type >= 1 && type <= 3) {
    return 4 + (rules->extended_length && (bytes[1] & 0x80) ? wide : bytes[3]);
  }
  return 4 + (type == 0 && rules->data_length_in_byte_3 ? bytes[3] : wide);
}

static void check(const cuwb_framing *rules, const uint8_t *bytes, const cuwb_frame *frame) {
  size_t longest = rules->longest_frame ? rules->longest_frame : CUWB_FRAME_MAX;
  if (frame->length < CUWB_HEADER_LENGTH || frame->length > longest) abort();
  if (length_of(rules, bytes) != frame->length) abort();
  if (!(rules->message_types >> (bytes[0] >> 5) & 1)) abort();
}

static cuwb_framing rules_from(uint8_t byte) {
  cuwb_framing rules = cuwb_framing_default();
  rules.extended_length = byte & 1;
  rules.data_length_in_byte_3 = byte & 2;
  if (byte & 4) rules.longest_frame = 300;
  if (byte & 8) rules.message_types = 0xFF;
  if (byte & 16) rules.gap_ms = 5;
  return rules;
}

// The next piece of the input: its first byte gives its length and the pause after it.
struct piece {
  const uint8_t *bytes;
  size_t count;
  uint64_t pause_ns;
};

static struct piece next_piece(const uint8_t **data, size_t *size) {
  uint8_t control = *(*data)++;
  --*size;
  struct piece piece = {*data, (size_t)(control & 0x3F) * (control & 0x3F), 0};
  if (piece.count > *size) piece.count = *size;
  static const uint64_t pauses[] = {0, 1000000, 30000000, 150000000};
  piece.pause_ns = pauses[control >> 6];
  *data += piece.count;
  *size -= piece.count;
  return piece;
}

static uint64_t drain(cuwb_framer *framer, const cuwb_framing *rules) {
  cuwb_found found;
  uint64_t bytes = 0;
  while (cuwb_framer_find(framer, &found)) {
    check(rules, found.bytes, &found.frame);
    bytes += found.frame.length;
    cuwb_framer_take(framer);
  }
  return bytes;
}

static const uint8_t ready[] = {0x60, 0x01, 0x00, 0x01, 0x01};

static void arrive(cuwb_framer *framer, const uint8_t *bytes, size_t count, uint64_t now) {
  size_t room;
  uint8_t *memory = cuwb_framer_room(framer, &room);
  if (room < count) abort();
  memcpy(memory, bytes, count);
  cuwb_framer_arrived(framer, count, now);
}

// After a silence a frame is delivered with its last byte, whatever came before, and so is the next
// one.
static void find_again(cuwb_framer *framer, uint64_t now) {
  for (unsigned number = 0; number < 2; number++) {
    cuwb_found found;
    arrive(framer, ready, sizeof(ready) - 1, now);
    if (cuwb_framer_find(framer, &found)) abort();
    arrive(framer, ready + sizeof(ready) - 1, 1, now);
    if (!cuwb_framer_find(framer, &found)) abort();
    if (found.frame.length != sizeof(ready)) abort();
    if (memcmp(found.bytes, ready, sizeof(ready)) != 0) abort();
    cuwb_framer_take(framer);
  }
}

static void through_framer(const cuwb_framing *rules, const uint8_t *data, size_t size) {
  uint64_t now = 1;
  uint64_t arrived = 0, delivered = 0;
  cuwb_framer *framer = cuwb_framer_create(*rules, now);
  if (!framer) abort();
  while (size > 0) {
    struct piece piece = next_piece(&data, &size);
    while (piece.count > 0) {
      size_t room;
      uint8_t *memory = cuwb_framer_room(framer, &room);
      if (room == 0) abort();
      size_t count = piece.count < room ? piece.count : room;
      memcpy(memory, piece.bytes, count);
      cuwb_framer_arrived(framer, count, now);
      piece.bytes += count;
      piece.count -= count;
      arrived += count;
      delivered += drain(framer, rules);
    }
    now += piece.pause_ns;
    cuwb_framer_quiet(framer, now);
    delivered += drain(framer, rules);
  }
  now += cuwb_framer_gap(framer);
  cuwb_framer_quiet(framer, now);
  delivered += drain(framer, rules);
  find_again(framer, now);
  arrived += 2 * sizeof(ready);
  delivered += 2 * sizeof(ready);
  cuwb_framer_ended(framer);
  delivered += drain(framer, rules);
  // Bytes may be delivered twice, after going back into a frame; no byte may be lost.
  if (cuwb_framer_skipped(framer) > arrived) abort();
  if (delivered + cuwb_framer_skipped(framer) < arrived) abort();
  cuwb_framer_destroy(framer);
}

static void read_all(cuwb_link *link, const cuwb_framing *rules, bool to_the_end) {
  for (;;) {
    uint8_t memory[600];
    cuwb_frame frame;
    cuwb_result result = cuwb_read_frame(link, memory, sizeof(memory), 0, &frame);
    if (result.outcome == CUWB_OK) {
      check(rules, memory, &frame);
      continue;
    }
    if (result.outcome == CUWB_TOO_LONG) {
      uint8_t *large = malloc(frame.length);
      if (!large) abort();
      cuwb_frame again;
      result = cuwb_read_frame(link, large, frame.length, 0, &again);
      if (result.outcome != CUWB_OK || again.length != frame.length) abort();
      check(rules, large, &again);
      free(large);
      continue;
    }
    if (result.outcome != (to_the_end ? CUWB_CLOSED : CUWB_TIMEOUT)) abort();
    return;
  }
}

static void through_link(const cuwb_framing *rules, const uint8_t *data, size_t size) {
  int ends[2];
  cuwb_link *link;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) abort();
  if (cuwb_open_descriptor(ends[0], &link).outcome != CUWB_OK) abort();
  cuwb_link_set_framing(link, *rules);
  while (size > 0) {
    struct piece piece = next_piece(&data, &size);
    if (piece.count > 0 &&
        send(ends[1], piece.bytes, piece.count, MSG_NOSIGNAL) != (ssize_t)piece.count) {
      abort();
    }
    read_all(link, rules, false);
    if (piece.pause_ns == 1000000) {
      cuwb_frame frame;
      cuwb_link_wake(link);
      if (cuwb_read_frame(link, ends, 0, -1, &frame).outcome != CUWB_WOKEN) abort();
    }
  }
  close(ends[1]);
  read_all(link, rules, true);
  cuwb_link_close(link);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  cuwb_framing rules = rules_from(data[0]);
  through_framer(&rules, data + 1, size - 1);
  // System calls take most of the time, so they are not always made.
  if (data[0] & 32) through_link(&rules, data + 1, size - 1);
  return 0;
}

#ifndef FUZZER

static uint64_t state;

static uint64_t next_random(void) {
  state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = state;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

// Half noise, half headers followed by bytes, because noise alone hardly ever contains a header.
static size_t make_input(uint8_t *input, size_t capacity) {
  static const uint8_t first[] = {0x60, 0x62, 0x72, 0x40, 0x41, 0x02, 0x04, 0x0F, 0x79, 0xA0};
  size_t size = 2 + next_random() % (capacity - 2);
  for (size_t i = 0; i < size; i++) input[i] = (uint8_t)next_random();
  if (next_random() & 1) {
    for (size_t i = 2; i + 4 < size;) {
      input[i] = first[next_random() % sizeof(first)];
      input[i + 1] = next_random() % 8 ? 0 : 0x80;
      input[i + 2] = next_random() % 8 ? 0 : (uint8_t)next_random();
      input[i + 3] = (uint8_t)(next_random() % 80);
      i += 4 + input[i + 3] + (next_random() % 16 == 0);
    }
  }
  return size;
}

int main(int count, char **arguments) {
  static uint8_t input[20000];
  uint64_t seconds = count > 1 ? strtoull(arguments[1], NULL, 10) : 5;
  uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
  uint64_t stop = cuwb_monotonic_ns() + seconds * UINT64_C(1000000000);
  uint64_t runs = 0;
  do {
    state = seed + runs;
    LLVMFuzzerTestOneInput(input, make_input(input, sizeof(input)));
    runs++;
  } while (cuwb_monotonic_ns() < stop);
  printf("%llu inputs from seed %llu, no complaint\n", (unsigned long long)runs,
         (unsigned long long)seed);
  return 0;
}

#endif
