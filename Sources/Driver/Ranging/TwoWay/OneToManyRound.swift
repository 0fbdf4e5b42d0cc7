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

  /// Records a stamp. A stamp of another round discards the stamps of the previous one. Where
  /// reports arrive a round late, use two collectors, for even and odd rounds.
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

  /// The exchange; nil until all stamps of poll and response are known. With both stamps of the
  /// final it is double-sided.
  public var exchange: TwoWayExchange? {
    guard let pollSent, let pollReceived, let responseSent, let responseReceived else { return nil }
    return TwoWayExchange(
      pollSent: pollSent, pollReceived: pollReceived, responseSent: responseSent,
      responseReceived: responseReceived, finalSent: finalSent, finalReceived: finalReceived)
  }
}

/// Computes distances to one responder of a one-to-many session.
///
/// The distance is double-sided with a final. Without one, it is single-sided, with the clock
/// offset of earlier rounds. Use one value for each responder.
public struct ResponderRanging: Sendable, Hashable {
  package private(set) var clock: ClockOffsetTracker
  /// The clock offset from the last exchange with a third frame.
  private var told: ClockOffset?
  private var parameters: TwoWayParameters

  /// Creates a value for a new responder.
  public init(_ parameters: TwoWayParameters = TwoWayParameters()) {
    self.parameters = parameters
    clock = ClockOffsetTracker(parameters)
  }

  /// Creates a value for a responder with a measured clock offset.
  package init(_ parameters: TwoWayParameters, clock: ClockOffset?) {
    self.init(parameters)
    if let clock { self.clock.addCarrier(clock) }
  }

  /// Returns whether the clock offset shows that the third frame went in the other direction.
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

  /// - Parameter comparesPolls: whether consecutive polls are certainly within one turn of the
  ///   counter, or have times.
  package mutating func distance(
    _ exchange: TwoWayExchange, time: Double? = nil, carrier: ClockOffset? = nil,
    comparesPolls: Bool = true
  ) throws(RangingFailure) -> TwoWayDistance {
    // Two polls determine the clock offset a hundred times as exactly as the carrier, which also
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
