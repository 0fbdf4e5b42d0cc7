// SPDX-License-Identifier: Apache-2.0
//
// The operations of the benchmark on a ring in C or C++. Included by each of them after it has
// defined
//
//   ring             its type
//   make, drop       create and destroy one
//   put              copies a frame in; false when it is full
//   take_sum         takes a frame out and adds the sum of its words; false when it is empty
//   take_answer      takes a frame out and puts it into another ring before its slot is free
//
// Includes nothing, because some include it inside of a namespace.

static void *create(void) { return make(); }

static void destroy(void *of) { drop((ring *)of); }

static uint64_t same_thread(void *of, const uint8_t *frame, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (!put((ring *)of, frame, CUWB_RING_FRAME_LENGTH, i)) abort();
    if (!take_sum((ring *)of, &sum)) abort();
  }
  return sum;
}

static inline void put_waiting(ring *to, const uint8_t *frame, size_t length, uint64_t at) {
  while (!put(to, frame, length, at)) cuwb_reference_pause();
}

static void produce(void *of, const uint8_t *frame, size_t count) {
  for (size_t i = 0; i < count; i++) put_waiting((ring *)of, frame, CUWB_RING_FRAME_LENGTH, i);
}

static uint64_t consume(void *of, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    while (!take_sum((ring *)of, &sum)) cuwb_reference_pause();
  }
  return sum;
}

static void call(void *there, void *back, const uint8_t *frame, uint32_t *nanoseconds,
                 size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint64_t started = cuwb_test_now();
    put_waiting((ring *)there, frame, CUWB_RING_FRAME_LENGTH, i);
    consume(back, 1);
    nanoseconds[i] = (uint32_t)(cuwb_test_now() - started);
  }
}

static void answer(void *there, void *back, size_t count) {
  for (size_t i = 0; i < count; i++) {
    while (!take_answer((ring *)there, (ring *)back, i)) cuwb_reference_pause();
  }
}

#define CUWB_RING_PEER(name, package) \
  {name, package, true, create, destroy, same_thread, produce, consume, call, answer}
