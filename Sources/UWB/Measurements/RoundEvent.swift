// SPDX-License-Identifier: Apache-2.0
public import UCI

/// Something that happened in the rounds of a session, as a value. Switch over it with a `default`:
/// cases may be added.
public enum RoundEvent: Sendable, Hashable {
  /// A two-way measurement: one for each peer of a round.
  case measurement(RangingMeasurement)
  /// A round of one-way ranging: messages of anchors or tags, or angles of arrival.
  case oneWay(SessionInfo)
  /// What the chip's receivers saw in a round: a notification of `DeviceProfile.diagnostics`, by its
  /// opcode and payload.
  case diagnostics(Opcode, [UInt8])
  /// The device was lost and is being recovered; nothing is measured for now.
  case interrupted(DriverError)
  /// The session ranges again; its sequence numbers start again from 0.
  case resumed
}
