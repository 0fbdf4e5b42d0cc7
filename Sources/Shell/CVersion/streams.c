// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

// Opens /dev/null for each closed standard stream, before the runtime of Swift opens a descriptor.
// Otherwise a chip could get the number of a standard stream, and receive the output. Each one is
// opened in the wrong direction, so that reading input and writing output remain errors.
__attribute__((constructor)) static void open_streams(void) {
  for (int stream = 0; stream < 3; stream++) {
    if (fcntl(stream, F_GETFD) < 0) {
      (void)open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
    }
  }
}
