// SPDX-License-Identifier: Apache-2.0
//
// Where frames begin and end.
//
// Locked: the next byte begins a frame. A whole frame is delivered at once, without waiting for
// what follows. If bytes that follow it are there already and cannot be a header, a byte was
// lost or added inside the frame, and it is thrown away: a wrong distance is worse than none.
//
// Hunting: nobody knows where a frame begins. Every offset is tried as the start of a chain of
// frames, and a chain is taken that is confirmed by what follows: by another header or by a
// silence. Where several are confirmed, the one with the best headers: a chip sends the same few
// headers again and again, so those seen lately count most.
//
// When the bytes behind a frame that was already delivered turn out to be no header, that frame
// was probably short of a byte and has swallowed the first one of its successor. So the hunt
// begins inside the delivered frame, and the successor is not lost.
#include "framer.h"

#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "header.h"

// The silence that confirms a frame which ends where the bytes end. It has to outlast the pauses
// inside a frame: 16 ms (latency timer of FTDI bridges), 5 ms (flush period of Qorvo's firmware);
// and it delays the first response after an open, so it should be no longer than that.
#define CONFIRM_NS UINT64_C(25000000)

// ------------------------------------------------------------------------------- changes of state

static uint64_t gap_ns(const cuwb_framer *framer) {
  return framer->rules.gap_ms * UINT64_C(1000000);
}

static uint64_t confirm_ns(const cuwb_framer *framer) {
  uint64_t gap = gap_ns(framer);
  return gap < CONFIRM_NS ? gap : CONFIRM_NS;
}

// Gives up the bytes before `position`, some of which may have been delivered.
static void advance(cuwb_framer *framer, size_t position) {
  if (position > framer->accounted) {
    framer->skipped_now += position - framer->accounted;
    framer->skipped_total += position - framer->accounted;
    framer->accounted = position;
  }
  framer->head = position;
  framer->previous = position;
}

static void lose(cuwb_framer *framer, size_t hunt_from) {
  framer->resynchronisations++;
  framer->in_sync = false;
  framer->sync_confirmed = false;
  framer->head = hunt_from;
  framer->previous = hunt_from;
}

// ---------------------------------------------------------------------------------------- hunting

// Locks on to the best chain that begins in the first bytes and can be believed; otherwise gives up
// what can no longer begin one. Returns whether it has locked.
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
    if (open == stop) open = at;
    // A frame that ends here, or a few bytes ago, is about to be confirmed or refuted; better
    // wait for that than believe something inside it.
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

  // What comes after a silence begins a frame. At open a short one will do: that there has been
  // nothing at all is more than a pause in the middle of something.
  bool silent = framer->silence_ns >= (framer->never_received ? confirm_ns(framer) : gap_ns(framer));
  if (framer->head == framer->tail && silent) {
    framer->in_sync = true;
    framer->sync_confirmed = true;
  }
  return framer->in_sync;
}

// ----------------------------------------------------------------------------------------- locked

enum step { FOUND, NOTHING, AGAIN };

static enum step look_at_head(cuwb_framer *framer) {
  size_t available = framer->tail - framer->head;
  bool over = framer->silence_ns >= gap_ns(framer);
  if (available == 0) return NOTHING;

  const uint8_t *bytes = framer->staging + framer->head;
  struct cuwb_header header = cuwb_header_test(&framer->rules, bytes, available, false);
  if (header.verdict == CUWB_HEADER_IMPOSSIBLE) {
    lose(framer, framer->previous + 1);
    return AGAIN;
  }

  if (header.verdict == CUWB_HEADER_PARTIAL || header.length > available) {
    if (!over && !cuwb_chain_contradicts_header(framer, header.length)) return NOTHING;
    // It may be that the header was wrong and has swallowed good frames.
    lose(framer, framer->head + 1);
    return AGAIN;
  }

  size_t behind = available - header.length;
  struct cuwb_header next = {CUWB_HEADER_PARTIAL, 0};
  if (behind > 0) {
    next = cuwb_header_test(&framer->rules, bytes + header.length, behind, false);
  }
  if (next.verdict == CUWB_HEADER_IMPOSSIBLE || cuwb_chain_contradicts_header(framer, header.length)) {
    // An suspect header was most likely none, and then the frame before it was wrong already.
    bool was_none = header.verdict == CUWB_HEADER_SUSPECT && next.verdict == CUWB_HEADER_IMPOSSIBLE;
    lose(framer, was_none ? framer->previous + 1 : framer->head + 1);
    return AGAIN;
  }
  // More often than not an suspect header is the result of a lost byte; then it ends in the middle
  // of its own payload, and the rest is about to arrive. So is the rest of a header of which there
  // is a part already, and what follows an suspect one.
  bool tentative = behind > 0 && !framer->sync_confirmed && !cuwb_chain_is_known(framer, framer->head);
  bool doubtful = false;
  if (next.verdict == CUWB_HEADER_PARTIAL) {
    doubtful = tentative || header.verdict == CUWB_HEADER_SUSPECT;
  } else if (next.verdict == CUWB_HEADER_SUSPECT) {
    doubtful = tentative && behind < next.length + CUWB_HEADER_LENGTH;
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

bool cuwb_framer_find(cuwb_framer *framer, cuwb_found *found) {
  enum step step;
  do {
    if (!framer->in_sync && !hunt(framer)) return false;
    step = look_at_head(framer);
  } while (step == AGAIN);
  if (step == NOTHING) return false;

  found->bytes = framer->staging + framer->head;
  found->frame.length = (uint32_t)framer->found;
  found->frame.skipped =
      framer->skipped_now < UINT32_MAX ? (uint32_t)framer->skipped_now : UINT32_MAX;
  found->frame.received_ns = time_of(framer, framer->head + framer->found);
  return true;
}

void cuwb_framer_take(cuwb_framer *framer) { cuwb_framer_take_bytes(framer, framer->found); }

// ---------------------------------------------------------------------------------------- feeding

uint8_t *cuwb_framer_room(cuwb_framer *framer, size_t *room) {
  // Moving costs more than it gains as long as there is room for the longest frame.
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
      // There is no reason to doubt the frame before a silence any more.
      framer->previous = framer->head;
      framer->sync_confirmed = true;
    }
  }
  framer->tail += count;
  framer->never_received = false;
  framer->arrived_ns = now_ns;
  framer->silence_ns = 0;
  if (framer->mark_count == CUWB_MARKS) {
    memmove(framer->marks, framer->marks + 1, sizeof(framer->marks) - sizeof(framer->marks[0]));
    framer->mark_count--;
  }
  framer->marks[framer->mark_count++] = (struct cuwb_mark){framer->tail, now_ns};
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
  cuwb_framer *framer = malloc(sizeof(*framer));
  if (!framer) return NULL;
  // Everything but the staging memory, which is read only where it has been written.
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

uint64_t cuwb_framer_skipped(const cuwb_framer *framer) { return framer->skipped_total; }

uint64_t cuwb_framer_resynchronisations(const cuwb_framer *framer) {
  return framer->resynchronisations;
}
