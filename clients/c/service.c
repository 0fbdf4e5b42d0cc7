// SPDX-License-Identifier: Apache-2.0
//
// service PROFILE: makes each call of the client at a service with one chip, whose peer ranges.
// .ci/c runs it.
#include <assert.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <uwb.h>

static char profile[65536];

static void take(const struct uwb_event *event, void *context) {
  const struct uwb_measurement *m = event->measurement;
  if (m && !isnan(m->distance_m) && *m->chip && m->session_id == 42) ++*(int *)context;
}

/// Receives events until there are some, or listening ends.
static int receive(uwb_client *client, const int *until) {
  while (!*until) {
    struct pollfd polled = {.fd = uwb_fd(client), .events = POLLIN};
    poll(&polled, 1, -1);
    if (uwb_dispatch(client) < 0) return -1;
  }
  return 0;
}

/// Returns the only session of the only chip; NULL: there is none.
static const struct uwb_session *session(uwb_client *client) {
  const struct uwb_chip *const *chips = uwb_list(client);
  assert(chips && chips[0] && !chips[1] && !chips[0]->problem && !chips[0]->borrowed);
  return chips[0]->sessions[0];
}

static void fails(uwb_client *client) {
  // The same session with another channel.
  char other[sizeof profile], *at;
  strcpy(other, profile);
  at = strstr(other, "\"CHANNEL_NUMBER\": 9");
  assert(at);
  memcpy(strchr(at, '9'), "5", 1);
  assert(uwb_start(client, other, NULL, NULL) == -1 && uwb_last_code(client) == UWB_CONFLICT);
  assert(strstr(uwb_last_error(client), "CHANNEL_NUMBER is 9, not 5"));
  assert(strstr(uwb_last_error_json(client), "differences"));
  assert(uwb_start(client, "{", NULL, NULL) == -1 && uwb_last_code(client) == UWB_INVALID_PROFILE);
  assert(!uwb_describe(client, "none") && uwb_last_code(client) == UWB_NO_CHIP);
  assert(uwb_stop(client, NULL, 7) == -1 && uwb_last_code(client) == UWB_NO_SESSION);
  assert(uwb_set_share(client, NULL, 7, UWB_SHARE_EVERYONE) == -1);
  assert(uwb_last_code(client) == UWB_NO_SESSION);
  assert(uwb_end(client, NULL, 7) == -1 && uwb_last_code(client) == UWB_NO_SESSION);
}

/// A session is shared with everyone, and ends for the program that holds it.
static void ends(uwb_client *client, uint32_t session_id) {
  assert(!uwb_set_share(client, NULL, session_id, UWB_SHARE_EVERYONE));
  assert(session(client)->share == UWB_SHARE_EVERYONE);
  uwb_client *other = uwb_open(NULL);
  assert(other && !uwb_end(other, NULL, session_id) && !session(client));
  uwb_close(other);
}

int main(int count, char **arguments) {
  FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
  assert(file && fread(profile, 1, sizeof profile - 1, file));
  fclose(file);
  uwb_client *client = uwb_open(NULL);
  assert(client && !uwb_last_error(client));
  const struct uwb_service *service = uwb_service_info(client);
  assert(service && *service->version && service->protocol);
  printf("service %s, protocol %u\n", service->version, service->protocol);
  const struct uwb_info *info = uwb_describe(client, NULL);
  assert(info && *info->chip && *info->device && info->channel_count);
  assert(!session(client));

  const struct uwb_start_options options = {
      .size = sizeof options, .share = UWB_SHARE_USER, .linger_ms = 200};
  struct uwb_started started = {.size = sizeof started};
  assert(!uwb_start(client, profile, &options, &started));
  assert(started.session_id == 42 && !started.joined && *started.chip);
  const struct uwb_session *found = session(client);
  assert(found && found->session_id == 42 && found->share == UWB_SHARE_USER && found->owner_count == 1);
  fails(client);
  // A second start has a stop of its own. It has no profile.
  const struct uwb_start_options present = {.size = sizeof present, .peer = "0x0001"};
  assert(!uwb_start(client, NULL, &present, &started) && started.joined && started.session_id == 42);
  assert(session(client)->owner_count == 2 && !uwb_stop(client, NULL, 42));
  assert(session(client)->owner_count == 1);

  int measured = 0;
  const char *const peers[] = {"0x0001", NULL};
  const struct uwb_monitor_options filter = {
      .size = sizeof filter, .session_id = &started.session_id, .peers = peers, .newest_only = 1};
  assert(!uwb_monitor(client, &filter, take, &measured));
  assert(!receive(client, &measured));
  ends(client, 42);
  const int never = 0;
  assert(receive(client, &never) == -1 && uwb_last_code(client) == UWB_SESSION_ENDED);
  assert(!uwb_reconnect(client, 0) && !session(client));
  assert(!uwb_start(client, profile, &options, NULL) && !uwb_stop(client, NULL, 42));
  uwb_close(client);
  return 0;
}
