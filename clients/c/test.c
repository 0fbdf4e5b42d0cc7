// SPDX-License-Identifier: Apache-2.0
//
// Reads replies as a whole, octet by octet, and with random damage, and calls everything from
// callbacks. .ci/c compiles it with sanitizers. The second socket stands in for the service.
//
// With FUZZER defined it is a target of libFuzzer instead.
#include "uwb.c"

#include <assert.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

static const char reply[] =
    "{\"parameters\":{\"chip\":\"a\\\"b\",\"session_id\":42,\"monotonic_us\":1500000,\"utc_us\":"
    "1800000000000001,\"lost\":3,\"measurement\":{\"sequence\":7,\"peer\":\"0x0001\",\"status\":"
    "\"OK\",\"estimate_m\":1.37,\"estimate_sd_m\":2e-2,\"estimate_short_sd_m\":1e-2,\"azimuth_deg\":null,"
    "\"nlos\":true,\"later\":{\"a\":[1,[],{}]}}},\"continues\":true}";

static const char chip_list[] =
    "{\"parameters\":{\"chips\":[{\"chip\":\"/dev/ttyACM0\",\"problem\":null,\"sessions\":[{\"session_id\":"
    "42,\"state\":\"ranging\",\"share\":\"everyone\",\"owners\":[{\"uid\":1000,\"pid\":7},{\"uid\":0,"
    "\"pid\":8}],\"counters\":{\"measured\":9,\"failed\":1,\"missing\":2}},{\"session_id\":7,\"state\":"
    "\"waiting\",\"share\":\"user\",\"owners\":[]}],\"borrower\":null,\"serial\":\"C0FFEE\"},{\"chip\":"
    "\"tcp:\\u00e4\\ud83d\\udce1\",\"problem\":\"It is gone.\",\"sessions\":[],\"borrower\":{\"user\":{"
    "\"uid\":0,\"pid\":1},\"reason\":\"uwbctl reset\",\"since_us\":1}}]}}";

static const char description[] =
    "{\"parameters\":{\"chip\":\"a\",\"info\":{\"device\":\"DW3720\",\"family\":\"qorvo\",\"channels\":[5,"
    "9],\"capabilities\":[]}}}";

static const char conflict[] =
    "{\"error\":\"org.swift-uwb.Chips.Conflict\",\"parameters\":{\"chip\":\"a\",\"session_id\":42,"
    "\"owners\":[],\"differences\":[{\"parameter\":\"CHANNEL_NUMBER\",\"present\":\"9\",\"wanted\":\"5\"},"
    "{\"parameter\":\"STS_LENGTH\",\"present\":null,\"wanted\":\"1\"}]}}";

static const char change[] =
    "{\"parameters\":{\"run\":\"r1\",\"lost\":4,\"event\":{\"sequence\":12,\"monotonic_us\":5,\"utc_us\":6,"
    "\"kind\":\"session_left\",\"chip\":\"a\",\"session_id\":42,\"user\":{\"uid\":1,\"pid\":2},\"reason\":"
    "\"It crashed.\"}},\"continues\":true}";

static struct uwb_measurement last;

static void take(const struct uwb_event *event, void *context) {
  ++*(long *)context;
  if (!event->measurement) return;
  last = *event->measurement;
  last.chip = strcmp(last.chip, "a\"b") ? "" : "same";
  last.status = strcmp(last.peer, "0x0001") ? "" : "same";
}

static uwb_client *made(int *service, long *count) {
  int ends[2];
  assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  uwb_client *client = uwb_open("");
  assert(client && uwb_last_code(client) == UWB_INVALID_ARGUMENT);
  client->listening.fd = ends[0];
  append_text(&client->listen, "{");
  client->body = take;
  client->context = count;
  *service = ends[1];
  return client;
}

static void say(int service, const char *bytes, size_t count) {
  assert(send(service, bytes, count, 0) == (ssize_t)count);
}

// The calls of the client that a service receives, over a real socket.
static char heard[4096];

static const char info[] = "{\"parameters\":{}}";

static int accepted(int listening) {
  int fd = accept(listening, NULL, NULL);
  assert(fd >= 0);
  return fd;
}

/// The next call on a connection, with its final zero.
static void hear(int fd) {
  size_t count = 0;
  do {
    assert(recv(fd, heard + count, 1, 0) == 1);
  } while (heard[count++]);
}

