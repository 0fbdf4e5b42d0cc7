// SPDX-License-Identifier: Apache-2.0

import UCI

/// A message of a ranging round, numbered as in Qorvo's range diagnostics.
enum RoundMessage: UInt8, Sendable {
  /// The initiator's first ranging frame.
  case rangingInitiation = 0
  /// The responder's answer.
  case rangingResponse = 1
  /// The initiator's last ranging frame.
  case rangingFinal = 2
  /// The controller's announcement of the round.
  case control = 3
  /// The initiator's measurements.
  case measurementReport = 4
  /// The responder's measurements.
  case resultReport = 5
}

/// A frame of a round from one chip to another.
struct AirFrame: Sendable {
  var message: RoundMessage
  var slot: Int
  var sender: Endpoint
  var receiver: Endpoint
  /// The sender's stamp: 40 bits, corrected for the antenna delay.
  var sentStamp: UInt64
  var reception: Reception
}

struct Reception: Hashable, Sendable {
  /// The receiver's stamp: 40 bits, corrected for the antenna delay.
  var stamp: UInt64
  /// The receiver's counter with all its bits.
  var counter: UInt64
  /// The sender's clock rate relative to the receiver's, minus 1, measured from the carrier.
  var carrier: Double
  var phases: Phases
  /// The received level in dBm.
  var level: Double
  var firstPathLevel: Double
  var channel: Channel
}

/// A frame of a round from the point of view of one chip.
struct Observation: Sendable {
  var message: RoundMessage
  var slot: Int
  var emitter: MACAddress
  /// The reception; nil if the chip sent it.
  var reception: Reception?
}
