// SPDX-License-Identifier: Apache-2.0
//
// Distances and angles from UWB chips, through the service uwbd. Plain C11, needs nothing but libc.
// The manual page uwb(3) has an overview.
//
// A client is used by one thread at a time. Text is UTF-8. Functions that return an int return -1
// for an error, which uwb_last_error and uwb_last_code describe.
//
// Each function may be called from the function that uwb_dispatch calls, uwb_close included, but
// not uwb_dispatch itself.
//
// Structures begin with their size. In structures that a program fills in, set it to sizeof; zero
// in the other members means the default. Later versions append members.
#ifndef UWB_H
#define UWB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/// The version of this header.
#define UWB_VERSION "0.1.0"

/// Returns the version of the library.
const char *uwb_version(void);

// MARK: connections and errors

/// A program's connections to the service.
typedef struct uwb_client uwb_client;

/// Kinds of errors. Later versions may append some.
enum uwb_code {
  UWB_OK = 0,
  UWB_NO_MEMORY,
  /// An argument, or a call that is not possible now.
  UWB_INVALID_ARGUMENT,
  /// No service listens, or it has disconnected. uwb_reconnect waits for it.
  UWB_DISCONNECTED,
  UWB_TIMED_OUT,
  /// A message of the service that is not valid.
  UWB_INVALID_REPLY,
  /// The service is older, and does not support the call or an option of it.
  UWB_NOT_SUPPORTED,
  /// An error of the service that this version does not name: uwb_last_error_json has its name.
  UWB_OTHER_ERROR,

  // Errors of the interface org.swift-uwb.Chips.
  UWB_NO_CHIP = 100,
  UWB_CHIP_UNAVAILABLE,
  UWB_BUSY,
  UWB_INVALID_PROFILE,
  UWB_CONFLICT,
  UWB_DENIED,
  UWB_REFUSED,
  UWB_NO_SESSION,
  UWB_SESSION_ENDED,
  /// The service is full, for this user or for all.
  UWB_LIMIT_REACHED
};

/// Connects to the service, in 30 seconds at most.
///
/// path: its socket; NULL: the value of UWBD_SOCKET, or /run/uwbd/control.
/// Returns NULL if memory runs out; otherwise a client, whose uwb_last_error is NULL if it is
/// connected.
uwb_client *uwb_open(const char *path);

/// Ends the connections, and with them the sessions that the client holds. Takes NULL.
void uwb_close(uwb_client *client);

/// Limits the time of each later call, in milliseconds from 1 on. The default is 30,000.
void uwb_set_timeout(uwb_client *client, int milliseconds);

/// Returns the error of the last call and the next step; NULL: the call succeeded. The text of an
/// error is valid until the next call.
const char *uwb_last_error(const uwb_client *client);

/// Returns the kind of the error of the last call; UWB_OK: the call succeeded.
enum uwb_code uwb_last_code(const uwb_client *client);

/// Returns the error of the service as its object of JSON, with the members "error" and
/// "parameters"; NULL: the error is not one of the service. Valid until the next call.
const char *uwb_last_error_json(const uwb_client *client);

// MARK: the service and its chips

/// A user, and the connected process. The system may reuse the process ID.
struct uwb_user {
  int64_t uid, pid;
};

/// The users who may join a session and see its measurements.
enum uwb_share {
  /// Everyone who may connect.
  UWB_SHARE_EVERYONE,
  /// The user who started it, and root.
  UWB_SHARE_USER
};

/// Counts of a session since its start; 0 with a service that does not count.
struct uwb_counters {
  /// Measurements with a value, without one, and rounds of a peer that are missing.
  uint64_t measured, failed, missing;
};

struct uwb_service {
  size_t size;
  const char *version;
  /// The version of the interface, from 1 on.
  uint32_t protocol;
  /// Additions to the interface. Ends with NULL.
  const char *const *features;
  /// A name of this run of the service, and its host; NULL: the service is older.
  const char *run, *host;
};

struct uwb_session {
  size_t size;
  const char *chip;
  uint32_t session_id;
  enum uwb_share share;
  /// starting, ranging, waiting or ending.
  const char *state;
  /// The programs that hold it.
  const struct uwb_user *owners;
  size_t owner_count;
  /// The chip's own address in the session; NULL: not known.
  const char *address;
  struct uwb_counters counters;
};