/// The client continues with a restarted service.
static void reconnects(void) {
  char folder[] = "/tmp/uwbXXXXXX";
  assert(mkdtemp(folder));
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/control", folder);
  long count = 0;
  uwb_client *client = uwb_open(address.sun_path);
  assert(uwb_last_code(client) == UWB_DISCONNECTED && uwb_reconnect(client, 0) == -1);
  int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  assert(!bind(listening, (struct sockaddr *)&address, sizeof address) && !listen(listening, 8));
  pid_t service = fork();
  if (!service) {
    // Twice the same sequence: the profiles in their order, then the listener.
    for (int round = 0; round < 2; round++) {
      int held[3];
      for (int profile = 1; profile <= 2; profile++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "\"profile_text\":\"{session_id: %d}\"", profile);
        held[profile] = accepted(listening);
        hear(held[profile]);
        if (profile == 1) {
          assert(strstr(heard, ".GetInfo\""));
          say(held[profile], info, sizeof info);
          hear(held[profile]);
        }
        assert(strstr(heard, ".Start\"") && strstr(heard, wanted));
        char started[80];
        int length = snprintf(
            started, sizeof started, "{\"parameters\":{\"session_id\":%d}}", profile);
        say(held[profile], started, (size_t)length + 1);
      }
      int monitor = accepted(listening);
      hear(monitor);
      assert(strstr(heard, ".Monitor\"") && strstr(heard, "\"peer\":\"0x0001\""));
      say(monitor, reply, sizeof reply);
      close(monitor);
      close(held[1]);
      close(held[2]);
    }
    // Then a service that refuses connections.
    int control = accepted(listening);
    hear(control);
    const char error[] = "{\"error\":\"a.Denied\",\"parameters\":{\"reason\":\"No.\"}}";
    say(control, error, sizeof error);
    _exit(0);
  }
  assert(!uwb_reconnect(client, 60));
  assert(!uwb_start(client, "{session_id: 1}", NULL, NULL));
  assert(!uwb_start(client, "{session_id: 2}", NULL, NULL));
  const char *const peers[] = {"0x0001", NULL};
  const struct uwb_monitor_options options = {.size = sizeof options, .peers = peers};
  assert(!uwb_monitor(client, &options, take, &count));
  for (int round = 1; round <= 2; round++) {
    int result;
    while ((result = uwb_dispatch(client)) >= 0) {
      struct pollfd polled = {.fd = uwb_fd(client), .events = POLLIN};
      poll(&polled, 1, -1);
    }
    // Each round has a measurement, and the interruption after it.
    assert(count == 2 * round && uwb_last_code(client) == UWB_DISCONNECTED && uwb_fd(client) == -1);
    assert(last.after_interruption == (round == 2));
    if (round == 1) assert(!uwb_reconnect(client, 60));
  }
  assert(uwb_reconnect(client, 0) == -1 && !strcmp(uwb_last_error(client), "No."));
  int status;
  assert(waitpid(service, &status, 0) == service && !status);
  uwb_close(client);
  close(listening);
  unlink(address.sun_path);
  rmdir(folder);
}

static void ignore(int number) { (void)number; }

/// Delivers a signal every 5 ms, which interrupts system calls, or stops the signals.
static void alarms(bool often) {
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = ignore}, NULL);
  struct timeval pause = {0, often ? 5000 : 0};
  setitimer(ITIMER_REAL, &(struct itimerval){pause, pause}, NULL);
}

