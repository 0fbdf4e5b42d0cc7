// SPDX-License-Identifier: Apache-2.0

/// Collects the stamps of one responder's part of a one-to-many round.
///
/// Reports of the responder arrive late, often with the next round. Each stamp is recorded with its
/// round, and stamps of different rounds are never combined.
public struct ExchangeCollector: Sendable, Hashable {
  /// A stamp of a frame at one end.
  public enum Event: Sendable, Hashable, CaseIterable {
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

  /// The index of the ranging block that contains the stamps, or of the round within the block.
  package private(set) var round: UInt32?
  private var pollSent, pollReceived, responseSent, responseReceived: TickStamp?
  private var finalSent, finalReceived: TickStamp?

  /// Creates an empty collector.
  public init() {}

  /// Records a stamp. A stamp of another round discards the stamps of the last one; keep two
  /// collectors, for even and odd rounds, where reports arrive a round late.
  public mutating func record(_ event: Event, at stamp: TickStamp, round: UInt32) {
    if round != self.round {
      self = ExchangeCollector()
      self.round = round
    }
    switch event {
    case .pollSent: pollSent = stamp
    case .pollReceived: pollReceived = stamp
    case .responseSent: responseSent = stamp
    case .responseReceived: responseReceived = stamp
    case .finalSent: finalSent = stamp
    case .finalReceived: finalReceived = stamp
    }
  }

  /// The exchange, which is double-sided once both stamps of the final are known; nil until the
  /// stamps of poll and response are.
  public var exchange: TwoWayExchange? {
    guard let pollSent, let pollReceived, let responseSent, let responseReceived else { return nil }
    return TwoWayExchange(
      pollSent: pollSent, pollReceived: pollReceived, responseSent: responseSent,
      responseReceived: responseReceived, finalSent: finalSent, finalReceived: finalReceived)
  }
}

/// Computes distances to one responder of a one-to-many session.
///
/// With a final the distance is double-sided; without one it is single-sided, with the clock offset
/// from earlier rounds. Keep one for each responder.
public struct ResponderRanging: Sendable, Hashable {
  package private(set) var clock: ClockOffsetTracker
  /// The offset of the last exchange that determined it.
  private var told: ClockOffset?
  private var parameters: TwoWayParameters

  /// Creates a value for a new responder.
  public init(_ parameters: TwoWayParameters = TwoWayParameters()) {
    self.parameters = parameters
    clock = ClockOffsetTracker(parameters)
  }

  /// Creates a value for a responder whose clock is known.
  package init(_ parameters: TwoWayParameters, clock: ClockOffset?) {
    self.init(parameters)
    if let clock { self.clock.addCarrier(clock) }
  }

  /// Returns whether the polls show that the third frame went in the other direction.
  package func isReversed(_ exchange: TwoWayExchange) -> Bool {
    clock.offset.map { exchange.isReversed($0, parameters) } ?? false
  }

  /// Returns the distance of a round.
  ///
  /// - Parameters:
  ///   - collected: the stamps of the round.
  ///   - time: seconds, to count turns of the counter between rounds.
  ///   - carrier: the carrier offset that the initiator measured, if any.
  public mutating func distance(
    _ collected: ExchangeCollector, time: Double? = nil, carrier: ClockOffset? = nil
  ) throws(RangingFailure) -> TwoWayDistance {
    guard let exchange = collected.exchange else { throw .missingStamp }
    return try distance(exchange, time: time, carrier: carrier)
  }

  /// - Parameter comparesPolls: whether no turn of the counter can be missed between polls.
  package mutating func distance(
    _ exchange: TwoWayExchange, time: Double? = nil, carrier: ClockOffset? = nil,
    comparesPolls: Bool = true
  ) throws(RangingFailure) -> TwoWayDistance {
    // Two polls compare the clocks a hundred times more exactly than the carrier, which also
    // depends on the level.
    let hasCompared =
      comparesPolls
      && clock.addPoll(sent: exchange.pollSent, received: exchange.pollReceived, time: time)
    guard exchange.tellsClocks else {
      if !hasCompared, let carrier { clock.addCarrier(carrier) }
      return try exchange.distance(offset: clock.offset ?? told, parameters)
    }
    let distance = try exchange.distance(offset: clock.offset, parameters)
    told = ClockOffset(distance.clockOffset, standardDeviation: distance.clockOffsetDeviation)
    return distance
  }
}