struct uwb_chip {
  size_t size;
  /// The name of the chip in calls.
  const char *chip;
  /// The reason why the chip cannot be used; NULL while it works.
  const char *problem;
  /// The reason why a program has the chip to itself; NULL: there is none.
  const char *borrowed;
  /// A name that finds the chip wherever it is plugged in, the serial number of the board, and the
  /// family of the chip; NULL: not known.
  const char *device, *serial, *model;
  /// Ends with NULL.
  const struct uwb_session *const *sessions;
  /// The chip as the service sent it.
  const char *json;
};

/// The description that a chip gives of itself, as in `uwbctl info`.
struct uwb_info {
  size_t size;
  const char *chip;
  const char *device, *family, *uci, *mac, *phy, *test, *vendor_info;
  const int32_t *channels;
  size_t channel_count;
  /// The description as the service sent it, with the capabilities.
  const char *json;
};

/// Returns the description of the service; NULL: an error. It is valid until the next call of
/// uwb_service_info, uwb_list or uwb_describe.
const struct uwb_service *uwb_service_info(uwb_client *client);

/// Returns the chips of the service, of which the last is NULL; NULL: an error. Valid as above.
const struct uwb_chip *const *uwb_list(uwb_client *client);

/// Returns the description of a chip; NULL: an error. Valid as above.
///
/// chip: NULL: the only one.
const struct uwb_info *uwb_describe(uwb_client *client, const char *chip);

// MARK: sessions

struct uwb_start_options {
  size_t size;
  /// NULL: the only one.
  const char *chip;
  enum uwb_share share;
  /// Milliseconds for which the session stays when the program has crashed, at most 86,400,000.
  uint32_t linger_ms;
  /// Without a profile: a session that this user has started, by its ID or the address of a peer,
  /// such as 0x0001. The other one is NULL.
  const uint32_t *session_id;
  const char *peer;
};

/// A session that uwb_start has started.
struct uwb_started {
  size_t size;
  uint32_t session_id;
  /// 1: another program, or an earlier start, had started it.
  int32_t joined;
  /// Valid until the next call.
  const char *chip;
};

/// Starts a session, or joins the same one of another program. It stays until uwb_stop or
/// uwb_close, on a connection of its own.
///
/// profile: the text of a profile, in any form that uwbctl accepts. The error names the line. NULL:
/// the options name a session that exists. A restarted program has stored nothing then.
/// options, started: may be NULL.
/// Starts nothing without an answer in time: a session that begins later ends at once.
int uwb_start(
    uwb_client *client, const char *profile, const struct uwb_start_options *options,
    struct uwb_started *started);

/// Releases a session of this client: the last start that is not stopped yet. It ends unless
/// another program, or another start, holds it.
///
/// chip: NULL: any.
int uwb_stop(uwb_client *client, const char *chip, uint32_t session_id);

/// Changes the users who may join a session and see its measurements. Only the user who started it,
/// and root, may do so.
///
/// chip: NULL: the only one.
/// UWB_BUSY: programs of other users hold the session that is to be for its user.
int uwb_set_share(
    uwb_client *client, const char *chip, uint32_t session_id, enum uwb_share share);

/// Ends a session for all programs that hold it.
///
/// chip: NULL: the only one.
/// UWB_DENIED: only the user who has started it, root, the user of the service, and the members of
/// the service's group may end it.
int uwb_end(uwb_client *client, const char *chip, uint32_t session_id);

// MARK: measurements

/// One measurement of a peer. An unknown value is NaN, NULL, or -1 where -1 is not a value.
struct uwb_measurement {
  size_t size;
  const char *chip;
  /// The time in CLOCK_MONOTONIC, and since 1970, in microseconds.
  uint64_t monotonic_us, utc_us;
  /// Measurements that the service dropped just before, because the client did not read them in
  /// time.
  uint64_t lost;
  uint32_t session_id;
  /// The sequence number of the ranging round.
  uint32_t sequence;
  /// The address of the peer, such as 0x0001.
  const char *peer;
  /// OK, or the reason why nothing was measured.
  const char *status;
  /// Metres, filtered, with its standard deviation, including the error of uncalibrated boards.
  double distance_m, distance_sd_m;
  double velocity_m_s;
  double azimuth_deg, elevation_deg;
  double rssi_dbm;
  /// 1: without line of sight, 0: with it, -1: not known.
  int32_t nlos;
  /// 1: an interruption precedes this measurement of its session.
  int32_t after_interruption;
  /// With the option identity: the run and host of the service; the lasting name, serial number and
  /// family of the chip; and its own address in the session.
  const char *run, *host, *device, *serial, *model, *address;
  /// The whole measurement as the service sent it: `uwbctl json range` explains the members of
  /// "measurement".
  const char *json;
  /// The part of distance_sd_m that changes within seconds, in metres. NaN from older services.
  double distance_short_sd_m;
};