/// A call that times out affects no session, and no later call.
static void gives_up(void) {
  char folder[] = "/tmp/uwbXXXXXX";
  assert(mkdtemp(folder));
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/control", folder);
  uwb_client *client = uwb_open(address.sun_path);
  int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  assert(!bind(listening, (struct sockaddr *)&address, sizeof address) && !listen(listening, 0));
  // The service has no room for another connection.
  int waiting = socket(AF_UNIX, SOCK_STREAM, 0);
  assert(!connect(waiting, (struct sockaddr *)&address, sizeof address));
  for (int often = 0; often < 2; often++) {
    alarms(often);
    uwb_set_timeout(client, 100);
    assert(uwb_reconnect(client, 0) == -1 && strstr(uwb_last_error(client), "has not accepted"));
  }
  assert(!close(waiting) && !close(accepted(listening)) && !listen(listening, 8));
  // The call is sent in part.
  static char profile[1 << 20] = "{";
  memset(profile + 1, ' ', sizeof profile - 3);
  profile[sizeof profile - 2] = '}';
  for (int often = 0; often < 2; often++) {
    alarms(often);
    assert(uwb_start(client, profile, NULL, NULL) == -1);
    assert(strstr(uwb_last_error(client), "has not received"));
    assert(!close(accepted(listening)));
  }
  alarms(false);
  uwb_set_timeout(client, 30000);
  const char started[] = "{\"parameters\":{\"session_id\":1}}";
  const char later[] = "{\"parameters\":{\"session_id\":4}}";
  pid_t service = fork();
  if (!service) {
    int held = accepted(listening);
    hear(held);
    say(held, started, sizeof started);
    int late = accepted(listening);
    hear(late);
    assert(strstr(heard, "{session_id: 2}"));
    // Until the time-out of the client.
    assert(recv(late, heard, 1, 0) == 0);
    send(late, started, sizeof started, MSG_NOSIGNAL);
    // A connection without a session is used again.
    int next = accepted(listening);
    hear(next);
    const char error[] = "{\"error\":\"a.Denied\",\"parameters\":{\"reason\":\"No.\"}}";
    say(next, error, sizeof error);
    hear(next);
    assert(strstr(heard, "{session_id: 4}"));
    say(next, later, sizeof later);
    assert(recv(held, heard, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    _exit(0);
  }
  assert(!uwb_start(client, "{session_id: 1}", NULL, NULL));
  alarms(true);
  uwb_set_timeout(client, 100);
  assert(uwb_start(client, "{session_id: 2}", NULL, NULL) == -1);
  assert(strstr(uwb_last_error(client), "does not answer"));
  alarms(false);
  uwb_set_timeout(client, 30000);
  assert(uwb_start(client, "{session_id: 3}", NULL, NULL) == -1);
  assert(!strcmp(uwb_last_error(client), "No."));
  assert(!uwb_start(client, "{session_id: 4}", NULL, NULL));
  int status;
  assert(waitpid(service, &status, 0) == service && !status);
  uwb_close(client);
  close(listening);
  unlink(address.sun_path);
  rmdir(folder);
}

/// Numbers of JSON are read with all digits, whatever the locale; other numbers are rejected.
static void numbers(void) {
  static const struct {
    const char *text;
    double value;
  } good[] = {
      {"0", 0},
      {"-0.5", -0.5},
      {"1.37", 1.37},
      {"137E-2", 1.37},
      {"1.5e+3", 1500},
      {"0.1000000000000000055511151231257827", 0.1},
      // A number in the middle between two values, and one just above it.
      {"9007199254740993", 9007199254740992},
      {"9007199254740993.000000000000000000000000000001", 9007199254740994},
      {"2.2250738585072011e-308", 2.2250738585072011e-308},
      {"4.9406564584124654e-324", 0x1p-1074},
  };
  static const char *const bad[] = {"1,37", "1.", ".5", "+1", "01", "-",    "1e",   "1e+", "1.2.3",
                                    "0x1p3", "1m", "inf", "nan", "tru", "nullx", "- 1", "1 2", ""};
  for (size_t index = 0; index < sizeof good / sizeof *good + sizeof bad / sizeof *bad; index++) {
    size_t goods = sizeof good / sizeof *good;
    bool is_good = index < goods;
    char line[160];
    long count = 0;
    int service, length = snprintf(
        line, sizeof line, "{\"parameters\":{\"measurement\":{\"peer\":\"0x0001\",\"rssi_dbm\":%s}}}",
        is_good ? good[index].text : bad[index - goods]);
    uwb_client *client = made(&service, &count);
    say(service, line, (size_t)length + 1);
    assert(uwb_dispatch(client) == (is_good ? 1 : -1));
    assert(!is_good || last.rssi_dbm == good[index].value);
    close(service);
    uwb_close(client);
  }
}

/// Strings of JSON have the required escapes, and are UTF-8.
static void strings(void) {
  static const char *const pairs[][2] = {
      {"", ""},
      {"{\"a\": 0x2A, // b\r\n\t}", "{\\u0022a\\u0022: 0x2A, // b\\u000d\\u000a\\u0009}"},
      {"\\ \1\x1F\x7F", "\\u005c \\u0001\\u001f\x7F"},
      {"\u00B5 \u0800 \uD7FF \uFFFD \U00010000 \U0010FFFF",
       "\u00B5 \u0800 \uD7FF \uFFFD \U00010000 \U0010FFFF"},
      // Latin-1.
      {"5 \xB5m, B\xFCro", "5 \\ufffdm, B\\ufffdro"},
      // The end within a character.
      {"\xC2", "\\ufffd"},
      {"\xE2\x82\"", "\\ufffd\\ufffd\\u0022"},
      {"\xF0\x9F\x98", "\\ufffd\\ufffd\\ufffd"},
      // Too long, a surrogate, too large.
      {"\xC0\x80", "\\ufffd\\ufffd"},
      {"\xE0\x9F\xBF", "\\ufffd\\ufffd\\ufffd"},
      {"\xF0\x8F\xBF\xBF", "\\ufffd\\ufffd\\ufffd\\ufffd"},
      {"\xED\xA0\x80", "\\ufffd\\ufffd\\ufffd"},
      {"\xF4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},
      {"\xF5\xFF", "\\ufffd\\ufffd"},
  };
  for (size_t index = 0; index < sizeof pairs / sizeof *pairs; index++) {
    struct text text = {0};
    append_string(&text, pairs[index][0]);
    size_t length = strlen(pairs[index][1]);
    assert(text.count == length + 2 && text.bytes[0] == '"' && text.bytes[length + 1] == '"');
    assert(!memcmp(text.bytes + 1, pairs[index][1], length));
    free(text.bytes);
  }
}

/// Gives a client a connection for calls. Returns the end of the service.
static int connected(uwb_client *client) {
  int ends[2];
  assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  client->idle.fd = ends[0];
  return ends[1];
}

/// A client that has a connection for one call. The replies are there before the call.
static uwb_client *calling(int *service, const char *reply_to_call) {
  uwb_client *client = uwb_open("");
  *service = connected(client);
  if (reply_to_call) say(*service, reply_to_call, strlen(reply_to_call) + 1);
  return client;
}

static void done(uwb_client *client, int service) {
  uwb_close(client);
  close(service);
}

/// The list, the description and the service have their members, and later lists replace them.
static void lists(void) {
  int service;
  uwb_client *client = calling(&service, chip_list);
  const struct uwb_chip *const *chips = uwb_list(client);
  assert(chips && chips[0] && chips[1] && !chips[2]);
  assert(!strcmp(chips[0]->chip, "/dev/ttyACM0") && !chips[0]->problem && !chips[0]->borrowed);
  assert(!strcmp(chips[0]->serial, "C0FFEE") && !chips[0]->model);
  const struct uwb_session *session = chips[0]->sessions[0];
  assert(session->session_id == 42 && session->share == UWB_SHARE_EVERYONE && !strcmp(session->state, "ranging"));
  assert(session->owner_count == 2 && session->owners[1].pid == 8 && session->owners[0].uid == 1000);
  assert(session->counters.measured == 9 && session->counters.missing == 2);
  assert(chips[0]->sessions[1]->share == UWB_SHARE_USER && !chips[0]->sessions[2]);
  // Escaped characters, inside and outside the first plane.
  assert(!strcmp(chips[1]->chip, "tcp:\u00E4\U0001F4E1") && !chips[1]->sessions[0]);
  assert(!strcmp(chips[1]->borrowed, "uwbctl reset") && !strcmp(chips[1]->problem, "It is gone."));
  assert(chips[1]->json[0] == '{' && chips[1]->json[strlen(chips[1]->json) - 1] == '}');
  say(service, description, sizeof description);
  const struct uwb_info *info = uwb_describe(client, "a");
  assert(info && !strcmp(info->device, "DW3720") && info->channel_count == 2 && !info->uci);
  assert(info->channels[1] == 9);
  const char none[] = "{\"parameters\":{\"chips\":[]}}";
  say(service, none, sizeof none);
  assert((chips = uwb_list(client)) && !chips[0]);
  // An older service, and a newer one.
  const char unknown[] = "{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":{}}";
  say(service, unknown, sizeof unknown);
  const char old[] = "{\"parameters\":{\"version\":\"0.1.0\",\"interfaces\":[]}}";
  say(service, old, sizeof old);
  const struct uwb_service *found = uwb_service_info(client);
  assert(found && !strcmp(found->version, "0.1.0") && found->protocol == 1 && !found->run);
  assert(!found->features[0]);
  const char new[] =
      "{\"parameters\":{\"version\":\"0.2.0\",\"protocol\":2,\"features\":[\"watch\",\"peers\"],"
      "\"run\":\"r1\",\"host\":\"h\"}}";
  say(service, new, sizeof new);
  found = uwb_service_info(client);
  assert(found && found->protocol == 2 && !strcmp(found->run, "r1") && !found->features[2]);
  assert(!strcmp(found->features[1], "peers") && !strcmp(uwb_version(), UWB_VERSION));
  done(client, service);
}

/// Errors have a code, a sentence and their parameters, and the connection is used again.
static void errors(void) {
  static const struct {
    const char *reply, *text;
    enum uwb_code code;
  } cases[] = {
      {conflict,
       "Session 42 is there with other parameters: CHANNEL_NUMBER is 9, not 5; STS_LENGTH is unset, "
       "not 1.",
       UWB_CONFLICT},
      {"{\"error\":\"org.swift-uwb.Chips.Denied\",\"parameters\":{\"reason\":\"No.\",\"advice\":\"Ask.\"}}",
       "No. Ask.", UWB_DENIED},
      {"{\"error\":\"org.swift-uwb.Chips.Later\"}", "Later", UWB_OTHER_ERROR},
      {"{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":\"peer_ms\"}}",
       "The service does not accept the parameter peer_ms: its value is out of range, or the service "
       "is older.",
       UWB_INVALID_ARGUMENT},
      {"{\"error\":\"org.varlink.service.MethodNotFound\"}",
       "The service is older, and does not support this call.", UWB_NOT_SUPPORTED},
      {"{\"error\":7}", "The service reports an error.", UWB_OTHER_ERROR},
  };
  int service;
  uwb_client *client = calling(&service, cases[0].reply);
  for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
    if (index) say(service, cases[index].reply, strlen(cases[index].reply) + 1);
    struct uwb_started started = {.size = sizeof started};
    assert(uwb_start(client, "{}", NULL, &started) == -1);
    assert(uwb_last_code(client) == cases[index].code);
    assert(index == 5 || !strcmp(uwb_last_error(client), cases[index].text));
    assert(!strcmp(uwb_last_error_json(client), cases[index].reply));
  }
  // Errors of the client itself have no JSON.
  assert(uwb_dispatch(client) == -1 && uwb_last_code(client) == UWB_INVALID_ARGUMENT);
  assert(!uwb_last_error_json(client));
  const struct uwb_start_options unset = {0};
  assert(uwb_start(client, "{}", &unset, NULL) == -1 && strstr(uwb_last_error(client), "size"));
  // The service refuses the connection before the call.
  say(service, cases[1].reply, strlen(cases[1].reply) + 1);
  close(service);
  assert(uwb_start(client, "{}", NULL, NULL) == -1 && uwb_last_code(client) == UWB_DENIED);
  uwb_close(client);
}

/// A session has its options, its own connection, and ends by itself for good.
static void sessions(void) {
  int service;
  const char started[] = "{\"parameters\":{\"chip\":\"a\",\"session_id\":42,\"joined\":true}}";
  const char stopped[] = "{\"parameters\":{}}";
  uwb_client *client = calling(&service, started);
  const struct uwb_start_options options = {
      .size = sizeof options, .share = UWB_SHARE_USER, .linger_ms = 500};
  struct uwb_started found = {.size = sizeof found};
  assert(!uwb_start(client, "{}", &options, &found));
  assert(found.session_id == 42 && found.joined && !strcmp(found.chip, "a"));
  hear(service);
  assert(strstr(heard, "\"linger_ms\":500,\"share\":\"user\"}}") && !strstr(heard, "chip"));
  // Without a profile, the options name a session that exists.
  const uint32_t id = 42;
  const struct uwb_start_options present = {.size = sizeof present, .session_id = &id};
  struct text call = start_call(NULL, &present, NULL);
  assert(strstr(call.bytes, ".Start\",\"parameters\":{\"session_id\":42") && !strstr(call.bytes, "profile"));
  clear(&call);
  // It starts again on the same chip.
  assert(strstr(client->held->call.bytes, "\"chip\":\"a\"") && client->idle.fd == -1);
  say(service, stopped, sizeof stopped);
  assert(!uwb_stop(client, NULL, 42) && !client->held);
  hear(service);
  // The service may have several chips.
  assert(strstr(heard, ".Stop\",\"parameters\":{\"session_id\":42,\"chip\":\"a\"}}"));
  assert(recv(service, heard, 1, 0) == 0);
  // A program that was built with a shorter structure.
  close(service);
  uwb_close(client);
  client = calling(&service, started);
  memset(&found, 0x55, sizeof found);
  found.size = offsetof(struct uwb_started, joined);
  assert(!uwb_start(client, "{}", NULL, &found) && found.session_id == 42);
  assert(found.joined == 0x55555555 && client->held);
  // The session ends by itself, as its listener receives.
  int ends[2];
  long count = 0;
  assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  client->listening.fd = ends[0];
  append_text(&client->listen, "{");
  client->body = take;
  client->context = &count;
  client->heard_starts = client->starts;
  const char ended[] =
      "{\"error\":\"org.swift-uwb.Chips.SessionEnded\",\"parameters\":{\"chip\":\"a\",\"session_id\":42,"
      "\"reason\":\"It ended.\"}}";
  say(ends[1], ended, sizeof ended);
  assert(uwb_dispatch(client) == -1 && uwb_last_code(client) == UWB_SESSION_ENDED && !count);
  assert(!client->held && uwb_fd(client) == -1);
  close(ends[1]);
  done(client, service);
}

static size_t count_held(const uwb_client *client) {
  size_t count = 0;
  for (const struct held *at = client->held; at; at = at->next) count++;
  return count;
}

/// Each start of a session has a stop of its own; a new session replaces the starts before it.
static void starts_twice(void) {
  int services[3];
  const char new[] = "{\"parameters\":{\"chip\":\"a\",\"session_id\":42,\"joined\":false}}";
  const char joined[] = "{\"parameters\":{\"chip\":\"a\",\"session_id\":42,\"joined\":true}}";
  const char stopped[] = "{\"parameters\":{}}";
  uwb_client *client = calling(&services[0], new);
  assert(!uwb_start(client, "{}", NULL, NULL));
  services[1] = connected(client);
  say(services[1], joined, sizeof joined);
  assert(!uwb_start(client, "{}", NULL, NULL) && count_held(client) == 2);
  say(services[1], stopped, sizeof stopped);
  assert(!uwb_stop(client, NULL, 42) && count_held(client) == 1);
  hear(services[1]);
  assert(strstr(heard, ".Start\""));
  hear(services[1]);
  assert(strstr(heard, ".Stop\"") && recv(services[1], heard, 1, 0) == 0);
  // The first one continues.
  hear(services[0]);
  assert(strstr(heard, ".Start\"") && recv(services[0], heard, 1, MSG_DONTWAIT) == -1);
  services[2] = connected(client);
  say(services[2], new, sizeof new);
  assert(!uwb_start(client, "{}", NULL, NULL) && count_held(client) == 1);
  assert(recv(services[0], heard, 1, 0) == 0);
  close(services[0]);
  close(services[1]);
  done(client, services[2]);
}

/// The next service gets the last share of a session, and does not start one that was ended.
static void changes(void) {
  int service, control;
  const char started[] = "{\"parameters\":{\"chip\":\"a\",\"session_id\":42,\"joined\":false}}";
  uwb_client *client = calling(&service, started);
  assert(!uwb_start(client, "{}", NULL, NULL));
  hear(service);
  control = connected(client);
  say(control, info, sizeof info);
  assert(!uwb_set_share(client, "a", 42, UWB_SHARE_USER));
  hear(control);
  assert(strstr(
      heard, ".SetShare\",\"parameters\":{\"session_id\":42,\"chip\":\"a\",\"share\":\"user\"}}"));
  const char busy[] = "{\"error\":\"org.swift-uwb.Chips.Busy\",\"parameters\":{\"reason\":\"Held.\"}}";
  say(control, busy, sizeof busy);
  assert(uwb_set_share(client, NULL, 42, UWB_SHARE_EVERYONE) == -1);
  assert(uwb_last_code(client) == UWB_BUSY && client->held->share == UWB_SHARE_USER);
  hear(control);
  // The service restarts.
  close(service);
  say(control, info, sizeof info);
  say(control, started, sizeof started);
  assert(!uwb_reconnect(client, 0));
  hear(control);
  hear(control);
  assert(strstr(heard, "\"chip\":\"a\",\"share\":\"user\"}}"));
  service = control;
  control = connected(client);
  say(control, info, sizeof info);
  assert(!uwb_end(client, NULL, 42) && !client->held);
  hear(control);
  assert(strstr(heard, ".End\",\"parameters\":{\"session_id\":42}}"));
  assert(recv(service, heard, 1, 0) == 0);
  const char denied[] = "{\"error\":\"org.swift-uwb.Chips.Denied\",\"parameters\":{}}";
  say(control, denied, sizeof denied);
  assert(uwb_end(client, NULL, 42) == -1 && uwb_last_code(client) == UWB_DENIED);
  close(service);
  done(client, control);
}

/// The calls of listeners have the options, and a listener replaces the one before.
static void listeners(void) {
  char folder[] = "/tmp/uwbXXXXXX";
  assert(mkdtemp(folder));
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/control", folder);
  int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  assert(!bind(listening, (struct sockaddr *)&address, sizeof address) && !listen(listening, 8));
  uwb_client *client = uwb_open(address.sun_path);
  int idle = accepted(listening);
  const char *const peers[] = {"0x0001", "0x0002", NULL};
  uint32_t session = 0;
  const struct uwb_monitor_options options = {
      .size = sizeof options, .chip = "a", .session_id = &session, .peers = peers, .newest_only = 1,
      .queue = 5, .every_ms = 6, .peer_ms = 7, .identity = 1, .changes = 1};
  long count = 0;
  assert(!uwb_monitor(client, &options, take, &count));
  int first = accepted(listening);
  hear(first);
  assert(strstr(
      heard,
      "{\"chip\":\"a\",\"session_id\":0,\"peers\":[\"0x0001\",\"0x0002\"],\"keep\":\"newest\","
      "\"queue\":5,\"every_ms\":6,\"peer_ms\":7,\"identity\":true,\"events\":true}}"));
  const struct uwb_watch_options watch = {.size = sizeof watch, .run = "r0", .after = 3};
  assert(!uwb_watch(client, &watch, take, &count));
  assert(recv(first, heard, 1, 0) == 0);
  int second = accepted(listening);
  hear(second);
  assert(strstr(heard, ".Watch\",\"more\":true,\"parameters\":{\"run\":\"r0\",\"after\":3}}"));
  say(second, change, sizeof change);
  assert(uwb_dispatch(client) == 1 && count == 1);
  // It goes on with the change after the last one, and restores no session.
  close(second);
  say(idle, info, sizeof info);
  assert(uwb_dispatch(client) == -1 && count == 2 && !uwb_reconnect(client, 60));
  int third = accepted(listening);
  hear(third);
  assert(strstr(heard, "\"run\":\"r1\",\"after\":12}}"));
  // The service does not have the chip again yet.
  const char none[] = "{\"error\":\"org.swift-uwb.Chips.NoChip\",\"parameters\":{\"reason\":\"None.\"}}";
  say(third, none, sizeof none);
  assert(uwb_dispatch(client) == -1 && uwb_last_code(client) == UWB_DISCONNECTED && count == 2);
  say(idle, info, sizeof info);
  assert(!strcmp(uwb_last_error(client), "None.") && !uwb_reconnect(client, 60));
  assert(!uwb_monitor(client, NULL, NULL, NULL) && uwb_fd(client) == -1);
  uwb_close(client);
  close(first);
  close(third);
  close(idle);
  close(listening);
  unlink(address.sun_path);
  rmdir(folder);
}

static long causes[2];

static void cause(const struct uwb_event *event, void *context) {
  (void)context;
  if (event->interruption) causes[event->interruption->cause]++;
}

/// An interruption is a value: of the chip before the measurement after it, of the service once.
static void interruptions(void) {
  static const char after[] =
      "{\"parameters\":{\"chip\":\"a\",\"session_id\":1,\"measurement\":{\"after_interruption\":true}}}";
  long count = 0;
  int service;
  uwb_client *client = made(&service, &count);
  client->body = cause;
  say(service, after, sizeof after);
  assert(uwb_dispatch(client) == 2 && causes[UWB_CAUSE_CHIP] == 1);
  close(service);
  assert(uwb_dispatch(client) == -1 && causes[UWB_CAUSE_SERVICE] == 1);
  assert(uwb_last_code(client) == UWB_DISCONNECTED && strstr(uwb_last_error(client), "closed"));
  // The interruption of the service is not one of the chip, too.
  int ends[2];
  assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  client->listening.fd = ends[0];
  say(ends[1], after, sizeof after);
  assert(uwb_dispatch(client) == 1 && causes[UWB_CAUSE_CHIP] == 1 && causes[UWB_CAUSE_SERVICE] == 1);
  uwb_close(client);
  close(ends[1]);
}

// Calls of callbacks.
enum { closes, monitors, reconnects_too, starts, dispatches, lists_too, call_count };

static int wanted;
static uwb_client *calls_back;

static void call_back(const struct uwb_event *event, void *context) {
  ++*(long *)context;
  uwb_client *client = calls_back;
  if (wanted == closes) uwb_close(client);
  if (wanted == monitors) uwb_monitor(client, NULL, take, context);
  if (wanted == reconnects_too) uwb_reconnect(client, 0);
  if (wanted == starts) uwb_start(client, "{}", NULL, NULL);
  if (wanted == dispatches) {
    assert(uwb_dispatch(client) == -1 && uwb_last_code(client) == UWB_INVALID_ARGUMENT);
  }
  if (wanted == lists_too) uwb_list(client);
  // The event is still valid.
  if (event->measurement) {
    assert(!strcmp(event->measurement->peer, "0x0001") && !strcmp(event->measurement->json, reply));
  } else {
    assert(event->interruption && *event->interruption->reason);
  }
}

/// Each call may be made within an event, whether it is a measurement or an interruption. The call
/// that has begun the event is rejected.
static void callbacks(void) {
  for (wanted = 0; wanted < call_count; wanted++) {
    for (int lost = 0; lost < 2; lost++) {
      long count = 0;
      int service;
      uwb_client *client = calls_back = made(&service, &count);
      client->body = call_back;
      for (int index = 0; index < 3; index++) {
        if (!lost) say(service, reply, sizeof reply);
      }
      if (lost) close(service);
      int result = uwb_dispatch(client);
      // Closing and another listener, which has no service here, end the loop.
      bool ends = wanted == closes || wanted == monitors;
      assert(count == (lost || ends ? 1 : 3));
      assert(result == (ends && !lost ? 1 : lost && wanted != closes ? -1 : lost ? 0 : 3));
      if (!lost) close(service);
      if (wanted != closes) uwb_close(client);
    }
  }
}

/// Reads bytes as the reply to each call and as events.
static void read_all(const char *bytes, size_t size) {
  long count = 0;
  for (int call = 0; call < 8; call++) {
    int service;
    uwb_client *client = call ? calling(&service, NULL) : made(&service, &count);
    say(service, bytes, size);
    // Nothing else follows, so that no call waits.
    shutdown(service, SHUT_WR);
    if (call == 0) while (uwb_dispatch(client) > 0) {}
    if (call == 1) uwb_list(client);
    if (call == 2) uwb_describe(client, NULL);
    if (call == 3) uwb_service_info(client);
    if (call == 4) uwb_start(client, "{}", NULL, NULL);
    if (call == 5) uwb_stop(client, NULL, 42);
    if (call == 6) uwb_set_share(client, NULL, 42, UWB_SHARE_USER);
    if (call == 7) uwb_end(client, NULL, 42);
    if (uwb_last_code(client)) assert(*uwb_last_error(client));
    done(client, service);
  }
}

#ifdef FUZZER
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  // A larger message may not fit into the socket.
  if (size && size < 65536) read_all((const char *)bytes, size);
  return 0;
}
#define main unused_main
#endif

