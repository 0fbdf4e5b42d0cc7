// SPDX-License-Identifier: Apache-2.0
//
// Finds where frames begin and end.
//
// In sync: the next byte begins a frame. A whole frame is delivered at once, without waiting for
// the next bytes. If the bytes after it have arrived already and cannot be a header, a byte was
// lost or added inside the frame, and the frame is discarded: a wrong distance is worse than none.
//
// Hunting: the beginning of a frame is not known. Every offset is tried as the start of a chain of
// frames. A chain is accepted if the bytes after it confirm it: another header, or a silence. If
// several are confirmed, the one with the best headers wins: a chip sends the same few headers
// repeatedly, so recent headers count most.
//
// If the bytes after a delivered frame turn out not to be a header, that frame has probably lost a
// byte and swallowed the first byte of its successor. So the hunt begins inside the delivered
// frame, and the successor is not lost.

#include <stdlib.h>

#include "framing.h"

// The silence that confirms a frame which ends where the bytes end. It has to outlast the pauses
// inside a frame: 16 ms (latency timer of FTDI bridges), 5 ms (flush period of Qorvo's firmware).
// It should not be longer, because it delays the first response after an open.
#define CONFIRM_NS UINT64_C(25000000)

// ------------------------------------------------------------------------------- changes of state

static uint64_t gap_ns(const cuwb_framer *framer) {
  return framer->rules.gap_ms * UINT64_C(1000000);
}

static uint64_t confirm_ns(const cuwb_framer *framer) {
  uint64_t gap = gap_ns(framer);
  return gap < CONFIRM_NS ? gap : CONFIRM_NS;
}

// There is one writer, so an atomic addition is not needed.
static void count(uint64_t *total, uint64_t amount) {
  __atomic_store_n(total, *total + amount, __ATOMIC_RELAXED);
}

// Gives up the bytes before `position`, some of which may have been delivered.
static void advance(cuwb_framer *framer, size_t position) {
  if (position > framer->accounted) {
    framer->skipped_now += position - framer->accounted;
    count(&framer->skipped_total, position - framer->accounted);
    framer->accounted = position;
  }
  framer->head = position;
  framer->previous = position;
}

static void lose_sync(cuwb_framer *framer, size_t hunt_from) {
  count(&framer->resynchronisations, 1);
  framer->in_sync = false;
  framer->sync_confirmed = false;
  framer->head = hunt_from;
  framer->previous = hunt_from;
}

// ---------------------------------------------------------------------------------------- hunting

// Synchronises with the best confirmed chain that begins in the first bytes, or gives up the bytes
// that can no longer begin one. Returns whether it is in sync.
static bool hunt_window(cuwb_framer *framer) {
  bool settled = framer->silence_ns >= confirm_ns(framer);
  bool over = framer->silence_ns >= gap_ns(framer);
  size_t stop = framer->tail;
  if (stop - framer->head > CUWB_CHAIN_WINDOW) stop = framer->head + CUWB_CHAIN_WINDOW;
  size_t open = stop;
  size_t best = stop;
  unsigned weight = 0;

  for (size_t at = framer->head; at < stop; at++) {
    if (!framer->begins[framer->staging[at]]) continue;
    struct cuwb_chain chain = cuwb_chain_follow(framer, at, framer->tail);
    bool contested = open < at && !over;
    bool taken = contested ? cuwb_chain_is_strong(framer, chain)
                           : cuwb_chain_is_confirmed(framer, chain);
    if (settled && chain.end == CUWB_CHAIN_EXACT) taken = true;
    if (taken) {
      if (chain.weight <= weight) continue;
      best = at;
      weight = chain.weight;
      continue;
    }
    if (chain.end == CUWB_CHAIN_BROKEN) continue;
    // The chain fills the window unconfirmed, and further bytes cannot confirm it.
    if (at == framer->head && chain.end == CUWB_CHAIN_FAR_ENOUGH &&
        !cuwb_chain_is_confirmed(framer, chain)) {
      continue;
    }
    if (open == stop) open = at;
    // A frame that ends here, or a few bytes ago, is about to be confirmed or refuted. Waiting for
    // that is better than accepting a frame inside it.
    if (!settled && chain.whole == 1) break;
  }
  if (best < stop) {
    advance(framer, best);
    framer->in_sync = true;
  } else {
    advance(framer, over ? stop : open);
  }
  return framer->in_sync;
}

static bool hunt(cuwb_framer *framer) {
  size_t before;
  do {
    before = framer->head;
    if (hunt_window(framer)) return true;
  } while (framer->head == before + CUWB_CHAIN_WINDOW);

  // The first byte after a silence begins a frame. Before the first byte a short silence is enough,
  // because it is more significant than a pause between bytes.
  uint64_t needed = framer->never_received ? confirm_ns(framer) : gap_ns(framer);
  if (framer->head == framer->tail && framer->silence_ns >= needed) {
    framer->in_sync = true;
    framer->sync_confirmed = true;
  }
  return framer->in_sync;
}

// ---------------------------------------------------------------------------------------- in sync

enum step { FOUND, NOTHING, AGAIN };

