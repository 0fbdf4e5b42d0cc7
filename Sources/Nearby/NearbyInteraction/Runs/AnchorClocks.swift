// SPDX-License-Identifier: Apache-2.0
internal import Ranging

/// The clocks of anchors relative to the tag's clock, and the differences of distances that they
/// give.
struct AnchorClocks: Sendable {
  typealias Message = NIDLTDOAMeasurement.Values

  private struct Pair: Hashable {
    var initiator: Int
    var responder: Int
    var round: Int
  }

  /// The clocks of pairs of anchors whose messages have times of the anchors' own time bases.
  private var pairs: [Pair: DownlinkRanging] = [:]
  /// The clock of the common time base, by the messages of an initiator.
  private var common: [Int: ClockOffsetTracker] = [:]
  private let parameters = TwoWayParameters()

  /// Compares the common clock with the tag's by the messages of an initiator.
  mutating func add(_ poll: Message, _ final: Message?) {
    guard poll.isCommonTimeBase == true else { return }
    var clock = common[poll.address] ?? ClockOffsetTracker(parameters)
    if clock.offset == nil, let carrier = poll.carrier { clock.addCarrier(carrier) }
    for message in [poll, final].compactMap({ $0 }) {
      clock.addPoll(sent: message.sent, received: message.received)
    }
    common[poll.address] = clock
  }

  /// Returns the distance to a responder minus the distance to the initiator; nil if a clock is
  /// missing, if the reply time of an own time base is missing, or if the difference is
  /// implausible.
  mutating func difference(
    _ poll: Message, _ response: Message, _ final: Message?, from start: SIMD3<Double>,
    to end: SIMD3<Double>
  ) -> (metres: Double, standardDeviation: Double)? {
    if response.isCommonTimeBase == true { return difference(poll, response) }
    guard let reply = response.responderReply, reply > 0 else { return nil }
    let back = final == nil ? 0 : response.initiatorReply ?? 0
    let flight = response.anchorFlight.flatMap { $0 > 0 ? Double($0) : nil }
    let exchange = DownlinkExchange(
      pollReceived: poll.received, responseReceived: response.received,
      finalReceived: back > 0 ? final?.received : nil, responderReply: Double(reply),
      initiatorReply: back > 0 ? Double(back) : nil,
      anchorFlight: flight ?? DownlinkExchange.flight(from: start, to: end))
    var carriers: (initiator: ClockOffset, responder: ClockOffset)?
    if let first = poll.carrier, let second = response.carrier { carriers = (first, second) }
    let pair = Pair(
      initiator: poll.address, responder: response.address, round: response.round)
    let found = try? pairs[pair, default: DownlinkRanging(parameters)].difference(
      exchange, sent: (poll.sent, response.sent), carriers: carriers)
    return found.map { ($0.metres, $0.standardDeviation) }
  }

  /// Returns the difference from times of the common time base, which need no reply time.
  private func difference(
    _ poll: Message, _ response: Message
  ) -> (metres: Double, standardDeviation: Double)? {
    guard let clock = common[poll.address]?.offset else { return nil }
    let counter = parameters.counter
    let received = counter.interval(from: poll.received, to: response.received)
    let sent = counter.interval(from: poll.sent, to: response.sent)
    let metres = DeviceTick.seconds * parameters.speedOfLight
    // The noise of the tag's two receptions.
    let noise = 2.0.squareRoot() * parameters.stampDeviation * parameters.speedOfLight
    let drift = received * clock.standardDeviation * metres
    return (
      (received - sent + received * clock.value) * metres,
      (noise * noise + drift * drift).squareRoot()
    )
  }
}

extension NIDLTDOAMeasurement.Values {
  fileprivate var sent: TickStamp { TickStamp(UInt64(bitPattern: rawTransmitTime)) }
  fileprivate var received: TickStamp { TickStamp(UInt64(bitPattern: rawReceiveTime)) }
  /// The sender's clock rate relative to the tag's; nil for 0, which chips report instead of a
  /// missing value.
  fileprivate var carrier: ClockOffset? {
    carrierFrequencyOffset == 0 ? nil : ClockOffset(carrierFrequencyOffset)
  }
}
