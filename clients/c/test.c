// SPDX-License-Identifier: Apache-2.0
//
// Reads replies as a whole, octet by octet, and with random damage. .ci/c compiles it with
// sanitizers. The second socket stands in for the service.
#include "uwb.c"

#include <assert.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

static const char reply[] =
    "{\"parameters\":{\"chip\":\"a\\\"b\",\"session_id\":42,\"monotonic_us\":1500000,\"utc_us\":"
    "1800000000000001,\"lost\":3,\"measurement\":{\"sequence\":7,\"peer\":\"0x0001\",\"status\":"
    "\"OK\",\"estimate_m\":1.37,\"estimate_sd_m\":2e-2,\"azimuth_deg\":null,\"nlos\":true,\"later\":"
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
  client->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  client->idle.fd = -1;
  client->listening.fd = ends[0];
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
  assert(uwb_last_error(client) && uwb_reconnect(client, 0) == -1);
  int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  assert(!bind(listening, (struct sockaddr *)&address, sizeof address) && !listen(listening, 8));
  const char started[] = "{\"parameters\":{}}";
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
        assert(strstr(heard, ".Start\"") && strstr(heard, wanted));
        say(held[profile], started, sizeof started);
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
  assert(!uwb_start(client, "{session_id: 1}", NULL));
  assert(!uwb_start(client, "{session_id: 2}", NULL));
  assert(!uwb_monitor(client, NULL, "0x0001", take, &count));
  assert(uwb_monitor(client, NULL, NULL, take, &count) == -1);
  for (int round = 1; round <= 2; round++) {
    int result;
    while ((result = uwb_dispatch(client)) >= 0) {
      struct pollfd polled = {.fd = uwb_fd(client), .events = POLLIN};
      poll(&polled, 1, -1);
    }
    assert(count == round);
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
static void interrupt(bool often) {
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
    interrupt(often);
    client->patience = 100;
    assert(uwb_reconnect(client, 0) == -1 && strstr(uwb_last_error(client), "has not accepted"));
  }
  assert(!close(waiting) && !close(accepted(listening)) && !listen(listening, 8));
  // The call is sent in part.
  static char profile[1 << 20] = "{";
  memset(profile + 1, ' ', sizeof profile - 3);
  profile[sizeof profile - 2] = '}';
  for (int often = 0; often < 2; often++) {
    interrupt(often);
    assert(uwb_start(client, profile, NULL) == -1);
    assert(strstr(uwb_last_error(client), "has not received"));
    assert(!close(accepted(listening)));
  }
  interrupt(false);
  client->patience = 30000;
  const char started[] = "{\"parameters\":{}}";
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
    say(next, started, sizeof started);
    assert(recv(held, heard, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    _exit(0);
  }
  assert(!uwb_start(client, "{session_id: 1}", NULL));
  interrupt(true);
  client->patience = 100;
  assert(uwb_start(client, "{session_id: 2}", NULL) == -1);
  assert(strstr(uwb_last_error(client), "does not answer"));
  interrupt(false);
  client->patience = 30000;
  assert(uwb_start(client, "{session_id: 3}", NULL) == -1);
  assert(!strcmp(uwb_last_error(client), "No."));
  assert(!uwb_start(client, "{session_id: 4}", NULL));
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
  numbers();

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
  strings();
  reconnects();
  gives_up();
  puts("the reader: whole, in pieces, 200,000 times damaged; a restart; calls that are given up");
}
