// SPDX-License-Identifier: Apache-2.0

/// The stamps of two-way ranging, each on the clock of the device that sent or received the frame:
/// the initiator's poll, the responder's response and, in double-sided ranging, the initiator's
/// final.
public struct TwoWayExchange: Sendable, Hashable {
  package var pollSent: TickStamp
  package var pollReceived: TickStamp
  package var responseSent: TickStamp
  package var responseReceived: TickStamp
  package var finalSent: TickStamp?
  package var finalReceived: TickStamp?
  /// The stamps of another frame of the responder, which some boards send instead of waiting for a
  /// final.
  package var secondResponseSent: TickStamp?
  package var secondResponseReceived: TickStamp?

  /// Creates an exchange from its stamps. It is double-sided if both stamps of the final are known.
  public init(
    pollSent: TickStamp, pollReceived: TickStamp, responseSent: TickStamp,
    responseReceived: TickStamp, finalSent: TickStamp? = nil, finalReceived: TickStamp? = nil
  ) {
    (self.pollSent, self.pollReceived) = (pollSent, pollReceived)
    (self.responseSent, self.responseReceived) = (responseSent, responseReceived)
    (self.finalSent, self.finalReceived) = (finalSent, finalReceived)
  }

  package var isDoubleSided: Bool { finalSent != nil && finalReceived != nil }

  /// Whether the stamps of a third frame determine the clock offset.
  package var tellsClocks: Bool {
    isDoubleSided || (secondResponseSent != nil && secondResponseReceived != nil)
  }

  /// The exchange with the third frame as a second response of the responder.
  package var withSecondResponse: TwoWayExchange {
    var result = singleSided
    (result.secondResponseSent, result.secondResponseReceived) = (finalSent, finalReceived)
    return result
  }

  /// Returns the difference between the intervals that both ends measured between two frames, in
  /// ticks. Returns nil if it exceeds the tolerance of crystals, as with a third frame in the other
  /// direction.
  package func disagreement(_ parameters: TwoWayParameters) -> Double? {
    guard let (initiator, responder) = intervals(parameters.counter) else { return nil }
    let difference = abs(responder - initiator)
    // Intervals of unrelated clocks differ by seconds. Distances of up to 3 km add only 20 µs.
    let most = 2 * parameters.greatestClockOffset * initiator + 20e-6 * DeviceTick.perSecond
    return difference <= most ? difference : nil
  }

  /// Returns the ticks that each end measured from an earlier frame to the third one. Both frames
  /// have the same direction, so the flight cancels and only the two clocks make the intervals
  /// differ.
  private func intervals(_ counter: TickCounter) -> (initiator: Double, responder: Double)? {
    var result: (initiator: Double, responder: Double)
    if let finalSent, let finalReceived {
      // The interval is the sum of two parts, because a counter of 32 bits may wrap within the
      // whole.
      result.initiator = counter.interval(from: pollSent, to: responseReceived)
      result.initiator += counter.interval(from: responseReceived, to: finalSent)
      result.responder = counter.interval(from: pollReceived, to: responseSent)
      result.responder += counter.interval(from: responseSent, to: finalReceived)
    } else if let secondResponseSent, let secondResponseReceived {
      result.initiator = counter.interval(from: responseReceived, to: secondResponseReceived)
      result.responder = counter.interval(from: responseSent, to: secondResponseSent)
    } else {
      return nil
    }
    return result.initiator > 0 && result.responder > 0 ? result : nil
  }

  /// Returns whether the third frame went in the other direction. A clock offset from another
  /// source then fits the intervals only after the exchange of the frame's stamps.
  package func isReversed(_ offset: ClockOffset, _ parameters: TwoWayParameters) -> Bool {
    var other = singleSided
    if isDoubleSided {
      (other.secondResponseSent, other.secondResponseReceived) = (finalReceived, finalSent)
    } else {
      (other.finalSent, other.finalReceived) = (secondResponseReceived, secondResponseSent)
    }
    guard let here = intervals(parameters.counter), let there = other.intervals(parameters.counter)
    else { return false }
    let noise = parameters.stampDeviation * DeviceTick.perSecond * 2.0.squareRoot() / here.responder
    let most = 6 * (noise + offset.standardDeviation) + 0.2e-6
    // If `offset` fits neither direction, it is itself wrong. For example, its polls were a turn of
    // the counter apart.
    func error(_ ends: (initiator: Double, responder: Double)) -> Double {
      abs((ends.initiator - ends.responder) / ends.responder - offset.value)
    }
    return error(here) > most && error(there) <= most
  }

  package var singleSided: TwoWayExchange {
    TwoWayExchange(
      pollSent: pollSent, pollReceived: pollReceived, responseSent: responseSent,
      responseReceived: responseReceived)
  }

