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
  longest = 16 << 20,
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

static void clear(struct text *text) {
  free(text->bytes);
  *text = (struct text){0};
}

struct connection {
  int fd;
  // Bytes up to `taken` are consumed.
  struct text input;
  size_t taken;
};

// A session of the client: its connection, and the call that starts it again, without its end:
// `share` follows, which may change.
struct held {
  struct held *next;
  struct connection connection;
  uint32_t session_id;
  // The number of the start in this client.
  uint64_t number;
  char *chip;
  struct text call;
  enum uwb_share share;
};

// A session of which a measurement was received.
struct seen {
  struct seen *next;
  uint32_t session_id;
  // The next measurement follows an interruption of the service.
  bool interrupted;
  char chip[];
};

// Memory that lasts until the next list or description.
struct block {
  struct block *next;
  max_align_t bytes[];
};

struct uwb_client {
  // The first connection has no session. It is closed when a reply on it is no longer awaited.
  struct connection idle, listening;
  // The sessions, in the order of their starts.
  struct held *held;
  struct seen *seen;
  struct block *kept;
  // The time-out of a call in milliseconds, and the end of the present one.
  int patience;
  uint64_t end;
  char path[sizeof((struct sockaddr_un *)0)->sun_path];
  uwb_received *body;
  void *context;
  // The call of the listener, without its end if it watches: the last change follows.
  struct text listen;
  bool watches;
  // The starts until now, and when it began to listen: the end of an earlier session does not
  // concern a later one.
  uint64_t starts, heard_starts;
  // The last change.
  char run[64];
  uint64_t sequence;
  // From the loss of the service to the next event. Until then, the time for which to try again; 0:
  // uwb_reconnect was not called.
  bool interrupted;
  uint64_t until;
  bool is_dispatching, is_closed;
  // Numbers have a decimal point, whatever the locale of the program.
  locale_t plain;
  // Seed for random pauses, which differ between programs.
  uint64_t chance;
  enum uwb_code code;
  char error[1024];
  // The error of the service.
  struct text error_json;
};

__attribute__((format(printf, 3, 4))) static int fail(
    uwb_client *client, enum uwb_code code, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(client->error, sizeof client->error, format, list);
  va_end(list);
  client->code = code;
  return -1;
}

static int no_memory(uwb_client *client) {
  return fail(client, UWB_NO_MEMORY, "There is no memory.");
}

