// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "uwb.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define INTERFACE "org.swift-uwb.Chips"

enum {
  // Bytes of the longest message that is accepted.
  longest = 1 << 20,
  deepest = 32,
};

// A growing buffer, with a zero after its bytes.
struct text {
  char *bytes;
  size_t count, room;
  bool failed;
};

static void append(struct text *text, const char *bytes, size_t count) {
  if (text->failed) return;
  if (text->room - text->count < count + 1) {
    size_t room = 2 * (text->count + count + 1);
    char *grown = realloc(text->bytes, room);
    if (!grown) {
      text->failed = true;
      return;
    }
    text->bytes = grown;
    text->room = room;
  }
  memcpy(text->bytes + text->count, bytes, count);
  text->count += count;
  text->bytes[text->count] = 0;
}

static void append_text(struct text *text, const char *more) { append(text, more, strlen(more)); }

struct connection {
  int fd;
  // Bytes up to `taken` are consumed; `message` is reused for each message.
  struct text input;
  size_t taken;
};

// A session of the client: its connection, and the call that started it, with its final zero.
struct session {
  struct session *next;
  struct connection connection;
  char call[];
};

struct uwb_client {
  // The first connection has no session. It is closed when a reply on it is no longer awaited.
  struct connection idle, listening;
  // The sessions, in the order of their starts.
  struct session *sessions;
  // The time-out of an answer in milliseconds.
  int patience;
  char path[sizeof((struct sockaddr_un *)0)->sun_path];
  uwb_measured *body;
  void *context;
  // The call of the listener.
  struct text monitor;
  // Numbers have a decimal point, whatever the locale of the program.
  locale_t plain;
  // Seed for random pauses, which differ between programs.
  uint64_t chance;
  bool failed;
  char error[512];
};

static int fail(uwb_client *client, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(client->error, sizeof client->error, format, list);
  va_end(list);
  client->failed = true;
  return -1;
}

// MARK: JSON

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

static const char *skip_string(const char *at) {
  for (at++; *at && *at != '"'; at++) {
    if (*at == '\\' && !*++at) return NULL;
  }
  return *at ? at + 1 : NULL;
}

static const char *skip_digits(const char *at) {
  size_t count = strspn(at, "0123456789");
  return count ? at + count : NULL;
}

static const char *skip_number(const char *at) {
  if (*at == '-') at++;
  if (!(at = *at == '0' ? at + 1 : skip_digits(at))) return NULL;
  if (*at == '.' && !(at = skip_digits(at + 1))) return NULL;
  if (*at != 'e' && *at != 'E') return at;
  at++;
  return skip_digits(*at == '+' || *at == '-' ? at + 1 : at);
}

/// Returns the end of a value; NULL: it is not a value.
static const char *skip_value(const char *at, int depth) {
  if (depth > deepest) return NULL;
  if (*at == '"') return skip_string(at);
  if (*at != '{' && *at != '[') {
    static const char *const words[] = {"null", "true", "false"};
    for (size_t index = 0; index < sizeof words / sizeof *words; index++) {
      if (!strncmp(at, words[index], strlen(words[index]))) return at + strlen(words[index]);
    }
    return skip_number(at);
  }
  char end = *at == '{' ? '}' : ']';
  at = skip_blanks(at + 1);
  if (*at == end) return at + 1;
  for (;;) {
    if (end == '}') {
      if (*at != '"' || !(at = skip_string(at))) return NULL;
      at = skip_blanks(at);
      if (*at++ != ':') return NULL;
      at = skip_blanks(at);
    }
    if (!(at = skip_value(at, depth + 1))) return NULL;
    at = skip_blanks(at);
    if (*at == end) return at + 1;
    if (*at++ != ',') return NULL;
    at = skip_blanks(at);
  }
}

/// Returns the value of a member of an object that skip_value has accepted; NULL: there is none, or
/// it is null.
static const char *member(const char *object, const char *name) {
  if (!object || *object != '{') return NULL;
  size_t length = strlen(name);
  const char *at = skip_blanks(object + 1);
  while (*at == '"') {
    const char *key = at + 1, *value;
    at = skip_string(at);
    bool same = (size_t)(at - 1 - key) == length && !memcmp(key, name, length);
    value = skip_blanks(skip_blanks(at) + 1);
    if (same) return *value == 'n' ? NULL : value;
    at = skip_blanks(skip_value(value, 0));
    if (*at == ',') at = skip_blanks(at + 1);
  }
  return NULL;
}