static enum step look_at_head(cuwb_framer *framer) {
  size_t available = framer->tail - framer->head;
  bool over = framer->silence_ns >= gap_ns(framer);
  if (available == 0) return NOTHING;

  const uint8_t *bytes = framer->staging + framer->head;
  struct cuwb_header header = cuwb_header_test(&framer->rules, bytes, available, false);
  if (header.verdict == CUWB_HEADER_IMPOSSIBLE) {
    lose_sync(framer, framer->previous + 1);
    return AGAIN;
  }

  if (header.verdict == CUWB_HEADER_PARTIAL || header.length > available) {
    if (!over && !cuwb_chain_contradicts_header(framer, header.length)) return NOTHING;
    // The header may be wrong, so that good frames were taken for its payload.
    lose_sync(framer, framer->head + 1);
    return AGAIN;
  }

  size_t rest = available - header.length;
  struct cuwb_header next = {CUWB_HEADER_PARTIAL, 0};
  if (rest > 0) next = cuwb_header_test(&framer->rules, bytes + header.length, rest, false);
  if (next.verdict == CUWB_HEADER_IMPOSSIBLE ||
      cuwb_chain_contradicts_header(framer, header.length)) {
    // A suspect header was most likely not a header. In that case the frame before it was already
    // wrong.
    bool was_none =
        header.verdict == CUWB_HEADER_SUSPECT && next.verdict == CUWB_HEADER_IMPOSSIBLE;
    lose_sync(framer, was_none ? framer->previous + 1 : framer->head + 1);
    return AGAIN;
  }
  // A suspect header is usually the result of a lost byte. The frame then ends in the middle of its
  // own payload, and the rest is about to arrive. The same holds for the rest of an incomplete
  // header, and for the bytes after a suspect header.
  bool tentative =
      rest > 0 && !framer->sync_confirmed && !cuwb_chain_is_known(framer, framer->head);
  bool doubtful = false;
  if (next.verdict == CUWB_HEADER_PARTIAL) {
    doubtful = tentative || header.verdict == CUWB_HEADER_SUSPECT;
  } else if (next.verdict == CUWB_HEADER_SUSPECT) {
    doubtful = tentative && rest < next.length + CUWB_HEADER_LENGTH;
  }
  if (doubtful && framer->silence_ns < confirm_ns(framer)) return NOTHING;
  framer->found = header.length;
  return FOUND;
}

static uint64_t time_of(const cuwb_framer *framer, size_t end) {
  for (size_t i = 0; i < framer->mark_count; i++) {
    if (framer->marks[i].end >= end) return framer->marks[i].ns;
  }
  return framer->arrived_ns;
}

// Returns whether all undecided bytes are exactly one ordinary response or notification, for which
// look_at_head could only return FOUND. This case is the usual one: the frame follows a silence, or
// has the same header as the frame before it.
static bool is_one_frame(const cuwb_framer *framer) {
  const uint8_t *bytes = framer->staging + framer->head;
  size_t length = framer->tail - framer->head;
  if (!framer->in_sync || length <= CUWB_HEADER_LENGTH || length > framer->rules.longest_frame ||
      framer->skipped_now != 0) {
    return false;
  }
  unsigned type = bytes[0] >> 5;
  return (type == 2 || type == 3) && (framer->rules.message_types >> type & 1) &&
         !(bytes[1] & 0xC0) && bytes[2] == 0 && bytes[3] == length - CUWB_HEADER_LENGTH &&
         (framer->sync_confirmed || cuwb_header_value(bytes) == framer->last_header);
}

// Returns whether a frame was found at `head`.
static bool look(cuwb_framer *framer) {
  enum step step;
  do {
    if (!framer->in_sync && !hunt(framer)) return false;
    step = look_at_head(framer);
  } while (step == AGAIN);
  return step == FOUND;
}

// Decides without waiting, because there is no room. As after a silence, bytes that form no frame
// are given up. Noise can lead here, but frames of chips cannot.
static bool look_without_room(cuwb_framer *framer) {
  uint64_t silence = framer->silence_ns;
  framer->silence_ns = UINT64_MAX;
  bool found = look(framer);
  framer->silence_ns = silence;
  return found;
}

bool cuwb_framer_find(cuwb_framer *framer, cuwb_found *found) {
  if (is_one_frame(framer)) {
    framer->found = framer->tail - framer->head;
    found->bytes = framer->staging + framer->head;
    found->frame = (cuwb_frame){(uint32_t)framer->found, 0, framer->arrived_ns};
    return true;
  }
  if (!look(framer)) {
    bool is_full = framer->tail - framer->previous == CUWB_STAGING_LENGTH;
    if (!is_full || !look_without_room(framer)) return false;
  }

  found->bytes = framer->staging + framer->head;
  found->frame.length = (uint32_t)framer->found;
  found->frame.skipped =
      framer->skipped_now < UINT32_MAX ? (uint32_t)framer->skipped_now : UINT32_MAX;
  found->frame.received_ns = time_of(framer, framer->head + framer->found);
  return true;
}

