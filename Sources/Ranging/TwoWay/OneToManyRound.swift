// SPDX-License-Identifier: Apache-2.0

/// The stamps that one responder's part of a one-to-many round has gathered so far.
///
/// Reports of the responder come late, often with the next round. Every stamp says which round it
/// is from, and stamps of different rounds never meet: when a final is missing, the one of the
/// round before is not used in its place.
public struct ExchangeCollector: Sendable, Hashable {
  /// A frame's stamp at one end.
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
  public private(set) var round: UInt32?
  private var present: UInt8 = 0
  private struct Frame: Sendable, Hashable {
    var sent: TickStamp = 0
    var received: TickStamp = 0
  }
  private var poll = Frame()
  private var response = Frame()
  private var final = Frame()

  /// Nothing gathered.
  public init() {}

  /// Takes a stamp in. A stamp of another round than the last one's begins anew; keep two
  /// collectors, for even and odd rounds, where reports come a round late.
  public mutating func take(_ event: Event, at stamp: TickStamp, round: UInt32) {
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

  /// Poll and response, when all four of their stamps are there.
  public var singleSided: SingleSidedExchange? {
    guard present & 0b1111 == 0b1111 else { return nil }
    return SingleSidedExchange(
      pollSent: poll.sent, pollReceived: poll.received, responseSent: response.sent,
      responseReceived: response.received)
  }

  /// The whole exchange, when nothing is missing.
  public var doubleSided: DoubleSidedExchange? {
    guard present == 0b11_1111 else { return nil }
    return DoubleSidedExchange(
      pollSent: poll.sent, pollReceived: poll.received, responseSent: response.sent,
      responseReceived: response.received, finalSent: final.sent, finalReceived: final.received)
  }
}

/// Distances to one responder of a one-to-many session, round after round.
///
/// With a final the distance is double-sided; without one it is single-sided with the clock offset
/// that earlier rounds have told. Keep one for each responder.
public struct ResponderRanging: Sendable, Hashable {
  /// How the clocks compare.
  public private(set) var clock: ClockOffsetTracker
  private var parameters: TwoWayParameters

  /// A responder that nothing is known of.
  public init(_ parameters: TwoWayParameters = TwoWayParameters()) {
    self.parameters = parameters
    clock = ClockOffsetTracker(parameters)
  }

  /// The distance of a round.
  ///
  /// - Parameters:
  ///   - time: seconds, to count turns of the counter between rounds.
  ///   - carrier: what the initiator's receiver said of the responder's carrier.
  public mutating func distance(
    _ collected: ExchangeCollector, time: Double? = nil, carrier: ClockOffset? = nil
  ) throws(RangingFailure) -> TwoWayDistance {
    guard let single = collected.singleSided else { throw .missingStamp }
    return try distance(single, whole: collected.doubleSided, time: time, carrier: carrier)
  }

  /// The distance of a round whose final may be missing.
  public mutating func distance(
    _ single: SingleSidedExchange, whole: DoubleSidedExchange?, time: Double? = nil,
    carrier: ClockOffset? = nil
  ) throws(RangingFailure) -> TwoWayDistance {
    // Polls tell a hundred times as much as the carrier, which also depends on the level.
    let hasCompared = clock.takePoll(
      sent: single.pollSent, received: single.pollReceived, time: time)
    if let whole {
      let distance = try whole.distance(parameters)
      if !hasCompared {
        clock.takeCarrier(
          ClockOffset(distance.clockOffset, standardDeviation: distance.clockOffsetDeviation))
      }
      return distance
    }
    if !hasCompared, let carrier { clock.takeCarrier(carrier) }
    guard let offset = clock.offset else { throw .unknownClockOffset }
    return try single.distance(offset: offset, parameters)
  }
}