static double number(const uwb_client *client, const char *object, const char *name) {
  const char *value = member(object, name);
  if (!value || (*value != '-' && (*value < '0' || *value > '9'))) return NAN;
  return strtod_l(value, NULL, client->plain);
}

static uint64_t integer(const char *object, const char *name) {
  const char *value = member(object, name);
  return value && *value >= '0' && *value <= '9' ? strtoull(value, NULL, 10) : 0;
}

/// Copies a text as far as there is room. Only escapes of characters are decoded.
static const char *string(const char *object, const char *name, char *into, size_t room) {
  const char *value = member(object, name);
  size_t count = 0;
  if (value && *value == '"') {
    for (value++; *value && *value != '"' && count + 1 < room; value++) {
      if (*value == '\\' && value[1] && value[1] != 'u') value++;
      into[count++] = *value;
    }
  }
  into[count] = 0;
  return into;
}

/// Returns the number of bytes of a character of UTF-8; 0: the bytes are not one.
static size_t character_length(const char *at) {
  const unsigned char *byte = (const unsigned char *)at;
  if (*byte < 0x80) return 1;
  size_t length = *byte >= 0xF0 ? 4 : *byte >= 0xE0 ? 3 : 2;
  // The second byte excludes overlong forms, surrogates and values above 0x10FFFF.
  unsigned char first = *byte == 0xE0 ? 0xA0 : *byte == 0xF0 ? 0x90 : 0x80;
  unsigned char last = *byte == 0xED ? 0x9F : *byte == 0xF4 ? 0x8F : 0xBF;
  if (*byte < 0xC2 || *byte > 0xF4 || byte[1] < first || byte[1] > last) return 0;
  for (size_t index = 2; index < length; index++) {
    if (byte[index] < 0x80 || byte[index] > 0xBF) return 0;
  }
  return length;
}

/// Appends a string of JSON. Bytes that are not UTF-8 become U+FFFD, as uwbctl decodes them.
static void append_string(struct text *text, const char *string) {
  append_text(text, "\"");
  for (const char *at = string; *at;) {
    size_t length = character_length(at);
    char escaped[8];
    if (!length) {
      append_text(text, "\\ufffd");
    } else if ((unsigned char)*at < 0x20 || *at == '"' || *at == '\\') {
      append(text, escaped, (size_t)sprintf(escaped, "\\u%04x", (unsigned char)*at));
    } else {
      append(text, at, length);
    }
    at += length ? length : 1;
  }
  append_text(text, "\"");
}

// MARK: connections

static uint64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void close_connection(struct connection *connection) {
  if (connection->fd >= 0) close(connection->fd);
  free(connection->input.bytes);
  *connection = (struct connection){.fd = -1};
}

static int open_connection(uwb_client *client, struct connection *connection) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, client->path, sizeof client->path);
  connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection->fd < 0) return fail(client, "No socket can be made: %s.", strerror(errno));
  // The time-out for a place in the service's queue, and for room for a call.
  struct timeval limit = {client->patience / 1000, client->patience % 1000 * 1000};
  setsockopt(connection->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  uint64_t end = milliseconds() + (uint64_t)client->patience;
  int result;
  do {
    result = connect(connection->fd, (struct sockaddr *)&address, sizeof address);
  } while (result && errno == EINTR && milliseconds() < end);
  if (!result) return 0;
  int error = errno;
  close_connection(connection);
  if (error == EAGAIN || error == EINTR) {
    return fail(
        client, "The service at %s has not accepted a connection in time. Try again later.",
        client->path);
  }
  return fail(
      client, "Cannot connect to %s: %s. Start uwbd, or name its socket.", client->path,
      strerror(error));
}

/// Sends a call with its final zero.
static int send_call(uwb_client *client, struct connection *connection, const char *call) {
  size_t sent = 0, length = strlen(call) + 1;
  uint64_t end = milliseconds() + (uint64_t)client->patience;
  while (sent < length) {
    ssize_t count = send(connection->fd, call + sent, length - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += (size_t)count;
    } else if (errno == EAGAIN || (errno == EINTR && milliseconds() >= end)) {
      return fail(client, "The service has not received a call in time. Try again later.");
    } else if (errno != EINTR) {
      return fail(client, "The service has disconnected: %s.", strerror(errno));
    }
  }
  return 0;
}

