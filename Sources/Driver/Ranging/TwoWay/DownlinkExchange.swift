// SPDX-License-Identifier: Apache-2.0

/// A round between two anchors as a passive tag receives it (DL-TDoA): the initiator's poll, a
/// responder's response and, in double-sided rounds, the initiator's final.
///
/// The messages carry the reply times of the anchors and their distance. From these the tag
/// computes the difference of its distances to them.
public struct DownlinkExchange: Sendable, Hashable {
  package var pollReceived: TickStamp
  package var responseReceived: TickStamp
  /// The time at which the tag received the final; nil in single-sided rounds, or when it was lost.
  package var finalReceived: TickStamp?
  /// Ticks of the responder's clock from poll to response, antenna to antenna.
  package var responderReply: Double
  /// Ticks of the initiator's clock from response to final; nil where there is no final.
  package var initiatorReply: Double?
  /// Ticks that a signal takes from one anchor to the other.
  package var anchorFlight: Double

  /// Creates a round.
  public init(
    pollReceived: TickStamp, responseReceived: TickStamp, finalReceived: TickStamp? = nil,
    responderReply: Double, initiatorReply: Double? = nil, anchorFlight: Double
  ) {
    self.pollReceived = pollReceived
    self.responseReceived = responseReceived
    self.finalReceived = finalReceived
    self.responderReply = responderReply
    self.initiatorReply = initiatorReply
    self.anchorFlight = anchorFlight
  }

  /// Returns the ticks of a flight between two positions in metres.
  public static func flight(
    from a: SIMD3<Double>, to b: SIMD3<Double>, speedOfLight: Double = SpeedOfLight.inAir
  ) -> Double {
    (b - a).length / speedOfLight * DeviceTick.perSecond
  }

  /// A difference of distances.
  public struct Difference: Sendable, Hashable {
    /// The tag's distance to the responder minus its distance to the initiator, in metres.
    public var metres: Double
    /// One standard deviation in metres, from the noise of all stamps and of the clocks.
    public var standardDeviation: Double
  }

  /// Returns the tag's distance to the responder minus its distance to the initiator.
  ///
  /// The time from poll to response is the flight between the anchors, the reply and the
  /// difference. The time from response to final has the opposite sign of the difference. With
  /// both, the flight and half of the clock error cancel.
  ///
  /// - Parameters:
  ///   - clocks: (rate of an anchor's clock / rate of the tag's) - 1, as `DownlinkRanging`
  ///     estimates it.
  ///   - parameters: the counter of the stamps, and the greatest possible clock error.
  public func difference(
    _ clocks: (initiator: ClockOffset, responder: ClockOffset),
    _ parameters: TwoWayParameters = TwoWayParameters()
  ) throws(RangingFailure) -> Difference {
    let counter = parameters.counter
    let greatest = parameters.greatestClockOffset
    let (a, b) = clocks
    guard abs(a.value) <= greatest, abs(b.value) <= greatest else { throw .implausibleClocks }
    guard responderReply > 0, responderReply < counter.modulus, anchorFlight.isFinite else {
      throw .emptyInterval
    }
    let first = counter.interval(from: pollReceived, to: responseReceived)
    // All values are in ticks of the tag's clock. Long intervals are subtracted before scaling,
    // because their product with a factor near 1 would be rounded.
    let replied = first - responderReply
    var ticks = replied + responderReply * (b.value / (1 + b.value)) - anchorFlight
    var byClock = responderReply * b.standardDeviation
    // The noise of three receptions: two at the tag and one at the responder.
    var byStamps = 3.0.squareRoot()
    if let finalReceived, let initiatorReply {
      guard initiatorReply > 0, initiatorReply < counter.modulus else { throw .emptyInterval }
      let second = counter.interval(from: responseReceived, to: finalReceived)
      let back =
        anchorFlight - (second - initiatorReply) - initiatorReply * (a.value / (1 + a.value))
      ticks = (ticks + back) / 2
      let other = initiatorReply * a.standardDeviation
      byClock = (byClock * byClock + other * other).squareRoot() / 2
      byStamps = 2.0.squareRoot()
    }
    let scale = DeviceTick.seconds * parameters.speedOfLight
    let metres = ticks * scale
    // A difference cannot exceed the distance of the anchors by more than the error of calibration.
    guard abs(metres) <= max(0, anchorFlight) * scale - parameters.leastDistance else {
      throw .implausibleClocks
    }
    let noise = byStamps * parameters.stampDeviation * parameters.speedOfLight
    let drift = byClock * scale
    return Difference(
      metres: metres, standardDeviation: (noise * noise + drift * drift).squareRoot())
  }
}

/// Computes differences of distances to one pair of anchors from successive rounds, and tracks the
/// clocks of both.
///
/// The transmission times in messages determine the rate of an anchor's clock. They are a hundred
/// times as exact as the carrier offset of a single frame. Use one value for each pair of anchors.
public struct DownlinkRanging: Sendable, Hashable {
  package private(set) var initiator: ClockOffsetTracker
  package private(set) var responder: ClockOffsetTracker
  private let parameters: TwoWayParameters

  /// Creates a value for a new pair of anchors.
  public init(_ parameters: TwoWayParameters = TwoWayParameters()) {
    self.parameters = parameters
    initiator = ClockOffsetTracker(parameters)
    responder = ClockOffsetTracker(parameters)
  }

  /// Returns the difference of the distances for a round.
  ///
  /// - Parameters:
  ///   - exchange: the stamps of the round.
  ///   - sent: the transmission times that the messages carry, in ticks of each anchor's own clock
  ///     or of a common time base.
  ///   - time: seconds, to count turns of the counter between rounds.
  ///   - carriers: the carrier offsets that the tag measured, for rounds before two messages can be
  ///     compared.
  /// - Throws: `.unknownClockOffset` until both clocks are known.
  public mutating func difference(
    _ exchange: DownlinkExchange, sent: (poll: TickStamp?, response: TickStamp?) = (nil, nil),
    time: Double? = nil, carriers: (initiator: ClockOffset, responder: ClockOffset)? = nil
  ) throws(RangingFailure) -> DownlinkExchange.Difference {
    var hasCompared = (false, false)
    if let poll = sent.poll {
      hasCompared.0 = initiator.addPoll(sent: poll, received: exchange.pollReceived, time: time)
    }
    if let response = sent.response {
      hasCompared.1 = responder.addPoll(
        sent: response, received: exchange.responseReceived, time: time)
    }
    if let carriers {
      if !hasCompared.0 { initiator.addCarrier(carriers.initiator) }
      if !hasCompared.1 { responder.addCarrier(carriers.responder) }
    }
    guard let a = initiator.offset, let b = responder.offset else { throw .unknownClockOffset }
    return try exchange.difference((a, b), parameters)
  }
}
