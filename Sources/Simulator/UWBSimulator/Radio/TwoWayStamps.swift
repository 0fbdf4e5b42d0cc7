// SPDX-License-Identifier: Apache-2.0

/// The stamps of one exchange in the two chips, corrected by their calibrated antenna delays. The
/// arithmetic is independent of the host's, so that tests can compare both.
struct TwoWayStamps: Hashable, Sendable {
  /// The stamps of poll and response: poll sent by the initiator, received by the responder;
  /// response sent by the responder, received by the initiator.
  var t1, t2, t3, t4: UInt64
  /// The stamps of the final message at both ends; nil in single-sided ranging.
  var final: Final?
  struct Final: Hashable, Sendable {
    var t5, t6: UInt64
  }

  /// Metres in a tick one way: the speed of light in air over the rate of the counter.
  static let metresPerTick = speedOfLight * 1e-9 / SimulatedClock.ticksPerNanosecond
  /// The speed of light in air in metres per second: the value in the drivers of DW1000, DW3000 and
  /// QM33.
  static let speedOfLight = 299_702_547.0

  private static func between(_ a: UInt64, _ b: UInt64) -> Int128 {
    Int128((b &- a) & SimulatedClock.stampMask)
  }

  /// Returns the distance in metres.
  ///
  /// - Parameter carrier: the rate of the initiator's clock relative to the responder's, minus 1,
  ///   as measured by its receiver; only single-sided ranging needs it.
  func distance(carrier: Double) -> Double {
    let (round1, reply1) = (Self.between(t1, t4), Self.between(t2, t3))
    guard let final else {
      let flight = (Double(round1 - reply1) - Double(reply1) * carrier) / 2
      return flight * Self.metresPerTick
    }
    let (round2, reply2) = (Self.between(t3, final.t6), Self.between(t4, final.t5))
    // Source: Neirynck, Luk, McLaughlin, WPNC 2016; exact in integers of 80 bits.
    let numerator = round1 * round2 - reply1 * reply2
    let denominator = round1 + round2 + reply1 + reply2
    return denominator > 0 ? Double(numerator) / Double(denominator) * Self.metresPerTick : 0
  }
}