enum uwb_cause {
  /// The service was restarted or killed, or has disconnected. uwb_dispatch then returns -1 with
  /// UWB_DISCONNECTED, and the stream goes on after uwb_reconnect.
  UWB_CAUSE_SERVICE,
  /// The chip was lost and found while the service ran. The stream goes on.
  UWB_CAUSE_CHIP
};

/// A gap between measurements. The next measurement of each session has after_interruption.
struct uwb_interruption {
  size_t size;
  enum uwb_cause cause;
  /// A text for users.
  const char *reason;
  /// With UWB_CAUSE_CHIP; otherwise NULL and 0.
  const char *chip;
  uint32_t session_id;
};

/// A change of the service, its chips or sessions.
struct uwb_change {
  size_t size;
  /// The run of the service, and the number of the change in this run.
  const char *run;
  uint64_t sequence;
  uint64_t monotonic_us, utc_us;
  /// Changes before this one that the service no longer has.
  uint64_t lost;
  /// Such as chip_lost or session_started: the interface org.swift-uwb.Chips has the list.
  const char *kind;
  /// NULL and -1: the change does not concern one.
  const char *chip;
  int64_t session_id;
  /// The program that caused it; -1: none.
  struct uwb_user user;
  const char *reason;
  struct uwb_counters counters;
  /// The whole message as the service sent it.
  const char *json;
};

/// One value of a stream: one of the pointers is not NULL. Ignore others, which later versions may
/// append.
struct uwb_event {
  size_t size;
  const struct uwb_measurement *measurement;
  const struct uwb_interruption *interruption;
  const struct uwb_change *change;
};

/// Receives an event, which is valid during the call.
typedef void uwb_received(const struct uwb_event *event, void *context);

struct uwb_monitor_options {
  size_t size;
  /// Limits the measurements to one chip and to one session; NULL: no limit.
  const char *chip;
  const uint32_t *session_id;
  /// Limits the measurements to these peers. NULL ends the list; NULL instead of a list: no limit.
  const char *const *peers;
  /// 1: a client that is too slow gets the newest measurement of each peer; 0: all measurements,
  /// except the oldest ones when more than `queue` wait.
  int32_t newest_only;
  /// At most 10,000; 0: 1,000.
  uint32_t queue;
  /// Collects measurements for this many milliseconds, which needs less processor time.
  uint32_t every_ms;
  /// The least milliseconds between two measurements of a peer.
  uint32_t peer_ms;
  /// 1: adds the origin to each measurement.
  int32_t identity;
  /// 1: adds the changes of the chips and sessions of the stream. The first one is of the kind
  /// "watching", and its reason names the peers that no session has yet.
  int32_t changes;
};

/// Listens to measurements from now on; uwb_dispatch calls `body`. It replaces the listener that
/// the client had. body: NULL: ends listening.
///
/// options: may be NULL.
/// UWB_NOT_SUPPORTED: the service is too old for peers (several), peer_ms, identity or changes.
int uwb_monitor(
    uwb_client *client, const struct uwb_monitor_options *options, uwb_received *body,
    void *context);

struct uwb_watch_options {
  size_t size;
  /// The run and number of the last change that the program has; NULL: only changes from now on.
  const char *run;
  uint64_t after;
  /// Milliseconds between the counters of each session, from 100 on; 0: none.
  uint32_t counters_ms;
};

/// Listens to the changes of the service, instead of measurements. After uwb_reconnect it goes on
/// with the change after the last one.
int uwb_watch(
    uwb_client *client, const struct uwb_watch_options *options, uwb_received *body,
    void *context);

/// The descriptor to wait for with poll(2): readable when uwb_dispatch has something to do; -1: none.
int uwb_fd(const uwb_client *client);

/// Processes the messages that have arrived, without waiting.
///
/// Returns the number of events. -1: listening has ended. With UWB_DISCONNECTED uwb_reconnect
/// continues it; with UWB_SESSION_ENDED the session that was named has ended.
/// If `body` has called uwb_close, the client no longer exists when it returns.
int uwb_dispatch(uwb_client *client);

/// Connects again after the service has disconnected, as after its restart: starts the sessions
/// that the client held and lost, and listens as before. uwb_fd is another one then.
///
/// seconds: for how long to try, after pauses of 0.1 to 2 seconds; 0: once. A try takes no longer
/// than the time-out. An error that waiting does not mend ends it at once.
int uwb_reconnect(uwb_client *client, int seconds);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
