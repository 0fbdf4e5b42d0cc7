// SPDX-License-Identifier: Apache-2.0
//
// Distances and angles from UWB chips, through the service uwbd. Plain C11, needs nothing but libc.
//
// A client is used by one thread at a time. Text is UTF-8. Returned text belongs to the client, and
// is valid until its next call.
#ifndef UWB_H
#define UWB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/// A program's connections to the service.
typedef struct uwb_client uwb_client;

/// One measurement of a peer. An unknown value is NaN, or -1 where -1 is not a value.
struct uwb_measurement {
  /// Bytes of this structure that the library fills in; later versions append to it.
  size_t size;
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
  /// Metres, filtered, with its standard deviation.
  double distance_m, distance_sd_m;
  double velocity_m_s;
  double azimuth_deg, elevation_deg;
  double rssi_dbm;
  /// 1: without line of sight, 0: with it, -1: not known.
  int32_t nlos;
  /// The whole measurement as the service sent it: `uwbctl json range` explains the members of
  /// "measurement".
  const char *json;
};

/// Connects to the service.
///
/// path: its socket; NULL: the value of UWBD_SOCKET, or /run/uwbd/control.
/// Returns NULL if memory runs out; otherwise a client, whose uwb_last_error is NULL if it is
/// connected.
uwb_client *uwb_open(const char *path);

/// Ends the connections, and with them the sessions that the client holds. Takes NULL.
void uwb_close(uwb_client *client);

/// Returns the error of the last call and the next step; NULL: the call succeeded.
const char *uwb_last_error(const uwb_client *client);

/// Starts a session, or joins the same one of another program. It stays until uwb_close, on a
/// connection of its own.
///
/// profile: the text of a profile, in any form that uwbctl accepts. The error names the line.
/// chip: NULL: the only one.
/// Returns 0, or -1. Waits at most 30 seconds for a connection, and 30 for the answer. Starts
/// nothing without an answer: a session that begins later ends at once.
int uwb_start(uwb_client *client, const char *profile, const char *chip);

typedef void uwb_measured(const struct uwb_measurement *measurement, void *context);

/// Listens from now on; uwb_dispatch calls `body`. Once for a client.
///
/// chip, peer: only this one; NULL: all of them.
/// Returns 0, or -1.
int uwb_monitor(
    uwb_client *client, const char *chip, const char *peer, uwb_measured *body, void *context);

/// The descriptor to wait for with poll(2): readable when uwb_dispatch has something to do; -1: none.
int uwb_fd(const uwb_client *client);

/// Processes the messages that have arrived, without waiting. Returns the number of measurements;
/// -1: the service has disconnected, or has ended the listener's session.
int uwb_dispatch(uwb_client *client);

/// Connects again after the service has disconnected, as after its restart: starts the sessions
/// that the client held, and listens as before. uwb_fd is another one then.
///
/// seconds: for how long to try, after pauses of 0.1 to 2 seconds; 0: once.
/// Returns 0, or -1.
int uwb_reconnect(uwb_client *client, int seconds);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
