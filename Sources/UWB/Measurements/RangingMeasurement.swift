// SPDX-License-Identifier: Apache-2.0
public import UCI

/// One two-way-ranging result with what is known about its arrival.
public struct RangingMeasurement: Sendable, Hashable {
  /// The session, as the chip names it.
  public var sessionToken: UInt32
  /// Counts ranging rounds up from 0; the same for all peers of a round.
  public var sequenceNumber: UInt32
  /// When the notification was read: CLOCK_MONOTONIC in nanoseconds.
  public var receivedAt: UInt64
  /// Notifications that were dropped before this one because they were not taken in time.
  public var lostBefore: UInt32 = 0
  /// The device was lost and found again between the measurement before and this one: rounds are
  /// missing, `sequenceNumber` counts from 0 again, and the token may be another.
  public var followsInterruption = false
  /// What was measured.
  public var result: TwoWayMeasurement
}
