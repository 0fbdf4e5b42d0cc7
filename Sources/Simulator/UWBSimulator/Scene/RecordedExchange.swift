// SPDX-License-Identifier: Apache-2.0

/// The stamps of one exchange and the true distance. Real chips do not report the stamps.
package struct RecordedExchange: Hashable, Sendable {
  /// The transmission of the poll, in seconds since the start of the scene.
  package var time: Double
  /// The chips, in the order in which they were added.
  package var initiator, responder: Int
  /// The stamps in ticks of 40 bits: poll sent (initiator) and received (responder), response sent
  /// (responder) and received (initiator). Each chip has subtracted its calibrated antenna delays.
  package var t1, t2, t3, t4: UInt64
  /// The stamps of the final message: sent and received; nil in single-sided ranging.
  package var t5, t6: UInt64?
  /// Carrier offset measured by the initiator, in parts per million: positive if the initiator's
  /// clock is faster than the responder's.
  package var carrierOffset: Double
  /// Received level at the initiator, in dBm.
  package var level: Double
  /// Metres between the chips when the poll was sent.
  package var truth: Double
}

extension Simulation {
  /// The greatest number of exchanges that are kept.
  static let recordLimit = 100_000

  /// Returns the exchanges since the last call, if `recordsExchanges` is set.
  package mutating func takeExchanges() -> [RecordedExchange] {
    defer { exchanges.removeAll() }
    return exchanges
  }

  mutating func record(_ stamps: TwoWayStamps, _ poll: AirFrame, _ response: AirFrame) {
    guard recordsExchanges, exchanges.count < Self.recordLimit else { return }
    let (a, b) = (poll.sender.chip, poll.receiver.chip)
    exchanges.append(
      RecordedExchange(
        time: Double(now) * 1e-9, initiator: a, responder: b, t1: stamps.t1, t2: stamps.t2,
        t3: stamps.t3, t4: stamps.t4, t5: stamps.final?.t5, t6: stamps.final?.t6,
        carrierOffset: (1 / (1 + response.reception.carrier) - 1) * 1e6,
        level: response.reception.level,
        truth: position(a, at: now).distance(to: position(b, at: now))))
  }
}