void cuwb_framer_take(cuwb_framer *framer) {
  framer->last_header = cuwb_header_value(framer->staging + framer->head);
  framer->known[framer->known_next++ % CUWB_KNOWN_HEADERS] = framer->last_header;
  framer->previous = framer->head;
  framer->head += framer->found;
  framer->found = 0;
  framer->sync_confirmed = false;
  if (framer->accounted < framer->head) framer->accounted = framer->head;
  framer->skipped_now = 0;
}

// ---------------------------------------------------------------------------------------- feeding

uint8_t *cuwb_framer_room(cuwb_framer *framer, size_t *room) {
  // Moving is not worth its cost as long as there is room for the longest frame.
  if (CUWB_STAGING_LENGTH - framer->tail < CUWB_FRAME_MAX && framer->previous > 0) {
    size_t shift = framer->previous;
    memmove(framer->staging, framer->staging + shift, framer->tail - shift);
    framer->previous = 0;
    framer->head -= shift;
    framer->tail -= shift;
    framer->accounted = framer->accounted > shift ? framer->accounted - shift : 0;
    size_t kept = 0;
    for (size_t i = 0; i < framer->mark_count; i++) {
      if (framer->marks[i].end <= shift) continue;
      framer->marks[kept++] =
          (struct cuwb_mark){framer->marks[i].end - shift, framer->marks[i].ns};
    }
    framer->mark_count = kept;
  }
  *room = CUWB_STAGING_LENGTH - framer->tail;
  return framer->staging + framer->tail;
}

void cuwb_framer_arrived(cuwb_framer *framer, size_t count, uint64_t now_ns) {
  if (count == 0) return;
  if (framer->head == framer->tail) {
    framer->mark_count = 0;
    if (framer->in_sync && framer->silence_ns >= gap_ns(framer)) {
      // A frame that was followed by a silence is no longer in doubt.
      framer->previous = framer->head;
      framer->sync_confirmed = true;
    }
  } else {
    if (framer->mark_count == CUWB_MARKS) {
      memmove(framer->marks, framer->marks + 1, sizeof(framer->marks) - sizeof(framer->marks[0]));
      framer->mark_count--;
    }
    framer->marks[framer->mark_count++] = (struct cuwb_mark){framer->tail, framer->arrived_ns};
  }
  framer->tail += count;
  framer->never_received = false;
  framer->arrived_ns = now_ns;
  framer->silence_ns = 0;
}

void cuwb_framer_quiet(cuwb_framer *framer, uint64_t now_ns) {
  if (now_ns <= framer->arrived_ns) return;
  uint64_t silence = now_ns - framer->arrived_ns;
  if (silence > framer->silence_ns) framer->silence_ns = silence;
}

void cuwb_framer_ended(cuwb_framer *framer) { framer->silence_ns = UINT64_MAX; }

uint64_t cuwb_framer_deadline(const cuwb_framer *framer) {
  uint64_t confirm = framer->arrived_ns + confirm_ns(framer);
  uint64_t gap = framer->arrived_ns + gap_ns(framer);
  bool settled = framer->silence_ns >= confirm_ns(framer);
  if (framer->silence_ns >= gap_ns(framer)) return UINT64_MAX;
  if (framer->in_sync && framer->head == framer->tail) return UINT64_MAX;
  return settled ? gap : confirm;
}

// ------------------------------------------------------------------------------------------- rest

cuwb_framer *cuwb_framer_create(cuwb_framing framing, uint64_t now_ns) {
  // The framer begins at the start of a cache line.
  void *memory;
  if (posix_memalign(&memory, 64, sizeof(cuwb_framer)) != 0) return NULL;
  cuwb_framer *framer = memory;
  // Clears all but the staging memory, which is read only after it was written.
  memset(framer, 0, offsetof(struct cuwb_framer, staging));
  cuwb_framer_set_framing(framer, framing);
  framer->never_received = true;
  framer->arrived_ns = now_ns;
  return framer;
}

void cuwb_framer_destroy(cuwb_framer *framer) { free(framer); }

void cuwb_framer_set_framing(cuwb_framer *framer, cuwb_framing framing) {
  framer->rules = cuwb_framing_normalised(framing);
  framer->found = 0;
  for (unsigned byte = 0; byte < 256; byte++) {
    const uint8_t first = (uint8_t)byte;
    enum cuwb_verdict verdict = cuwb_header_test(&framer->rules, &first, 1, true).verdict;
    framer->begins[byte] = verdict != CUWB_HEADER_IMPOSSIBLE;
  }
}

uint64_t cuwb_framer_arrival(const cuwb_framer *framer) { return framer->arrived_ns; }

uint64_t cuwb_framer_gap(const cuwb_framer *framer) { return gap_ns(framer); }

uint64_t cuwb_framer_skipped(const cuwb_framer *framer) {
  return __atomic_load_n(&framer->skipped_total, __ATOMIC_RELAXED);
}

uint64_t cuwb_framer_resynchronisations(const cuwb_framer *framer) {
  return __atomic_load_n(&framer->resynchronisations, __ATOMIC_RELAXED);
}
