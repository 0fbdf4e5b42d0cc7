// SPDX-License-Identifier: Apache-2.0
//
// A link on a descriptor that the caller has opened.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "link.h"

cuwb_result cuwb_open_descriptor(int descriptor, cuwb_link **link) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return cuwb_failed(errno);

  enum cuwb_medium medium = cuwb_stream_medium(descriptor);
  cuwb_link *opened;
  cuwb_result result = cuwb_stream_open(descriptor, medium, &opened);
  if (result.outcome != CUWB_OK) return result;

  // Non-blocking, because a read has to be possible with and without waiting; poll(2) waits.
  int error = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 ? errno : 0;
  if (!error && medium == CUWB_MEDIUM_TTY) {
    error = cuwb_serial_make_raw(descriptor, 0, false);
    if (error) fcntl(descriptor, F_SETFL, flags);
  }
  if (error) {
    // cuwb_link_close would close the descriptor, which is still the caller's.
    cuwb_framer_destroy(opened->framer);
    cuwb_link_free(opened);
    return cuwb_failed(error);
  }
  *link = opened;
  return cuwb_outcome_of(CUWB_OK);
}
