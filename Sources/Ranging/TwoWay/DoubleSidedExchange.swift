// SPDX-License-Identifier: Apache-2.0

/// The stamps of double-sided two-way ranging: poll, response and final.
public struct DoubleSidedExchange: Sendable, Hashable {
  /// When the initiator sent the poll.
  package var pollSent: TickStamp
  /// When the responder received it.
  package var pollReceived: TickStamp
  /// When the responder sent the response.
  package var responseSent: TickStamp
  /// When the initiator received it.
  package var responseReceived: TickStamp
  /// When the initiator sent the final.
  package var finalSent: TickStamp
  /// When the responder received it.
  package var finalReceived: TickStamp

  /// Creates an exchange from its six stamps: each on the clock of the device that sent or received
  /// the frame.
  public init(
    pollSent: TickStamp, pollReceived: TickStamp, responseSent: TickStamp,
    responseReceived: TickStamp, finalSent: TickStamp, finalReceived: TickStamp
  ) {
    self.pollSent = pollSent
    self.pollReceived = pollReceived
    self.responseSent = responseSent
    self.responseReceived = responseReceived
    self.finalSent = finalSent
    self.finalReceived = finalReceived
  }

  package var singleSided: SingleSidedExchange {
    SingleSidedExchange(
      pollSent: pollSent, pollReceived: pollReceived, responseSent: responseSent,
      responseReceived: responseReceived)
  }

  /// Returns the distance by the asymmetric formula, which is valid for replies of different lengths:
  /// a clock offset of 20 ppm changes the result by 20 ppm of the distance, not of the replies.
  ///
  /// Source: Neirynck, Luk, McLaughlin, "An alternative double-sided two-way ranging method",
  /// WPNC 2016.
  public func distance(
    _ parameters: TwoWayParameters = TwoWayParameters()
  ) throws(RangingFailure) -> TwoWayDistance {
    let counter = parameters.counter
    let round1 = counter.interval(from: pollSent, to: responseReceived)
    let reply1 = counter.interval(from: pollReceived, to: responseSent)
    let reply2 = counter.interval(from: responseReceived, to: finalSent)
    let round2 = counter.interval(from: responseSent, to: finalReceived)
    let initiator = round1 + reply2
    let responder = round2 + reply1
    guard round1 > 0, reply1 > 0, reply2 > 0, round2 > 0 else { throw .emptyInterval }
    // Poll to final takes the same time at both ends, except for the clocks: the flight cancels.
    let offset = (initiator - responder) / responder
    let noise = parameters.stampDeviation * DeviceTick.perSecond
    let offsetDeviation = noise * 2.0.squareRoot() / responder
    guard abs(offset) <= parameters.greatestClockOffset + 6 * offsetDeviation else {
      throw .implausibleClocks
    }
    // round1·round2 - reply1·reply2 written with differences, so that products of 80 bits do not
    // cancel.
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
      standardDeviation: gain * parameters.stampDeviation * parameters.speedOfLight,
      clockOffset: offset, clockOffsetDeviation: offsetDeviation)
  }
}
