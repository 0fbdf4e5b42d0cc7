// SPDX-License-Identifier: Apache-2.0
//
// The common parts of all models: power, packets, faults, and the ledger of the host's actions.
#ifndef CHIP_MODEL_H
#define CHIP_MODEL_H

#include <string.h>

#include "chip_board.h"

enum chip_fault_kind {
  CHIP_DOUBLE_PULSE,    // IRQ falls and rises once more before RI takes effect
  CHIP_DEAF_TO_RI,      // RI is not detected: the host has to give up and try again
  CHIP_SILENT,          // a command is lost
  CHIP_HANG,            // the chip stops with a command
  CHIP_HANG_RANGING,    // the chip stops with a measurement
  CHIP_MISSED_EDGE,     // IRQ rises, and the host's GPIO sees no edge
  CHIP_MID_WRITE,       // a packet is held back until the host is in the middle of a write
  CHIP_FLIPPED_BIT,     // a bit of the data that is loaded into the chip is inverted
  CHIP_FLIPPED_ANSWER,  // a bit of the boot loader's answer is inverted
  CHIP_ABSENT,          // the chip does not take part in a transfer
  CHIP_TRANSFER_ERROR,  // the chip's header reports that the transfer has failed
  CHIP_OTHER_LENGTH,    // a read has another length than announced
  CHIP_LATE,            // the firmware has no packet yet although SS_IRQ is high
  CHIP_SHORT_READY,     // SS_RDY is high for less than 100 ns before it is meant
  CHIP_SLEEPY,          // the chip falls asleep when it has nothing to send
  CHIP_FAULTS,
};

struct chip_fault {
  // The fault happens at every n-th opportunity; 0: never.
  unsigned every;
  unsigned chances;
  // The fault happens at the next n opportunities.
  unsigned times;
};

enum chip_count {
  CHIP_READS,
  CHIP_WRITES,
  CHIP_COLLISIONS,  // writes while a packet was offered
  CHIP_EARLY,       // reads of data that was not loaded
  CHIP_ABORTED_READS,
  CHIP_FAILED_TRANSFERS,
  CHIP_FRAMES,
  CHIP_FRAMES_DAMAGED,
  CHIP_OFFERED_IN_WRITE,
  CHIP_PREREADS,
  CHIP_READS_OF_SEVERAL,
  CHIP_RESETS,
  CHIP_SEGMENTS,
  CHIP_SEGMENTS_DAMAGED,
  CHIP_TIMES_ABSENT,
  CHIP_TIMES_ASLEEP,
  CHIP_WAKES,
  CHIP_WAKES_BY_SELECTION,
  CHIP_COUNTS,
};

struct chip_packet {
  uint8_t *bytes;
  uint32_t length;
  // Used by HSSPI only.
  uint8_t layer;
};

#define CHIP_PACKETS 4096

struct chip_packets {
  struct chip_packet items[CHIP_PACKETS];
  unsigned first, count;
};

struct chip_ops {
  void (*selected)(chip_model *model, const chip_selection *selection, const uint8_t *out,
                   uint8_t *in);
  void (*driven)(chip_model *model, cuwb_line line, bool high);
  void (*written)(chip_model *model, const uint8_t *bytes, size_t length);
  void (*control)(chip_model *model, uint32_t number, uint32_t value);
  // Offers packets of the queue after `in_ns`.
  void (*offer)(chip_model *model, uint64_t in_ns);
  // Called after time has passed.
  void (*advance)(chip_model *model);
};

#define CHIP_VIOLATIONS 20

struct chip_model {
  const struct chip_ops *ops;
  struct chip_board *board;
  struct chip_fault faults[CHIP_FAULTS];
  bool starts_in_loader;

  // Packets that the host has not read yet, and packets from the host.
  struct chip_packets queue, received;

  // The time at which the host last set a line.
  uint64_t driven_at;
  bool is_on;
  // The chip does nothing until it is switched off and on.
  bool is_hung;
  bool was_off;
  uint64_t off_since;
  int power_change;
  // The packet that is sent each time the firmware starts; NULL for none.
  const uint8_t *boot_packet;
  size_t boot_packet_length;
  // The time at which a held-back packet is offered anyway; UINT64_MAX: never.
  uint64_t retry_at;

  unsigned counts[CHIP_COUNTS];
  // The shortest pause between two transfers that have to be apart; UINT64_MAX if there were none.
  uint64_t shortest_pause_ns;
  uint32_t speed_hz;
  unsigned violation_count;
  char violations[CHIP_VIOLATIONS][120];
  char ledger[CHIP_VIOLATIONS * 120 + 1000];
};

// Creates a model that is switched on, without faults. `model` begins a larger struct of `size`
// bytes.
void chip_model_init(chip_model *model, size_t size, const struct chip_ops *ops,
                     struct chip_board *board);

// Frees the packets.
void chip_model_forget(chip_model *model);

// Sets faults from a list such as `double-pulse=3,hang=50`. Returns false if there is no such
// fault.
bool chip_parse_faults(chip_model *model, const char *text);

// Returns whether a fault happens now.
bool chip_strikes(chip_model *model, enum chip_fault_kind kind);

void chip_violated(chip_model *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void chip_note_pause(chip_model *model, uint64_t pause_ns);

// The length of NXP's and FiRa's packets after their first four bytes: 16 bits in data and where
// bit 7 of byte 1 is set. Source: sr1xx.c of NXP/uwb-driver-testapp.
static inline uint32_t chip_payload_length(const uint8_t *header) {
  bool wide = header[0] >> 5 == 0 || header[1] & 0x80;
  return wide ? header[2] | (uint32_t)header[3] << 8 : header[3];
}

// Queues a packet for the host, and offers it after `in_ns`.
void chip_say(chip_model *model, uint8_t layer, const void *bytes, size_t length, uint64_t in_ns);

// Called when a command has arrived completely.
void chip_take(chip_model *model, const void *bytes, size_t length);

static inline struct chip_packet *chip_first(struct chip_packets *packets) {
  return &packets->items[packets->first % CHIP_PACKETS];
}

static inline struct chip_packet *chip_last(struct chip_packets *packets) {
  return &packets->items[(packets->first + packets->count - 1) % CHIP_PACKETS];
}

void chip_push(struct chip_packets *packets, const void *bytes, size_t length, uint8_t layer);
void chip_pop(struct chip_packets *packets);

// Called when the host has switched the chip on or off, which resets all state. `boots`: the
// firmware starts. `least_ns`: the shortest time for which the line has to be low.
void chip_switch(chip_model *model, bool on, bool boots, uint64_t least_ns);

// Called when the firmware starts.
void chip_boot(chip_model *model);

#endif
