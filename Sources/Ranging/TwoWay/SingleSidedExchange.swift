// SPDX-License-Identifier: Apache-2.0

/// The relative frequency offset of two clocks.
public struct ClockOffset: Sendable, Hashable {
  /// (rate of the initiator's clock / rate of the responder's) - 1; 1e-6 is one ppm.
  public var value: Double
  /// One standard deviation of `value`.
  public var standardDeviation: Double

  /// Creates an offset.
  ///
  /// - Parameter standardDeviation: 0.1 ppm is what carrier recovery gives for one frame.
  @inlinable
  public init(_ value: Double, standardDeviation: Double = 0.1e-6) {
    self.value = value
    self.standardDeviation = standardDeviation
  }
}

/// The stamps of single-sided two-way ranging: poll and response.
public struct SingleSidedExchange: Sendable, Hashable {
  /// When the initiator sent the poll.
  package var pollSent: TickStamp
  /// When the responder received it.
  package var pollReceived: TickStamp
  /// When the responder sent the response.
  package var responseSent: TickStamp
  /// When the initiator received it.
  package var responseReceived: TickStamp

  /// Creates an exchange from its four stamps.
  public init(
    pollSent: TickStamp, pollReceived: TickStamp, responseSent: TickStamp,
    responseReceived: TickStamp
  ) {
    self.pollSent = pollSent
    self.pollReceived = pollReceived
    self.responseSent = responseSent
    self.responseReceived = responseReceived
  }

  /// Returns the distance, with the reply converted to the initiator's clock.
  ///
  /// - Parameter offset: an error of 0.1 ppm costs 1.5 cm for each millisecond of reply.
  public func distance(
    offset: ClockOffset, _ parameters: TwoWayParameters = TwoWayParameters()
  ) throws(RangingFailure) -> TwoWayDistance {
    let counter = parameters.counter
    let round = counter.interval(from: pollSent, to: responseReceived)
    let reply = counter.interval(from: pollReceived, to: responseSent)
    guard round > 0, reply > 0 else { throw .emptyInterval }
    guard abs(offset.value) <= parameters.greatestClockOffset else { throw .implausibleClocks }
    let flight = ((round - reply) - reply * offset.value) / 2
    let distance = try parameters.checked(ticks: flight)
    let byClock = reply * DeviceTick.seconds * offset.standardDeviation
    let byStamps = parameters.stampDeviation * 2.0.squareRoot()
    return TwoWayDistance(
      distance: distance,
      standardDeviation: (byClock * byClock + byStamps * byStamps).squareRoot() / 2
        * parameters.speedOfLight,
      clockOffset: offset.value, clockOffsetDeviation: offset.standardDeviation)
  }
}
