// SPDX-License-Identifier: Apache-2.0

/// A round between two anchors as a tag hears it that only listens (DL-TDoA): the initiator's poll,
/// a responder's response and, in double-sided rounds, the initiator's final.
///
/// The messages say how long the anchors took to reply and how far they are apart; with that the
/// tag knows by how much it is nearer to one of them.
public struct DownlinkExchange: Sendable, Hashable {
  /// When the tag received the poll.
  public var pollReceived: TickStamp
  /// When the tag received the response.
  public var responseReceived: TickStamp
  /// When the tag received the final; nil in single-sided rounds, or when it was lost.
  public var finalReceived: TickStamp?
  /// Ticks of the responder's clock from poll to response, antenna to antenna.
  public var responderReply: Double
  /// Ticks of the initiator's clock from response to final; nil where there is no final.
  public var initiatorReply: Double?
  /// Ticks that a signal takes from one anchor to the other.
  public var anchorFlight: Double

  /// From its parts.
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

  /// Ticks of a flight between anchors whose places are known.
  public static func flight(
    from a: Vector3, to b: Vector3, speedOfLight: Double = SpeedOfLight.inAir
  ) -> Double {
    (b - a).length / speedOfLight * DeviceTick.perSecond
  }

  /// How the clocks compare, as far as it is known: see `DownlinkRanging` for where it comes from.
  public struct Clocks: Sendable, Hashable {
    /// (rate of the initiator's clock / rate of the tag's) - 1.
    public var initiator: ClockOffset
    /// (rate of the responder's clock / rate of the tag's) - 1.
    public var responder: ClockOffset

    /// From its parts.
    public init(initiator: ClockOffset, responder: ClockOffset) {
      self.initiator = initiator
      self.responder = responder
    }
  }

  /// A difference of distances.
  public struct Difference: Sendable, Hashable {
    /// Metres: the tag's distance to the responder less that to the initiator.
    public var metres: Double
    /// One standard deviation in metres, from the noise of the stamps, at anchors and tag, and of
    /// the clocks.
    public var standardDeviation: Double
  }

  /// The difference of the tag's distances to responder and initiator.
  ///
  /// Poll and response are apart by flight, reply and the difference; so are response and final, with
  /// the difference the other way round. With both the flight between the anchors and half of what is
  /// wrong with the clocks cancel.
  public func difference(
    _ clocks: Clocks, _ parameters: TwoWayParameters = TwoWayParameters()
  ) throws(RangingFailure) -> Difference {
    let counter = parameters.counter
    let greatest = parameters.greatestClockOffset
    let (a, b) = (clocks.initiator, clocks.responder)
    guard abs(a.value) <= greatest, abs(b.value) <= greatest else { throw .implausibleClocks }
    guard responderReply > 0, responderReply < counter.modulus, anchorFlight.isFinite else {
      throw .emptyInterval
    }
    let first = counter.interval(from: pollReceived, to: responseReceived)
    // Everything in ticks of the tag's clock. Differences first: the intervals are long.
    let replied = first - responderReply
    var ticks = replied + responderReply * (b.value / (1 + b.value)) - anchorFlight
    var byClock = responderReply * b.standardDeviation
    // The tag's two receptions and the responder's one.
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
    // No difference is greater than the anchors are apart, but for noise and calibration.
    guard abs(metres) <= max(0, anchorFlight) * scale - parameters.leastDistance else {
      throw .implausibleClocks
    }
    let noise = byStamps * parameters.stampDeviation * parameters.speedOfLight
    let drift = byClock * scale
    return Difference(
      metres: metres, standardDeviation: (noise * noise + drift * drift).squareRoot())
  }
}

/// Differences of distances to one pair of anchors, round after round, with the clocks of both as
/// the tag hears them.
///
/// Messages with the times at which they were sent tell the rate of an anchor's clock a hundred times
/// as well as the carrier of a single frame. Keep one for each pair of anchors.
public struct DownlinkRanging: Sendable, Hashable {
  /// How the initiator's clock compares with the tag's.
  public private(set) var initiator: ClockOffsetTracker
  /// How the responder's clock compares with the tag's.
  public private(set) var responder: ClockOffsetTracker
  private let parameters: TwoWayParameters

  /// Anchors that nothing is known of.
  public init(_ parameters: TwoWayParameters = TwoWayParameters()) {
    self.parameters = parameters
    initiator = ClockOffsetTracker(parameters)
    responder = ClockOffsetTracker(parameters)
  }

  /// When each anchor sent its message of a round, in ticks of its own clock, or both in a common
  /// time base.
  public struct Sent: Sendable, Hashable {
    /// The poll; nil where it is not told.
    public var poll: TickStamp?
    /// The response.
    public var response: TickStamp?

    /// From its parts.
    public init(poll: TickStamp? = nil, response: TickStamp? = nil) {
      self.poll = poll
      self.response = response
    }
  }

  /// Takes a round in.
  ///
  /// - Parameters:
  ///   - sent: what the messages tell of when they were sent.
  ///   - time: seconds, to count turns of the counter between rounds.
  ///   - carriers: what the tag's receiver said of the carriers, as `DownlinkExchange.Clocks` counts
  ///     them; used until two messages can be compared.
  /// - Throws: `.unknownClockOffset` until something is known of both clocks.
  public mutating func difference(
    _ exchange: DownlinkExchange, sent: Sent = Sent(), time: Double? = nil,
    carriers: DownlinkExchange.Clocks? = nil
  ) throws(RangingFailure) -> DownlinkExchange.Difference {
    var hasCompared = (false, false)
    if let poll = sent.poll {
      hasCompared.0 = initiator.takePoll(sent: poll, received: exchange.pollReceived, time: time)
    }
    if let response = sent.response {
      hasCompared.1 = responder.takePoll(
        sent: response, received: exchange.responseReceived, time: time)
    }
    if let carriers {
      if !hasCompared.0 { initiator.takeCarrier(carriers.initiator) }
      if !hasCompared.1 { responder.takeCarrier(carriers.responder) }
    }
    guard let a = initiator.offset, let b = responder.offset else { throw .unknownClockOffset }
    return try exchange.difference(.init(initiator: a, responder: b), parameters)
  }
}