static void damages(void) {
  static const struct {
    const char *bytes;
    size_t size;
  } replies[] = {
      {reply, sizeof reply},
      {chip_list, sizeof chip_list},
      {description, sizeof description},
      {conflict, sizeof conflict},
      {change, sizeof change},
  };
  srandom(1);
  for (int round = 0; round < 50000; round++) {
    size_t index = (size_t)round % (sizeof replies / sizeof *replies), size = replies[index].size;
    char damaged[2048];
    memcpy(damaged, replies[index].bytes, size);
    for (long changes = random() % 6; changes >= 0; changes--) {
      static const char tokens[] = "{}[]\",:\\n0-ud";
      damaged[random() % (long)size] =
          random() % 2 ? tokens[random() % (long)(sizeof tokens - 1)] : (char)random();
    }
    read_all(damaged, size);
  }
}

/// test [COMMA]: tests in the locale of the environment. With an argument, its decimal mark is a
/// comma.
int main(int arguments, char **argument) {
  assert(setlocale(LC_ALL, ""));
  assert(arguments < 2 || !strcmp(localeconv()->decimal_point, argument[1]));
  long count = 0;
  int service;
  uwb_client *client = made(&service, &count);
  say(service, reply, sizeof reply);
  assert(uwb_dispatch(client) == 1 && count == 1 && !uwb_last_error(client));
  assert(last.distance_m == 1.37 && last.distance_sd_m == 0.02 && isnan(last.azimuth_deg));
  assert(last.distance_short_sd_m == 0.01);
  assert(last.nlos == 1 && last.lost == 3 && last.sequence == 7 && !strcmp(last.status, "same"));
  assert(!strcmp(last.chip, "same") && !last.after_interruption && !last.serial);
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
  numbers();
  strings();
  lists();
  errors();
  sessions();
  starts_twice();
  changes();
  listeners();
  interruptions();
  callbacks();
  damages();
  reconnects();
  gives_up();
  puts("the reader: whole, in pieces, 50,000 times damaged; callbacks; restarts; calls given up");
  return 0;
}