/// Returns the next message; NULL: it has not arrived yet, or there was an error.
static const char *next_message(uwb_client *client, struct connection *connection) {
  struct text *input = &connection->input;
  for (;;) {
    char *end = input->count > connection->taken
                    ? memchr(input->bytes + connection->taken, 0, input->count - connection->taken)
                    : NULL;
    if (end) {
      const char *message = input->bytes + connection->taken;
      connection->taken = (size_t)(end - input->bytes) + 1;
      const char *stop = skip_value(message, 0);
      if (*message != '{' || !stop || *skip_blanks(stop)) {
        fail(client, "The service sent invalid JSON.");
        return NULL;
      }
      return message;
    }
    if (connection->taken) {
      input->count -= connection->taken;
      memmove(input->bytes, input->bytes + connection->taken, input->count);
      connection->taken = 0;
    }
    char bytes[16384];
    ssize_t count = recv(connection->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return NULL;
    if (count <= 0) {
      fail(client, "The service has closed the connection.");
      return NULL;
    }
    append(input, bytes, (size_t)count);
    if (input->failed || input->count > longest) {
      fail(client, "A message of the service is too long.");
      return NULL;
    }
  }
}

/// Returns whether a reply is an error, and keeps the error.
static bool is_error(uwb_client *client, const char *reply) {
  if (!member(reply, "error")) return false;
  char name[128], reason[256], advice[128];
  const char *parameters = member(reply, "parameters");
  string(reply, "error", name, sizeof name);
  string(parameters, "reason", reason, sizeof reason);
  string(parameters, "advice", advice, sizeof advice);
  const char *dot = strrchr(name, '.');
  fail(
      client, "%s%s%s", *reason ? reason : dot ? dot + 1 : name, *advice ? " " : "", advice);
  return true;
}

// MARK: the interface

uwb_client *uwb_open(const char *path) {
  uwb_client *client = calloc(1, sizeof *client);
  if (!client) return NULL;
  client->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!client->plain) {
    free(client);
    return NULL;
  }
  client->idle.fd = client->listening.fd = -1;
  client->patience = 30000;
  if (!path) path = getenv("UWBD_SOCKET");
  if (!path) path = "/run/uwbd/control";
  if (!*path || strlen(path) >= sizeof client->path) {
    fail(client, "The path \"%s\" of the service is empty or too long.", path);
    return client;
  }
  strcpy(client->path, path);
  open_connection(client, &client->idle);
  return client;
}

/// Closes all connections; the sessions and the listener stay for a later connection.
static void disconnect(uwb_client *client) {
  close_connection(&client->idle);
  close_connection(&client->listening);
  for (struct session *at = client->sessions; at; at = at->next) close_connection(&at->connection);
}

void uwb_close(uwb_client *client) {
  if (!client) return;
  disconnect(client);
  while (client->sessions) {
    struct session *next = client->sessions->next;
    free(client->sessions);
    client->sessions = next;
  }
  free(client->monitor.bytes);
  freelocale(client->plain);
  free(client);
}

const char *uwb_last_error(const uwb_client *client) {
  return client->failed ? client->error : NULL;
}

/// Returns the reply to a call on the idle connection; NULL: there is none. The connection is then
/// closed, because the next call would receive the late reply.
static const char *reply_to(uwb_client *client, const char *call) {
  struct connection *connection = &client->idle;
  if (connection->fd < 0 && open_connection(client, connection)) return NULL;
  const char *reply = NULL;
  uint64_t end = milliseconds() + (uint64_t)client->patience;
  if (!send_call(client, connection, call)) {
    while (!(reply = next_message(client, connection)) && !client->failed) {
      uint64_t now = milliseconds();
      struct pollfd polled = {.fd = connection->fd, .events = POLLIN};
      int count = poll(&polled, 1, now < end ? (int)(end - now) : 0);
      if (count == 0 || (count < 0 && errno != EINTR)) {
        fail(client, "The service does not answer. Try again later.");
      }
    }
  }
  if (!reply) close_connection(connection);
  return reply;
}

/// Starts a session, and gives it its connection.
static int start(uwb_client *client, struct session *session) {
  const char *reply = reply_to(client, session->call);
  if (!reply || is_error(client, reply)) return -1;
  session->connection = client->idle;
  client->idle = (struct connection){.fd = -1};
  return 0;
}

