// SPDX-License-Identifier: Apache-2.0
//
// Reads replies, whole, octet by octet, and damaged in every way that chance finds: for .ci/c, which
// compiles it with sanitizers. The second socket plays the service.
#include "uwb.c"

#include <assert.h>

static const char reply[] =
    "{\"parameters\":{\"chip\":\"a\\\"b\",\"session_id\":42,\"monotonic_us\":1500000,\"utc_us\":"
    "1800000000000001,\"lost\":3,\"measurement\":{\"sequence\":7,\"peer\":\"0x0001\",\"status\":"
    "\"OK\",\"estimate_m\":3,\"estimate_sd_m\":0.02,\"azimuth_deg\":null,\"nlos\":true,\"later\":"
    "{\"a\":[1,[],{}]}}},\"continues\":true}";

static struct uwb_measurement last;

static void take(const struct uwb_measurement *measurement, void *context) {
  last = *measurement;
  last.status = strcmp(measurement->peer, "0x0001") ? "" : "same";
  ++*(long *)context;
}

static uwb_client *made(int *service, long *count) {
  int ends[2];
  assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  uwb_client *client = calloc(1, sizeof *client);
  assert(client);
  client->control.fd = -1;
  client->listening.fd = ends[0];
  client->body = take;
  client->context = count;
  *service = ends[1];
  return client;
}

static void say(int service, const char *bytes, size_t count) {
  assert(send(service, bytes, count, 0) == (ssize_t)count);
}

int main(void) {
  long count = 0;
  int service;
  uwb_client *client = made(&service, &count);
  say(service, reply, sizeof reply);
  assert(uwb_dispatch(client) == 1 && count == 1 && !uwb_last_error(client));
  assert(last.distance_m == 3 && last.distance_sd_m == 0.02 && isnan(last.azimuth_deg));
  assert(last.nlos == 1 && last.lost == 3 && last.sequence == 7 && !strcmp(last.status, "same"));
  for (size_t index = 0; index < sizeof reply; index++) {
    say(service, reply + index, 1);
    assert(uwb_dispatch(client) == (index == sizeof reply - 1));
  }
  say(service, reply, sizeof reply);
  say(service, reply, sizeof reply);
  assert(uwb_dispatch(client) == 2);
  const char error[] =
      "{\"error\":\"org.swift-uwb.Chips.Denied\",\"parameters\":{\"reason\":\"No.\",\"advice\":null}}";
  say(service, error, sizeof error);
  assert(uwb_dispatch(client) == -1 && !strcmp(uwb_last_error(client), "No."));
  close(service);
  assert(uwb_dispatch(client) == -1);
  uwb_close(client);

  srandom(1);
  for (int round = 0; round < 200000; round++) {
    char damaged[sizeof reply + 1];
    memcpy(damaged, reply, sizeof reply);
    for (long changes = random() % 6; changes >= 0; changes--) {
      static const char tokens[] = "{}[]\",:\\n0-";
      damaged[random() % (long)sizeof reply] =
          random() % 2 ? tokens[random() % (long)(sizeof tokens - 1)] : (char)random();
    }
    client = made(&service, &count);
    say(service, damaged, sizeof reply);
    while (uwb_dispatch(client) > 0) {}
    close(service);
    uwb_close(client);
  }
  struct text profile = {0};
  append_profile(&profile, "{ // a\n \"b\": \"c // d,}\", /* e */ \"f\": [1, ], }");
  assert(!strcmp(profile.bytes, "{ \n \"b\": \"c // d,}\",  \"f\": [1]}"));
  free(profile.bytes);
  const char *open[] = {"\"", "{\"a", "/*", "//", "\"\\", ",}", "}", ""};
  for (size_t index = 0; index < sizeof open / sizeof *open; index++) {
    profile = (struct text){0};
    append_profile(&profile, open[index]);
    free(profile.bytes);
  }
  puts("the reader: whole, in pieces, 200,000 times damaged");
}
