// SPDX-License-Identifier: Apache-2.0
#include "framing.h"

enum {
  TYPE_DATA = 0,
  TYPE_COMMAND = 1,
  TYPE_RESPONSE = 2,
  TYPE_NOTIFICATION = 3,
};

// Handle (4), status or address (at least 2), sequence number (2) and length (2): no data message
// is shorter. Its last segment may be shorter, so only the strict test requires this length.
#define SHORTEST_DATA_MESSAGE 10

#define DEFAULT_GAP_MS 100

static const struct cuwb_header impossible = {CUWB_HEADER_IMPOSSIBLE, 0};
static const struct cuwb_header partial = {CUWB_HEADER_PARTIAL, 0};

cuwb_framing cuwb_framing_default(void) {
  return (cuwb_framing){
      .message_types = 1u << TYPE_DATA | 1u << TYPE_RESPONSE | 1u << TYPE_NOTIFICATION,
      // The formats of data from a chip: data received, logical link data received, radar data.
      .data_formats = 1u << 2 | 1u << 4 | 1u << 15,
      .longest_frame = CUWB_FRAME_MAX,
      .gap_ms = DEFAULT_GAP_MS,
  };
}

cuwb_framing cuwb_framing_normalised(cuwb_framing framing) {
  if (framing.longest_frame == 0 || framing.longest_frame > CUWB_FRAME_MAX) {
    framing.longest_frame = CUWB_FRAME_MAX;
  }
  if (framing.gap_ms == 0) framing.gap_ms = DEFAULT_GAP_MS;
  return framing;
}

static struct cuwb_header test_length(const cuwb_framing *rules, uint32_t payload, bool suspect) {
  uint32_t length = CUWB_HEADER_LENGTH + payload;
  if (length > rules->longest_frame) return impossible;
  return (struct cuwb_header){suspect ? CUWB_HEADER_SUSPECT : CUWB_HEADER_GOOD, length};
}

static struct cuwb_header test_control(const cuwb_framing *rules, const uint8_t *bytes,
                                       size_t available, bool strict) {
  if (available < 2) return partial;
  bool extended = rules->extended_length && (bytes[1] & 0x80);
  // The two upper bits are reserved. No chip is known to set them, and they distinguish a real
  // header from bytes that are off by one, so they are not tolerated.
  if (bytes[1] & (extended ? 0x40 : 0xC0)) return impossible;

  if (available < 3) return partial;
  bool suspect = false;
  if (!extended && bytes[2] != 0) {
    if (strict) return impossible;
    suspect = true;
  }

  if (available < CUWB_HEADER_LENGTH) return partial;
  uint32_t payload = extended ? bytes[2] | (uint32_t)bytes[3] << 8 : bytes[3];
  // Every response begins with a status and every notification has contents; only commands can be
  // empty.
  if (payload == 0 && bytes[0] >> 5 != TYPE_COMMAND) {
    if (strict) return impossible;
    suspect = true;
  }
  return test_length(rules, payload, suspect);
}

static struct cuwb_header test_data(const cuwb_framing *rules, const uint8_t *bytes,
                                    size_t available, bool strict) {
  if (available < 2) return partial;
  bool is_data = bytes[0] >> 5 == TYPE_DATA;
  bool one_byte = is_data && rules->data_length_in_byte_3;
  bool suspect = bytes[1] != 0;
  if (suspect && strict) return impossible;

  if (available < 3) return partial;
  if (one_byte && bytes[2] != 0) {
    if (strict) return impossible;
    suspect = true;
  }

  if (available < CUWB_HEADER_LENGTH) return partial;
  uint32_t payload = one_byte ? bytes[3] : bytes[2] | (uint32_t)bytes[3] << 8;
  if (strict && payload < (is_data ? SHORTEST_DATA_MESSAGE : 1)) return impossible;
  return test_length(rules, payload, suspect || payload == 0);
}

// DATA_MESSAGE_RCV: handle (4), status, address (8), sequence number (2), length of the data (2).
#define MESSAGE_RECEIVED 0x02
#define BEFORE_THE_DATA 17

enum cuwb_data_length cuwb_data_length_test(const uint8_t *bytes, size_t available,
                                            size_t length) {
  size_t end = CUWB_HEADER_LENGTH + BEFORE_THE_DATA;
  if (bytes[0] != MESSAGE_RECEIVED || available < end) return CUWB_DATA_LENGTH_UNKNOWN;
  size_t data = bytes[end - 2] | (size_t)bytes[end - 1] << 8;
  return end + data == length ? CUWB_DATA_LENGTH_MATCHES : CUWB_DATA_LENGTH_DIFFERS;
}

struct cuwb_header cuwb_header_test(const cuwb_framing *rules, const uint8_t *bytes,
                                    size_t available, bool strict) {
  if (available == 0) return partial;
  unsigned type = bytes[0] >> 5;
  if (!(rules->message_types >> type & 1)) return impossible;
  switch (type) {
  case TYPE_COMMAND:
  case TYPE_RESPONSE:
  case TYPE_NOTIFICATION:
    return test_control(rules, bytes, available, strict);
  case TYPE_DATA:
    if (!(rules->data_formats >> (bytes[0] & 0x0F) & 1)) return impossible;
    return test_data(rules, bytes, available, strict);
  default:
    // Test messages, and the reserved types 6 and 7, presumably have the same layout as data.
    return test_data(rules, bytes, available, strict);
  }
}