  /// Returns the distance.
  ///
  /// - Parameters:
  ///   - offset: converts the reply to the initiator's clock in single-sided ranging. Its error of
  ///     0.1 ppm causes an error of 1.5 cm for each millisecond of reply. Double-sided ranging does
  ///     not need it.
  ///   - parameters: the counter of the stamps, and the greatest possible clock error.
  /// - Throws: `RangingFailure`; `.unknownClockOffset` without an offset in single-sided ranging.
  public func distance(
    offset: ClockOffset? = nil, _ parameters: TwoWayParameters = TwoWayParameters()
  ) throws(RangingFailure) -> TwoWayDistance {
    let counter = parameters.counter
    let round = counter.interval(from: pollSent, to: responseReceived)
    let reply = counter.interval(from: pollReceived, to: responseSent)
    if let finalSent, let finalReceived {
      let reply2 = counter.interval(from: responseReceived, to: finalSent)
      let round2 = counter.interval(from: responseSent, to: finalReceived)
      return try Self.distance(round, reply, round2, reply2, parameters)
    }
    guard round > 0, reply > 0 else { throw .emptyInterval }
    if let secondResponseSent, let secondResponseReceived {
      let result = try Self.distance(
        round, reply, sent: counter.interval(from: responseSent, to: secondResponseSent),
        received: counter.interval(from: responseReceived, to: secondResponseReceived), parameters)
      // If the direction of the third frame is wrong, the clock offset seems to be another one.
      if let offset {
        let most = 6 * (offset.standardDeviation + result.clockOffsetDeviation) + 0.5e-6
        guard abs(offset.value - result.clockOffset) < most else { throw .implausibleClocks }
      }
      return result
    }
    guard let offset else { throw .unknownClockOffset }
    guard abs(offset.value) <= parameters.greatestClockOffset else { throw .implausibleClocks }
    let flight = ((round - reply) - reply * offset.value) / 2
    let distance = try parameters.checked(ticks: flight)
    let byClock = reply * DeviceTick.seconds * offset.standardDeviation
    let byStamps = parameters.stampDeviation * 2.0.squareRoot()
    return TwoWayDistance(
      distance: distance,
      standardDeviation: parameters.total(
        (byClock * byClock + byStamps * byStamps).squareRoot() / 2 * parameters.speedOfLight),
      biasDeviation: parameters.antennaDelayDeviation,
      clockOffset: offset.value, clockOffsetDeviation: offset.standardDeviation)
  }

  /// Returns the distance with the clock offset from two frames of the responder: the ratio of the
  /// times between them at both ends.
  ///
  /// Source: Shalaby, Cossette, Forbes, Le Ny, "Calibration and uncertainty characterization for
  /// ultra-wideband two-way-ranging measurements", ICRA 2023.
  private static func distance(
    _ round: Double, _ reply: Double, sent: Double, received: Double,
    _ parameters: TwoWayParameters
  ) throws(RangingFailure) -> TwoWayDistance {
    guard sent > 0, received > 0 else { throw .emptyInterval }
    let offset = (received - sent) / sent
    let noise = parameters.stampDeviation * DeviceTick.perSecond
    let offsetDeviation = noise * 2.0.squareRoot() / sent
    guard abs(offset) <= parameters.greatestClockOffset + 6 * offsetDeviation else {
      throw .implausibleClocks
    }
    let distance = try parameters.checked(ticks: ((round - reply) - reply * offset) / 2)
    // The sensitivity of the distance to each reception stamp. The first response is part of two
    // intervals.
    let part = reply / sent
    let gain = (1 + (1 + part) * (1 + part) + part * part).squareRoot() / 2
    return TwoWayDistance(
      distance: distance,
      standardDeviation: parameters.total(
        gain * parameters.stampDeviation * parameters.speedOfLight),
      biasDeviation: parameters.antennaDelayDeviation,
      clockOffset: offset, clockOffsetDeviation: offsetDeviation)
  }

  /// Returns the double-sided distance by the asymmetric formula, which allows replies of different
  /// lengths. A clock offset of 20 ppm changes the distance by 20 ppm.
  ///
  /// Source: Neirynck, Luk, McLaughlin, "An alternative double-sided two-way ranging method",
  /// WPNC 2016.
  private static func distance(
    _ round1: Double, _ reply1: Double, _ round2: Double, _ reply2: Double,
    _ parameters: TwoWayParameters
  ) throws(RangingFailure) -> TwoWayDistance {
    let initiator = round1 + reply2
    let responder = round2 + reply1
    guard round1 > 0, reply1 > 0, reply2 > 0, round2 > 0 else { throw .emptyInterval }
    // The time from poll to final differs between the ends only because of the clocks. The flight
    // cancels.
    let offset = (initiator - responder) / responder
    let noise = parameters.stampDeviation * DeviceTick.perSecond
    let offsetDeviation = noise * 2.0.squareRoot() / responder
    guard abs(offset) <= parameters.greatestClockOffset + 6 * offsetDeviation else {
      throw .implausibleClocks
    }
    // This is round1·round2 - reply1·reply2 with differences as factors. Products of 80 bits would
    // cancel each other and lose precision.
    let sum = initiator + responder
    let flight = (round1 * (round2 - reply2) + reply2 * (round1 - reply1)) / sum
    let distance = try parameters.checked(ticks: flight)
    // The sensitivity of the flight to each reception stamp.
    let byPoll = (reply2 + flight) / sum
    let byResponse = responder / sum
    let byFinal = (round1 - flight) / sum
    let gain = (byPoll * byPoll + byResponse * byResponse + byFinal * byFinal).squareRoot()
    return TwoWayDistance(
      distance: distance,
      standardDeviation: parameters.total(
        gain * parameters.stampDeviation * parameters.speedOfLight),
      biasDeviation: parameters.antennaDelayDeviation,
      clockOffset: offset, clockOffsetDeviation: offsetDeviation)
  }
}
