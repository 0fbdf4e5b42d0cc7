// SPDX-License-Identifier: Apache-2.0

/// Collects the stamps of one responder's part of a one-to-many round.
///
/// Reports of the responder arrive late, often with the next round. Each stamp comes with its round,
/// and stamps of different rounds are never combined.
public struct ExchangeCollector: Sendable, Hashable {
  /// A stamp of a frame at one end.
  public enum Event: Int, Sendable, Hashable, CaseIterable {
    /// The poll at the initiator.
    case pollSent
    /// The poll at the responder.
    case pollReceived
    /// The response at the responder.
    case responseSent
    /// The response at the initiator.
    case responseReceived
    /// The final at the initiator.
    case finalSent
    /// The final at the responder.
    case finalReceived
  }

  /// The round the stamps are from: the index of the ranging block, or of the round in it.
  package private(set) var round: UInt32?
  private var present: UInt8 = 0
  private struct Frame: Sendable, Hashable {
    var sent: TickStamp = 0
    var received: TickStamp = 0
  }
  private var poll = Frame()
  private var response = Frame()
  private var final = Frame()

  /// Creates an empty collector.
  public init() {}

  /// Records a stamp. A stamp of another round discards the stamps of the last one; keep two
  /// collectors, for even and odd rounds, where reports arrive a round late.
  public mutating func record(_ event: Event, at stamp: TickStamp, round: UInt32) {
    if round != self.round {
      self.round = round
      present = 0
    }
    present |= 1 << UInt8(event.rawValue)
    switch event {
    case .pollSent: poll.sent = stamp
    case .pollReceived: poll.received = stamp
    case .responseSent: response.sent = stamp
    case .responseReceived: response.received = stamp
    case .finalSent: final.sent = stamp
    case .finalReceived: final.received = stamp
    }
  }

  /// Poll and response; nil until all four stamps are known.
  public var singleSided: SingleSidedExchange? {
    guard present & 0b1111 == 0b1111 else { return nil }
    return SingleSidedExchange(
      pollSent: poll.sent, pollReceived: poll.received, responseSent: response.sent,
      responseReceived: response.received)
  }

  /// The whole exchange; nil until all six stamps are known.
  public var doubleSided: DoubleSidedExchange? {
    guard present == 0b11_1111 else { return nil }
    return DoubleSidedExchange(
      pollSent: poll.sent, pollReceived: poll.received, responseSent: response.sent,
      responseReceived: response.received, finalSent: final.sent, finalReceived: final.received)
  }
}

/// Computes distances to one responder of a one-to-many session.
///
/// With a final the distance is double-sided; without one it is single-sided, with the clock offset
/// from earlier rounds. Keep one for each responder.
public struct ResponderRanging: Sendable, Hashable {
  package private(set) var clock: ClockOffsetTracker
  private var parameters: TwoWayParameters

  /// Creates a value for a new responder.
  public init(_ parameters: TwoWayParameters = TwoWayParameters()) {
    self.parameters = parameters
    clock = ClockOffsetTracker(parameters)
  }

  /// Returns the distance of a round.
  ///
  /// - Parameters:
  ///   - time: seconds, to count turns of the counter between rounds.
  ///   - carrier: the carrier offset that the initiator measured, if any.
  public mutating func distance(
    _ collected: ExchangeCollector, time: Double? = nil, carrier: ClockOffset? = nil
  ) throws(RangingFailure) -> TwoWayDistance {
    guard let single = collected.singleSided else { throw .missingStamp }
    return try distance(single, whole: collected.doubleSided, time: time, carrier: carrier)
  }

  package mutating func distance(
    _ single: SingleSidedExchange, whole: DoubleSidedExchange?, time: Double? = nil,
    carrier: ClockOffset? = nil
  ) throws(RangingFailure) -> TwoWayDistance {
    // Polls are a hundred times as exact as the carrier, which also depends on the level.
    let hasCompared = clock.addPoll(
      sent: single.pollSent, received: single.pollReceived, time: time)
    if let whole {
      let distance = try whole.distance(parameters)
      if !hasCompared {
        clock.addCarrier(
          ClockOffset(distance.clockOffset, standardDeviation: distance.clockOffsetDeviation))
      }
      return distance
    }
    if !hasCompared, let carrier { clock.addCarrier(carrier) }
    guard let offset = clock.offset else { throw .unknownClockOffset }
    return try single.distance(offset: offset, parameters)
  }
}