int uwb_start(uwb_client *client, const char *profile, const char *chip) {
  if (!*client->path) return -1;
  client->failed = false;
  struct text call = {0};
  append_text(&call, "{\"method\":\"" INTERFACE ".Start\",\"parameters\":{\"profile_text\":");
  append_string(&call, profile);
  if (chip) {
    append_text(&call, ",\"chip\":");
    append_string(&call, chip);
  }
  append_text(&call, "}}");
  struct session *session = call.failed ? NULL : malloc(sizeof *session + call.count + 1);
  if (session) {
    *session = (struct session){.connection.fd = -1};
    memcpy(session->call, call.bytes, call.count + 1);
  }
  free(call.bytes);
  if (!session) return fail(client, "There is no memory.");
  if (start(client, session)) {
    free(session);
    return -1;
  }
  struct session **last = &client->sessions;
  while (*last) last = &(*last)->next;
  *last = session;
  return 0;
}

static int listen_again(uwb_client *client) {
  if (open_connection(client, &client->listening)) return -1;
  if (!send_call(client, &client->listening, client->monitor.bytes)) return 0;
  close_connection(&client->listening);
  return -1;
}

int uwb_monitor(
    uwb_client *client, const char *chip, const char *peer, uwb_measured *body, void *context) {
  if (!*client->path) return -1;
  client->failed = false;
  if (client->monitor.count) return fail(client, "The client listens already.");
  client->body = body;
  client->context = context;
  struct text *call = &client->monitor;
  append_text(call, "{\"method\":\"" INTERFACE ".Monitor\",\"more\":true,\"parameters\":{");
  for (int index = 0; index < 2; index++) {
    const char *value = index ? peer : chip;
    if (!value) continue;
    append_text(call, index && chip ? ",\"peer\":" : index ? "\"peer\":" : "\"chip\":");
    append_string(call, value);
  }
  append_text(call, "}}");
  if (call->failed) fail(client, "There is no memory.");
  if (!call->failed && !listen_again(client)) return 0;
  // The function may be called again.
  free(call->bytes);
  *call = (struct text){0};
  return -1;
}

/// Connects once, and restores sessions and listener.
static int resume(uwb_client *client) {
  if (!*client->path) return -1;
  client->failed = false;
  disconnect(client);
  if (open_connection(client, &client->idle)) return -1;
  for (struct session *at = client->sessions; at; at = at->next) {
    if (start(client, at)) return -1;
  }
  return client->monitor.count ? listen_again(client) : 0;
}

int uwb_reconnect(uwb_client *client, int seconds) {
  uint64_t end = milliseconds() + (uint64_t)(seconds > 0 ? seconds : 0) * 1000, pause = 100;
  while (resume(client)) {
    uint64_t now = milliseconds();
    if (now >= end) return -1;
    // A random pause between half of the time and all of it.
    client->chance = (client->chance ^ now) * 6364136223846793005u + (uint64_t)getpid();
    uint64_t wait = pause / 2 + (client->chance >> 33) % (pause / 2);
    if (wait > end - now) wait = end - now;
    poll(NULL, 0, (int)wait);
    pause = pause < 1000 ? 2 * pause : 2000;
  }
  return 0;
}

int uwb_fd(const uwb_client *client) { return client->listening.fd; }

static void report(uwb_client *client, const char *reply) {
  char peer[32], status[64];
  const char *parameters = member(reply, "parameters");
  const char *object = member(parameters, "measurement");
  const char *nlos = member(object, "nlos");
  struct uwb_measurement measurement = {
      .size = sizeof measurement,
      .monotonic_us = integer(parameters, "monotonic_us"),
      .utc_us = integer(parameters, "utc_us"),
      .lost = integer(parameters, "lost"),
      .session_id = (uint32_t)integer(parameters, "session_id"),
      .sequence = (uint32_t)integer(object, "sequence"),
      .peer = string(object, "peer", peer, sizeof peer),
      .status = string(object, "status", status, sizeof status),
      .distance_m = number(client, object, "estimate_m"),
      .distance_sd_m = number(client, object, "estimate_sd_m"),
      .velocity_m_s = number(client, object, "velocity_m_s"),
      .azimuth_deg = number(client, object, "azimuth_deg"),
      .elevation_deg = number(client, object, "elevation_deg"),
      .rssi_dbm = number(client, object, "rssi_dbm"),
      .nlos = nlos ? *nlos == 't' : -1,
      .json = reply,
  };
  client->body(&measurement, client->context);
}

int uwb_dispatch(uwb_client *client) {
  if (client->listening.fd < 0) return fail(client, "The client does not listen.");
  client->failed = false;
  int found = 0;
  const char *reply;
  while ((reply = next_message(client, &client->listening))) {
    if (is_error(client, reply)) return -1;
    report(client, reply);
    found++;
  }
  return client->failed ? -1 : found;
}