static uint64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/// Begins a call: without an error, and with all of its time.
static void begin(uwb_client *client) {
  client->code = UWB_OK;
  client->error_json.count = 0;
  client->end = milliseconds() + (uint64_t)client->patience;
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

/// Returns the first element of an array; NULL: there is none.
static const char *first(const char *array) {
  if (!array || *array != '[') return NULL;
  array = skip_blanks(array + 1);
  return *array == ']' ? NULL : array;
}

/// Returns the element after this one.
static const char *following(const char *element) {
  const char *at = skip_blanks(skip_value(element, 0));
  return *at == ',' ? skip_blanks(at + 1) : NULL;
}

static size_t count_elements(const char *array) {
  size_t count = 0;
  for (const char *at = first(array); at; at = following(at)) count++;
  return count;
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

static int64_t integer_or(const char *object, const char *name, int64_t other) {
  const char *value = member(object, name);
  return value && *value >= '0' && *value <= '9' ? strtoll(value, NULL, 10) : other;
}

/// Returns the value of \uXXXX from its digits on; -1: it is not one.
static long unit(const char *digits) {
  if (strspn(digits, "0123456789abcdefABCDEF") < 4) return -1;
  char four[5] = {0};
  memcpy(four, digits, 4);
  return strtol(four, NULL, 16);
}

/// Decodes an escape after its backslash, moves `at` to its last byte, and returns the end of the
/// character of UTF-8.
static char *unescape(const char **at, char *into) {
  static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
  const char *simple = strchr(from, **at);
  long value = **at == 'u' ? unit(*at + 1) : simple ? to[simple - from] : **at;
  if (**at == 'u' && value >= 0) {
    *at += 4;
    bool is_high = value >= 0xD800 && value < 0xDC00;
    long low = is_high && (*at)[1] == '\\' && (*at)[2] == 'u' ? unit(*at + 3) : -1;
    if (low >= 0xDC00 && low < 0xE000) {
      value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
      *at += 6;
    }
  } else if (**at == 'u' || (unsigned char)**at >= 0x80) {
    // Invalid, and kept.
    *into++ = **at;
    return into;
  }
  // Half a surrogate, and a zero, which would end the text.
  if (value == 0 || (value >= 0xD800 && value < 0xE000)) value = 0xFFFD;
  if (value < 0x80) {
    *into++ = (char)value;
    return into;
  }
  int more = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
  static const int lead[] = {0, 0xC0, 0xE0, 0xF0};
  *into++ = (char)(lead[more] | value >> 6 * more);
  while (more--) *into++ = (char)(0x80 | (value >> 6 * more & 0x3F));
  return into;
}

/// Decodes a string, which takes no more room than its JSON, and moves `into` after its zero.
/// Returns NULL: the value is not a string.
static const char *decoded(char **into, const char *value) {
  if (!value || *value != '"') return NULL;
  char *begin = *into;
  for (const char *at = value + 1; *at != '"'; at++) {
    if (*at != '\\') {
      *(*into)++ = *at;
    } else {
      at++;
      *into = unescape(&at, *into);
    }
  }
  *(*into)++ = 0;
  return begin;
}

static const char *string(char **into, const char *object, const char *name) {
  return decoded(into, member(object, name));
}

/// Copies the JSON of a value.
static const char *copied(char **into, const char *value) {
  size_t length = (size_t)(skip_value(value, 0) - value);
  char *begin = memcpy(*into, value, length);
  begin[length] = 0;
  *into += length + 1;
  return begin;
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

/// Appends a member to parameters that begin with a brace.
static void append_name(struct text *text, const char *name) {
  append_text(text, text->bytes && text->bytes[text->count - 1] == '{' ? "\"" : ",\"");
  append_text(text, name);
  append_text(text, "\":");
}

static void append_string_member(struct text *text, const char *name, const char *value) {
  if (!value) return;
  append_name(text, name);
  append_string(text, value);
}

static void append_number(struct text *text, const char *name, uint64_t value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
  append_name(text, name);
  append_text(text, digits);
}

static void begin_call(struct text *text, const char *method, bool more) {
  append_text(text, "{\"method\":\"");
  append_text(text, method);
  append_text(text, more ? "\",\"more\":true,\"parameters\":{" : "\",\"parameters\":{");
}

// MARK: connections

static void close_connection(struct connection *connection) {
  if (connection->fd >= 0) close(connection->fd);
  clear(&connection->input);
  *connection = (struct connection){.fd = -1};
}

/// Returns whether the service has closed a connection, and all of its messages are read.
static bool is_lost(const struct connection *connection) {
  char byte;
  if (connection->fd < 0) return true;
  ssize_t count = recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
}

/// Returns the milliseconds until the end of the call.
static int left(const uwb_client *client) {
  uint64_t now = milliseconds();
  return now < client->end ? (int)(client->end - now) : 0;
}

/// Waits for a connection. `late`: the error after the end of the call.
static int wait_for(uwb_client *client, int fd, short events, const char *late) {
  for (;;) {
    struct pollfd polled = {.fd = fd, .events = events};
    int time = left(client), count = poll(&polled, 1, time);
    if (count > 0) return 0;
    if (count == 0 || time == 0 || errno != EINTR) {
      return fail(client, UWB_TIMED_OUT, "The service %s. Try again later.", late);
    }
  }
}

static int cannot_connect(uwb_client *client, int error) {
  if (error == EAGAIN || error == EINTR) {
    return fail(
        client, UWB_TIMED_OUT,
        "The service at %s has not accepted a connection in time. Try again later.", client->path);
  }
  if (error == EACCES || error == EPERM) {
    return fail(
        client, UWB_DENIED, "This user may not connect to %s: %s. Ask to be added to its group.",
        client->path, strerror(error));
  }
  return fail(
      client, UWB_DISCONNECTED, "Cannot connect to %s: %s. Start uwbd, or name its socket.",
      client->path, strerror(error));
}

static int open_connection(uwb_client *client, struct connection *connection) {
  if (!*client->path) {
    return fail(client, UWB_INVALID_ARGUMENT, "The path of the service is empty or too long.");
  }
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, client->path, sizeof client->path);
  connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection->fd < 0) {
    return fail(client, UWB_DISCONNECTED, "No socket can be made: %s.", strerror(errno));
  }
  int result, time;
  do {
    // The time-out for a place in the service's queue. Zero would mean none.
    time = left(client);
    struct timeval limit = {time / 1000, time ? time % 1000 * 1000 : 1};
    setsockopt(connection->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    result = connect(connection->fd, (struct sockaddr *)&address, sizeof address);
  } while (result && errno == EINTR && time);
  if (!result) return 0;
  int error = errno;
  close_connection(connection);
  return cannot_connect(client, error);
}

/// Sends a call with its final zero.
static int send_call(uwb_client *client, struct connection *connection, const char *call) {
  size_t sent = 0, length = strlen(call) + 1;
  while (sent < length) {
    ssize_t count =
        send(connection->fd, call + sent, length - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += (size_t)count;
    } else if (errno == EAGAIN) {
      if (wait_for(client, connection->fd, POLLOUT, "has not received a call in time")) return -1;
    } else if (errno != EINTR) {
      // The service may have refused the connection before: the reply has the reason.
      return 0;
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
      if (*message == '{' && stop && !*skip_blanks(stop)) return message;
      fail(client, UWB_INVALID_REPLY, "The service sent invalid JSON.");
      return NULL;
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
      fail(client, UWB_DISCONNECTED, "The service has closed the connection.");
      return NULL;
    }
    append(input, bytes, (size_t)count);
    if (input->failed) {
      no_memory(client);
      return NULL;
    }
    if (input->count > longest) {
      fail(client, UWB_INVALID_REPLY, "A message of the service is too long.");
      return NULL;
    }
  }
}

/// Returns the code of an error by its name in the interface.
static enum uwb_code code_of(const char *name) {
  static const struct {
    const char *name;
    enum uwb_code code;
  } codes[] = {
      {INTERFACE ".NoChip", UWB_NO_CHIP},
      {INTERFACE ".ChipUnavailable", UWB_CHIP_UNAVAILABLE},
      {INTERFACE ".Busy", UWB_BUSY},
      {INTERFACE ".InvalidProfile", UWB_INVALID_PROFILE},
      {INTERFACE ".Conflict", UWB_CONFLICT},
      {INTERFACE ".Denied", UWB_DENIED},
      {INTERFACE ".Refused", UWB_REFUSED},
      {INTERFACE ".NoSession", UWB_NO_SESSION},
      {INTERFACE ".SessionEnded", UWB_SESSION_ENDED},
      {INTERFACE ".LimitReached", UWB_LIMIT_REACHED},
      {"org.varlink.service.InvalidParameter", UWB_INVALID_ARGUMENT},
      {"org.varlink.service.MethodNotFound", UWB_NOT_SUPPORTED},
      {"org.varlink.service.MethodNotImplemented", UWB_NOT_SUPPORTED},
  };
  for (size_t index = 0; index < sizeof codes / sizeof *codes; index++) {
    if (!strcmp(name, codes[index].name)) return codes[index].code;
  }
  return UWB_OTHER_ERROR;
}

/// Appends the values in which a session differs from the one that is there.
static void append_differences(struct text *text, const char *parameters, char *room) {
  const char *differences = member(parameters, "differences");
  for (const char *at = first(differences); at; at = following(at)) {
    static const char *const parts[][2] = {
        {"parameter", ""}, {"present", " is "}, {"wanted", ", not "}};
    append_text(text, at == first(differences) ? " with other parameters: " : "; ");
    for (size_t index = 0; index < sizeof parts / sizeof *parts; index++) {
      char *into = room;
      const char *value = string(&into, at, parts[index][0]);
      append_text(text, parts[index][1]);
      append_text(text, value ? value : "unset");
    }
  }
}

/// Appends a sentence about an error that comes without a sentence.
static void summarize(
    struct text *text, enum uwb_code code, const char *name, const char *parameters, char *room) {
  char *into = room;
  if (code == UWB_CONFLICT) {
    char number[48];
    snprintf(
        number, sizeof number, "Session %lld is there",
        (long long)integer_or(parameters, "session_id", 0));
    append_text(text, number);
    append_differences(text, parameters, room);
    append_text(text, ".");
  } else if (code == UWB_NOT_SUPPORTED) {
    append_text(text, "The service is older, and does not support this call.");
  } else if (code == UWB_INVALID_ARGUMENT) {
    const char *parameter = string(&into, parameters, "parameter");
    append_text(text, "The service does not accept the parameter ");
    append_text(text, parameter ? parameter : "of this call");
    append_text(text, ": its value is out of range, or the service is older.");
  } else {
    const char *dot = strrchr(name, '.');
    append_text(text, dot ? dot + 1 : name);
  }
}

/// Returns whether a reply is an error, and keeps the error.
static bool is_error(uwb_client *client, const char *reply) {
  if (!member(reply, "error")) return false;
  size_t length = strlen(reply);
  char *room = malloc(2 * length + 2), *into = room;
  struct text text = {0};
  client->error_json.count = 0;
  append(&client->error_json, reply, length);
  if (!room) {
    no_memory(client);
    return true;
  }
  const char *parameters = member(reply, "parameters");
  const char *name = string(&into, reply, "error");
  const char *reason = string(&into, parameters, "reason");
  const char *advice = string(&into, parameters, "advice");
  enum uwb_code code = code_of(name ? name : "");
  if (reason) {
    append_text(&text, reason);
  } else {
    summarize(&text, code, name ? name : "", parameters, into);
  }
  if (advice) append_text(&text, " ");
  if (advice) append_text(&text, advice);
  fail(client, code, "%s", text.bytes && *text.bytes ? text.bytes : "The service reports an error.");
  clear(&text);
  free(room);
  return true;
}

/// Returns whether a service that was restarted may lack a chip or a session for a short time.
static bool is_not_yet(enum uwb_code code) {
  return code == UWB_DISCONNECTED || code == UWB_TIMED_OUT || code == UWB_NO_CHIP ||
         code == UWB_CHIP_UNAVAILABLE || code == UWB_BUSY || code == UWB_NO_SESSION ||
         code == UWB_LIMIT_REACHED;
}

/// Returns the reply to a call on a connection; NULL: there is none. The connection is then closed,
/// because the next call would receive the late reply.
static const char *reply_on(uwb_client *client, struct connection *connection, const char *call) {
  const char *reply = NULL;
  if (!send_call(client, connection, call)) {
    while (!(reply = next_message(client, connection)) && !client->code) {
      wait_for(client, connection->fd, POLLIN, "does not answer");
    }
  }
  if (!reply) close_connection(connection);
  return reply;
}

/// Returns the reply to a call without a session, unless it is an error.
static const char *reply_to(uwb_client *client, struct text *call) {
  struct connection *idle = &client->idle;
  append_text(call, "}}");
  const char *reply = NULL;
  if (call->failed) {
    no_memory(client);
  } else {
    // The service may have been restarted.
    if (idle->fd >= 0 && is_lost(idle)) close_connection(idle);
    if (idle->fd >= 0 || !open_connection(client, idle)) reply = reply_on(client, idle, call->bytes);
    if (reply && is_error(client, reply)) reply = NULL;
  }
  clear(call);
  return reply;
}

// MARK: connecting

const char *uwb_version(void) { return UWB_VERSION; }

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
  if (strlen(path) < sizeof client->path) strcpy(client->path, path);
  begin(client);
  open_connection(client, &client->idle);
  return client;
}

static void free_held(struct held *held) {
  close_connection(&held->connection);
  clear(&held->call);
  free(held->chip);
  free(held);
}

/// Removes a session from the list.
static void free_at(struct held **at) {
  struct held *held = *at;
  *at = held->next;
  free_held(held);
}

static bool is_session(const struct held *held, const char *chip, uint32_t session_id) {
  return held->session_id == session_id && (!chip || !held->chip || !strcmp(chip, held->chip));
}

/// Removes the sessions with an ID of the first starts. chip: NULL: of each chip.
static void release(uwb_client *client, const char *chip, uint32_t session_id, uint64_t starts) {
  for (struct held **at = &client->held; *at;) {
    if ((*at)->number <= starts && is_session(*at, chip, session_id)) {
      free_at(at);
    } else {
      at = &(*at)->next;
    }
  }
}

static void forget(uwb_client *client) {
  while (client->kept) {
    struct block *next = client->kept->next;
    free(client->kept);
    client->kept = next;
  }
}

/// Closes the connections, which ends the sessions. The client stays while uwb_dispatch uses it.
void uwb_close(uwb_client *client) {
  if (!client) return;
  client->is_closed = true;
  close_connection(&client->idle);
  close_connection(&client->listening);
  while (client->held) {
    struct held *next = client->held->next;
    free_held(client->held);
    client->held = next;
  }
  if (client->is_dispatching) return;
  while (client->seen) {
    struct seen *next = client->seen->next;
    free(client->seen);
    client->seen = next;
  }
  forget(client);
  clear(&client->listen);
  clear(&client->error_json);
  freelocale(client->plain);
  free(client);
}

void uwb_set_timeout(uwb_client *client, int milliseconds) {
  client->patience = milliseconds > 0 ? milliseconds : 1;
}

const char *uwb_last_error(const uwb_client *client) {
  return client->code ? client->error : NULL;
}

enum uwb_code uwb_last_code(const uwb_client *client) { return client->code; }

const char *uwb_last_error_json(const uwb_client *client) {
  return client->code && client->error_json.count ? client->error_json.bytes : NULL;
}

/// Copies the options of a program, which may have been built with another version.
static int take_options(uwb_client *client, void *into, size_t size, const void *options) {
  size_t given = size;
  if (options) memcpy(&given, options, sizeof given);
  if (given < sizeof given) {
    return fail(client, UWB_INVALID_ARGUMENT, "The size of the options is not set.");
  }
  if (options) memcpy(into, options, given < size ? given : size);
  return 0;
}

// MARK: chips

static void *keep(uwb_client *client, size_t count, size_t size) {
  struct block *block = calloc(1, sizeof *block + (count ? count : 1) * size);
  if (!block) {
    no_memory(client);
    return NULL;
  }
  block->next = client->kept;
  client->kept = block;
  return block->bytes;
}

/// Makes room for all strings of a reply, and for copies of its objects. Forgets the last reply.
static char *keep_strings(uwb_client *client, const char *reply) {
  forget(client);
  return reply ? keep(client, 2 * strlen(reply) + 2, 1) : NULL;
}

static const char *const *features(uwb_client *client, const char *array, char **into) {
  const char **names = keep(client, count_elements(array) + 1, sizeof *names);
  size_t count = 0;
  for (const char *at = first(array); names && at; at = following(at)) {
    if (*at == '"') names[count++] = decoded(into, at);
  }
  return names;
}

const struct uwb_service *uwb_service_info(uwb_client *client) {
  begin(client);
  struct text call = {0};
  begin_call(&call, INTERFACE ".GetService", false);
  const char *reply = reply_to(client, &call);
  if (client->code == UWB_NOT_SUPPORTED) {
    begin(client);
    begin_call(&call, "org.varlink.service.GetInfo", false);
    reply = reply_to(client, &call);
  }
  char *into = keep_strings(client, reply);
  struct uwb_service *service = into ? keep(client, 1, sizeof *service) : NULL;
  if (!service) return NULL;
  const char *parameters = member(reply, "parameters");
  *service = (struct uwb_service){
      .size = sizeof *service,
      .version = string(&into, parameters, "version"),
      .protocol = (uint32_t)integer_or(parameters, "protocol", 1),
      .run = string(&into, parameters, "run"),
      .host = string(&into, parameters, "host"),
  };
  service->features = features(client, member(parameters, "features"), &into);
  return service->features ? service : NULL;
}

static struct uwb_counters counters(const char *object) {
  const char *counters = member(object, "counters");
  return (struct uwb_counters){
      integer(counters, "measured"), integer(counters, "failed"), integer(counters, "missing")};
}

static struct uwb_user user(const char *value) {
  return (struct uwb_user){integer_or(value, "uid", -1), integer_or(value, "pid", -1)};
}

static bool is_string(const char *object, const char *name, const char *wanted) {
  const char *value = member(object, name);
  size_t length = strlen(wanted);
  return value && *value == '"' && !strncmp(value + 1, wanted, length) && value[length + 1] == '"';
}

static const struct uwb_session *read_session(
    uwb_client *client, const char *object, const char *chip, char **into) {
  const char *owners = member(object, "owners");
  struct uwb_session *session = keep(client, 1, sizeof *session);
  struct uwb_user *users = session ? keep(client, count_elements(owners), sizeof *users) : NULL;
  if (!users) return NULL;
  *session = (struct uwb_session){
      .size = sizeof *session,
      .chip = chip,
      .session_id = (uint32_t)integer(object, "session_id"),
      .share = is_string(object, "share", "everyone") ? UWB_SHARE_EVERYONE : UWB_SHARE_USER,
      .state = string(into, object, "state"),
      .owners = users,
      .address = string(into, object, "address"),
      .counters = counters(object),
  };
  for (const char *at = first(owners); at; at = following(at)) {
    users[session->owner_count++] = user(at);
  }
  return session;
}

static const struct uwb_chip *read_chip(uwb_client *client, const char *object, char **into) {
  const char *array = member(object, "sessions");
  struct uwb_chip *chip = keep(client, 1, sizeof *chip);
  const struct uwb_session **sessions =
      chip ? keep(client, count_elements(array) + 1, sizeof *sessions) : NULL;
  if (!sessions) return NULL;
  *chip = (struct uwb_chip){
      .size = sizeof *chip,
      .chip = string(into, object, "chip"),
      .problem = string(into, object, "problem"),
      .borrowed = string(into, member(object, "borrower"), "reason"),
      .device = string(into, object, "device"),
      .serial = string(into, object, "serial"),
      .model = string(into, object, "model"),
      .sessions = sessions,
      .json = copied(into, object),
  };
  size_t count = 0;
  for (const char *at = first(array); at; at = following(at)) {
    if (!(sessions[count++] = read_session(client, at, chip->chip, into))) return NULL;
  }
  return chip;
}

const struct uwb_chip *const *uwb_list(uwb_client *client) {
  begin(client);
  struct text call = {0};
  begin_call(&call, INTERFACE ".List", false);
  const char *reply = reply_to(client, &call);
  char *into = keep_strings(client, reply);
  if (!into) return NULL;
  const char *array = member(member(reply, "parameters"), "chips");
  const struct uwb_chip **chips = keep(client, count_elements(array) + 1, sizeof *chips);
  size_t count = 0;
  for (const char *at = first(array); chips && at; at = following(at)) {
    if (!(chips[count++] = read_chip(client, at, &into))) return NULL;
  }
  return chips;
}

const struct uwb_info *uwb_describe(uwb_client *client, const char *chip) {
  begin(client);
  struct text call = {0};
  begin_call(&call, INTERFACE ".Describe", false);
  append_string_member(&call, "chip", chip);
  const char *reply = reply_to(client, &call);
  char *into = keep_strings(client, reply);
  const char *parameters = member(reply, "parameters"), *object = member(parameters, "info");
  const char *array = member(object, "channels");
  struct uwb_info *info = into ? keep(client, 1, sizeof *info) : NULL;
  int32_t *channels = info ? keep(client, count_elements(array), sizeof *channels) : NULL;
  if (!channels) return NULL;
  *info = (struct uwb_info){
      .size = sizeof *info,
      .chip = string(&into, parameters, "chip"),
      .device = string(&into, object, "device"),
      .family = string(&into, object, "family"),
      .uci = string(&into, object, "uci"),
      .mac = string(&into, object, "mac"),
      .phy = string(&into, object, "phy"),
      .test = string(&into, object, "test"),
      .vendor_info = string(&into, object, "vendor_info"),
      .channels = channels,
      .json = object ? copied(&into, object) : NULL,
  };
  for (const char *at = first(array); at; at = following(at)) {
    channels[info->channel_count++] = (int32_t)strtol(at, NULL, 10);
  }
  return info;
}

// MARK: sessions

static struct text start_call(
    const char *profile, const struct uwb_start_options *options, const char *chip) {
  struct text call = {0};
  begin_call(&call, INTERFACE ".Start", false);
  append_string_member(&call, "profile_text", profile);
  if (options->session_id) append_number(&call, "session_id", *options->session_id);
  append_string_member(&call, "peer", options->peer);
  append_string_member(&call, "chip", chip);
  if (options->linger_ms) append_number(&call, "linger_ms", options->linger_ms);
  return call;
}

static void append_share(struct text *call, enum uwb_share share) {
  append_string_member(call, "share", share == UWB_SHARE_USER ? "user" : "everyone");
}

/// Gives the connection of a successful start to its session, which then is the last one.
static void hold(uwb_client *client, struct held *session, bool joined) {
  // A new session: it has ended since the starts before, which do not begin again.
  if (!joined) release(client, session->chip, session->session_id, client->starts);
  session->number = ++client->starts;
  session->connection = client->idle;
  client->idle = (struct connection){.fd = -1};
  struct held **last = &client->held;
  while (*last) last = &(*last)->next;
  *last = session;
}

int uwb_start(
    uwb_client *client, const char *profile, const struct uwb_start_options *given,
    struct uwb_started *started) {
  begin(client);
  struct uwb_start_options options = {.size = sizeof options};
  if (take_options(client, &options, sizeof options, given)) return -1;
  struct text call = start_call(profile, &options, options.chip);
  if (options.share) append_share(&call, options.share);
  const char *reply = reply_to(client, &call), *parameters = member(reply, "parameters");
  if (!reply) return -1;
  struct held *held = calloc(1, sizeof *held);
  size_t length = strlen(reply);
  char *into = held ? held->chip = malloc(length + 1) : NULL;
  if (into && !string(&into, parameters, "chip")) {
    free(held->chip);
    held->chip = NULL;
  }
  // The same chip, even if there are more chips later.
  if (held) held->call = start_call(profile, &options, held->chip ? held->chip : options.chip);
  if (held) held->share = options.share;
  if (!into || held->call.failed) {
    // The session ends with its connection.
    close_connection(&client->idle);
    if (held) held->connection.fd = -1;
    if (held) free_held(held);
    return no_memory(client);
  }
  held->session_id = (uint32_t)integer(parameters, "session_id");
  const char *joined = member(parameters, "joined");
  struct uwb_started found = {
      sizeof found, held->session_id, joined && *joined == 't', held->chip};
  if (started) {
    size_t size = started->size < sizeof found ? started->size : sizeof found;
    found.size = size;
    memcpy(started, &found, size);
  }
  hold(client, held, found.joined);
  return 0;
}

static struct text session_call(const char *method, const char *chip, uint32_t session_id) {
  struct text call = {0};
  begin_call(&call, method, false);
  append_number(&call, "session_id", session_id);
  append_string_member(&call, "chip", chip);
  return call;
}

int uwb_stop(uwb_client *client, const char *chip, uint32_t session_id) {
  begin(client);
  // The last start that is not stopped yet.
  struct held **last = NULL;
  for (struct held **at = &client->held; *at; at = &(*at)->next) {
    if (is_session(*at, chip, session_id)) last = at;
  }
  struct held *held = last ? *last : NULL;
  // The service has to know the chip, if there are several.
  const char *name = held && held->chip ? held->chip : chip;
  struct text call = session_call(INTERFACE ".Stop", name, session_id);
  // The error of the service names the cause why the client does not hold the session.
  if (!held) return reply_to(client, &call) ? 0 : -1;
  append_text(&call, "}}");
  const char *reply =
      call.failed ? NULL : reply_on(client, &held->connection, call.bytes);
  if (call.failed) no_memory(client);
  int result = reply && !is_error(client, reply) ? 0 : -1;
  clear(&call);
  free_at(last);
  return result;
}

int uwb_set_share(
    uwb_client *client, const char *chip, uint32_t session_id, enum uwb_share share) {
  begin(client);
  struct text call = session_call(INTERFACE ".SetShare", chip, session_id);
  append_share(&call, share);
  if (!reply_to(client, &call)) return -1;
  // The session has the same users at the next service.
  for (struct held *at = client->held; at; at = at->next) {
    if (is_session(at, chip, session_id)) at->share = share;
  }
  return 0;
}

int uwb_end(uwb_client *client, const char *chip, uint32_t session_id) {
  begin(client);
  struct text call = session_call(INTERFACE ".End", chip, session_id);
  if (!reply_to(client, &call)) return -1;
  release(client, chip, session_id, client->starts);
  return 0;
}

// MARK: listening

static int listen_again(uwb_client *client) {
  struct text call = {0};
  append(&call, client->listen.bytes, client->listen.count);
  if (client->watches && *client->run) {
    append_string_member(&call, "run", client->run);
    append_number(&call, "after", client->sequence);
  }
  append_text(&call, "}}");
  close_connection(&client->listening);
  int result = call.failed ? no_memory(client) : open_connection(client, &client->listening);
  if (!result && (result = send_call(client, &client->listening, call.bytes))) {
    close_connection(&client->listening);
  }
  clear(&call);
  return result;
}

/// Ends the listener of the client, and begins another one by its call.
static int replace_listener(
    uwb_client *client, struct text *call, bool watches, uwb_received *body, void *context) {
  close_connection(&client->listening);
  clear(&client->listen);
  client->watches = watches;
  client->body = body;
  client->context = context;
  client->heard_starts = client->starts;
  client->interrupted = false;
  client->until = 0;
  if (!body) {
    clear(call);
    return 0;
  }
  client->listen = *call;
  if (!listen_again(client)) return 0;
  clear(&client->listen);
  return -1;
}

static void append_peers(struct text *call, const char *const *peers) {
  if (!peers || !*peers) return;
  if (!peers[1]) {
    append_string_member(call, "peer", *peers);
    return;
  }
  append_name(call, "peers");
  for (size_t index = 0; peers[index]; index++) {
    append_text(call, index ? "," : "[");
    append_string(call, peers[index]);
  }
  append_text(call, "]");
}

int uwb_monitor(
    uwb_client *client, const struct uwb_monitor_options *given, uwb_received *body,
    void *context) {
  begin(client);
  struct uwb_monitor_options options = {.size = sizeof options};
  if (take_options(client, &options, sizeof options, given)) return -1;
  struct text call = {0};
  // Older services reject parameters that they do not support: only parameters that are set
  // are sent.
  begin_call(&call, INTERFACE ".Monitor", true);
  append_string_member(&call, "chip", options.chip);
  if (options.session_id) append_number(&call, "session_id", *options.session_id);
  append_peers(&call, options.peers);
  if (options.newest_only) append_string_member(&call, "keep", "newest");
  if (options.queue) append_number(&call, "queue", options.queue);
  if (options.every_ms) append_number(&call, "every_ms", options.every_ms);
  if (options.peer_ms) append_number(&call, "peer_ms", options.peer_ms);
  static const char *const names[] = {"identity", "events"};
  for (int index = 0; index < 2; index++) {
    if (!(index ? options.changes : options.identity)) continue;
    append_name(&call, names[index]);
    append_text(&call, "true");
  }
  return replace_listener(client, &call, false, body, context);
}

int uwb_watch(
    uwb_client *client, const struct uwb_watch_options *given, uwb_received *body, void *context) {
  begin(client);
  struct uwb_watch_options options = {.size = sizeof options};
  if (take_options(client, &options, sizeof options, given)) return -1;
  struct text call = {0};
  begin_call(&call, INTERFACE ".Watch", true);
  if (options.counters_ms) append_number(&call, "counters_ms", options.counters_ms);
  snprintf(client->run, sizeof client->run, "%s", options.run ? options.run : "");
  client->sequence = options.after;
  return replace_listener(client, &call, true, body, context);
}

/// Starts a session at the next service.
static int start_again(uwb_client *client, struct held *held) {
  struct text call = {0};
  append(&call, held->call.bytes, held->call.count);
  if (held->share) append_share(&call, held->share);
  // The connection without a session becomes the session's.
  if (!reply_to(client, &call)) return -1;
  close_connection(&held->connection);
  held->connection = client->idle;
  client->idle = (struct connection){.fd = -1};
  return 0;
}

/// Connects once, and restores the sessions and the listener that were lost.
static int resume(uwb_client *client) {
  begin(client);
  struct text call = {0};
  // The service that replies is the next one: the one before has then closed all connections.
  begin_call(&call, "org.varlink.service.GetInfo", false);
  if (!reply_to(client, &call)) return -1;
  for (struct held *at = client->held; at; at = at->next) {
    if (is_lost(&at->connection) && start_again(client, at)) return -1;
  }
  return client->listen.count && is_lost(&client->listening) ? listen_again(client) : 0;
}

/// Waits for a random time between half of the pause and all of it, until the end at most.
static void wait_randomly(uwb_client *client, uint64_t pause, uint64_t end) {
  uint64_t now = milliseconds();
  client->chance = (client->chance ^ now) * 6364136223846793005u + (uint64_t)getpid();
  uint64_t wait = pause / 2 + (client->chance >> 33) % (pause / 2);
  if (now < end) poll(NULL, 0, (int)(wait < end - now ? wait : end - now));
}

int uwb_reconnect(uwb_client *client, int seconds) {
  uint64_t end = milliseconds() + (uint64_t)(seconds > 0 ? seconds : 0) * 1000, pause = 100;
  // Another call without an event since the last one is part of the same attempt.
  if (client->until) {
    end = client->until;
    wait_randomly(client, pause, end);
  }
  client->until = end;
  while (resume(client)) {
    if (!is_not_yet(client->code) || milliseconds() >= end) {
      client->until = 0;
      return -1;
    }
    wait_randomly(client, pause, end);
    pause = pause < 1000 ? 2 * pause : 2000;
  }
  return 0;
}

int uwb_fd(const uwb_client *client) { return client->listening.fd; }

// MARK: events

static void interrupt(uwb_client *client, const struct uwb_interruption *interruption) {
  client->body(
      &(struct uwb_event){.size = sizeof(struct uwb_event), .interruption = interruption},
      client->context);
}

/// Notes a session, and returns whether this measurement follows an interruption of the service.
static bool note(uwb_client *client, const char *chip, uint32_t session_id) {
  for (struct seen *at = client->seen; at; at = at->next) {
    if (at->session_id != session_id || strcmp(at->chip, chip)) continue;
    bool interrupted = at->interrupted;
    at->interrupted = false;
    return interrupted;
  }
  struct seen *seen = malloc(sizeof *seen + strlen(chip) + 1);
  if (!seen) return false;
  *seen = (struct seen){.next = client->seen, .session_id = session_id};
  strcpy(seen->chip, chip);
  client->seen = seen;
  return false;
}

/// Reports a measurement, after the interruption that precedes it. Returns the number of events.
static int report_measurement(
    uwb_client *client, const char *reply, const char *parameters, char *into) {
  const char *object = member(parameters, "measurement");
  const char *identity = member(parameters, "identity");
  const char *nlos = member(object, "nlos"), *after = member(object, "after_interruption");
  struct uwb_measurement measurement = {
      .size = sizeof measurement,
      .chip = string(&into, parameters, "chip"),
      .monotonic_us = integer(parameters, "monotonic_us"),
      .utc_us = integer(parameters, "utc_us"),
      .lost = integer(parameters, "lost"),
      .session_id = (uint32_t)integer(parameters, "session_id"),
      .sequence = (uint32_t)integer(object, "sequence"),
      .peer = string(&into, object, "peer"),
      .status = string(&into, object, "status"),
      .distance_m = number(client, object, "estimate_m"),
      .distance_sd_m = number(client, object, "estimate_sd_m"),
      .velocity_m_s = number(client, object, "velocity_m_s"),
      .azimuth_deg = number(client, object, "azimuth_deg"),
      .elevation_deg = number(client, object, "elevation_deg"),
      .rssi_dbm = number(client, object, "rssi_dbm"),
      .nlos = nlos ? *nlos == 't' : -1,
      .after_interruption = after && *after == 't',
      .run = string(&into, identity, "run"),
      .host = string(&into, identity, "host"),
      .device = string(&into, identity, "device"),
      .serial = string(&into, identity, "serial"),
      .model = string(&into, identity, "model"),
      .address = string(&into, identity, "address"),
      .json = reply,
      .distance_short_sd_m = number(client, object, "estimate_short_sd_m"),
  };
  // A service may leave out unknown values, but not these.
  if (!measurement.chip) measurement.chip = "";
  if (!measurement.peer) measurement.peer = "";
  if (!measurement.status) measurement.status = "";
  int count = 1;
  if (note(client, measurement.chip, measurement.session_id)) {
    measurement.after_interruption = 1;
  } else if (measurement.after_interruption) {
    struct uwb_interruption interruption = {
        sizeof interruption, UWB_CAUSE_CHIP, "The chip was lost and found.", measurement.chip,
        measurement.session_id};
    interrupt(client, &interruption);
    if (client->is_closed || client->listening.fd < 0) return 1;
    count = 2;
  }
  client->body(
      &(struct uwb_event){.size = sizeof(struct uwb_event), .measurement = &measurement},
      client->context);
  return count;
}

static int report_change(uwb_client *client, const char *reply, const char *parameters, char *into) {
  const char *object = member(parameters, "event");
  struct uwb_change change = {
      .size = sizeof change,
      .run = string(&into, parameters, "run"),
      .sequence = integer(object, "sequence"),
      .monotonic_us = integer(object, "monotonic_us"),
      .utc_us = integer(object, "utc_us"),
      .lost = integer(parameters, "lost"),
      .kind = string(&into, object, "kind"),
      .chip = string(&into, object, "chip"),
      .session_id = integer_or(object, "session_id", -1),
      .user = user(member(object, "user")),
      .reason = string(&into, object, "reason"),
      .counters = counters(object),
      .json = reply,
  };
  if (!change.kind) change.kind = "";
  if (client->watches && change.run) {
    snprintf(client->run, sizeof client->run, "%s", change.run);
    client->sequence = change.sequence;
  }
  client->body(
      &(struct uwb_event){.size = sizeof(struct uwb_event), .change = &change}, client->context);
  return 1;
}

/// Reports the loss of the service, once until it is back. Returns whether the client is lost.
static bool lose(uwb_client *client) {
  char reason[sizeof client->error];
  memcpy(reason, client->error, sizeof reason);
  if (!client->interrupted || milliseconds() >= client->until) {
    client->interrupted = true;
    client->until = 0;
    for (struct seen *at = client->seen; at; at = at->next) at->interrupted = true;
    interrupt(
        client, &(struct uwb_interruption){
                    .size = sizeof(struct uwb_interruption),
                    .cause = UWB_CAUSE_SERVICE,
                    .reason = reason,
                });
  }
  if (client->is_closed || client->listening.fd >= 0) return false;
  fail(client, UWB_DISCONNECTED, "%s", reason);
  return true;
}

/// Ends listening after an error. Returns whether the caller is to report it.
static bool end_listening(uwb_client *client) {
  char *reply = client->error_json.count ? client->error_json.bytes : NULL;
  enum uwb_code code = client->code;
  close_connection(&client->listening);
  if (code == UWB_DISCONNECTED) return lose(client);
  if (is_not_yet(code) && client->interrupted && milliseconds() < client->until) {
    // The service that was restarted does not have the chip or the session yet.
    client->code = UWB_DISCONNECTED;
    return true;
  }
  if (code == UWB_SESSION_ENDED && reply) {
    const char *parameters = member(reply, "parameters");
    char *chip = malloc(strlen(reply) + 1), *into = chip;
    const char *name = chip ? string(&into, parameters, "chip") : NULL;
    // It does not start again with the next service.
    uint32_t session_id = (uint32_t)integer(parameters, "session_id");
    if (name) release(client, name, session_id, client->heard_starts);
    free(chip);
  }
  clear(&client->listen);
  return true;
}

/// Reports the messages that have arrived. Returns the number of events; -1: listening has ended.
static int dispatch(uwb_client *client, struct text *copy) {
  int found = 0;
  while (!client->is_closed && client->listening.fd >= 0) {
    begin(client);
    const char *reply = next_message(client, &client->listening);
    if (!reply && !client->code) return found;
    if (!reply || is_error(client, reply)) return end_listening(client) ? -1 : found;
    // A copy, because `body` may close the connection; and room for the strings.
    size_t length = strlen(reply);
    copy->count = 0;
    append(copy, reply, length + 1);
    append(copy, reply, length + 1);
    if (copy->failed) {
      no_memory(client);
      return end_listening(client) ? -1 : found;
    }
    client->interrupted = false;
    client->until = 0;
    const char *parameters = member(copy->bytes, "parameters");
    char *room = copy->bytes + length + 1;
    found += member(parameters, "event") ? report_change(client, copy->bytes, parameters, room)
                                         : report_measurement(client, copy->bytes, parameters, room);
  }
  return found;
}

int uwb_dispatch(uwb_client *client) {
  begin(client);
  if (client->is_dispatching) {
    return fail(client, UWB_INVALID_ARGUMENT, "uwb_dispatch is called within an event.");
  }
  if (client->listening.fd < 0) {
    return client->listen.count
               ? fail(client, UWB_DISCONNECTED, "The service has disconnected.")
               : fail(client, UWB_INVALID_ARGUMENT, "The client does not listen.");
  }
  struct text copy = {0};
  client->is_dispatching = true;
  int result = dispatch(client, &copy);
  client->is_dispatching = false;
  clear(&copy);
  if (client->is_closed) {
    uwb_close(client);
  } else if (result >= 0) {
    // Not the error of a call that `body` has made.
    begin(client);
  }
  return result;
}
