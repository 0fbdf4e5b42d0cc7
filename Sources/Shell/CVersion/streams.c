// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

// Opens /dev/null for closed standard streams, before the runtime of Swift opens its first
// descriptor. Output would go to that descriptor otherwise, and later to a chip. The wrong
// direction keeps reading or writing an error.
__attribute__((constructor)) static void open_streams(void) {
  for (int stream = 0; stream < 3; stream++) {
    if (fcntl(stream, F_GETFD) < 0) {
      (void)open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
    }
  }
}
