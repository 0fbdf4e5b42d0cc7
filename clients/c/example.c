// SPDX-License-Identifier: Apache-2.0
//
// Prints the distances to all peers: example [PROFILE [COUNT]]. With a profile it starts the
// session; without, it listens to sessions of other programs.
//
//   cc example.c $(pkg-config --cflags --libs uwb) -o example
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uwb.h>

static void print(const struct uwb_event *event, void *context) {
  long *left = context;
  const struct uwb_measurement *m = event->measurement;
  if (event->interruption) {
    fprintf(stderr, "example: %s Waiting for it.\n", event->interruption->reason);
  } else if (m && !isnan(m->distance_m)) {
    // Other measurements are of a peer that did not answer.
    printf("%s  %.2f ± %.2f m (short-term %.2f)\n", m->peer, m->distance_m, m->distance_sd_m,
           m->distance_short_sd_m);
    fflush(stdout);
    --*left;
  }
}

static char *read_file(const char *path) {
  static char text[65536];
  FILE *file = fopen(path, "r");
  if (!file) return NULL;
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}

static int failed(const char *why) {
  fprintf(stderr, "example: %s\n", why);
  return 1;
}

int main(int count, char **arguments) {
  const char *profile = count > 1 ? read_file(arguments[1]) : NULL;
  if (count > 1 && !profile) return failed("The profile cannot be read.");
  long left = count > 2 ? atol(arguments[2]) : 0x7FFFFFFF;

  uwb_client *client = uwb_open(NULL);
  if (!client) return failed("There is no memory.");
  int result = 0;
  if (uwb_last_error(client) || uwb_monitor(client, NULL, print, &left) ||
      (profile && uwb_start(client, profile, NULL, NULL))) {
    result = failed(uwb_last_error(client));
  }
  while (!result && left > 0) {
    struct pollfd polled = {.fd = uwb_fd(client), .events = POLLIN};
    poll(&polled, 1, -1);
    if (uwb_dispatch(client) >= 0) continue;
    // After a restart of the service the stream goes on.
    if (uwb_last_code(client) != UWB_DISCONNECTED || uwb_reconnect(client, 60)) {
      result = failed(uwb_last_error(client));
    }
  }
  uwb_close(client);
  return result;
}
