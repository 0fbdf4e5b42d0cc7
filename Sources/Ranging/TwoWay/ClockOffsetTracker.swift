// SPDX-License-Identifier: Apache-2.0

/// How the clock of one peer compares with the own one, over time.
///
/// Two sources are joined: what the receiver says of the carrier of single frames, and the time
/// between two polls as both ends stamped them. The second is a hundred times as exact. Between
/// them the offset wanders as warm crystals do. Keep one for each peer: a value of fixed size.
public struct ClockOffsetTracker: Sendable, Hashable {
  /// How oscillators and receivers behave.
  public struct Parameters: Sendable, Hashable {
    /// How far the offset wanders in a second, one standard deviation. 0.02 ppm: a warm crystal.
    public var wander = 0.02e-6
    /// Surprises beyond so many standard deviations are not believed.
    public var gate = 6.0
    /// Seconds between measurements when nothing tells.
    public var usualInterval = 0.1
    /// Seconds after which two polls are not compared any more: the offset has wandered.
    public var longestInterval = 30.0

    /// Values for crystals without temperature control.
    public init() {}
  }

  /// How oscillators and receivers behave.
  public let parameters: Parameters
  /// The counter, the noise of the stamps and the greatest offset.
  public let radio: TwoWayParameters
  /// The offset; nil until something is known.
  public private(set) var offset: ClockOffset?

  private struct Poll: Sendable, Hashable {
    var sent: TickStamp
    var received: TickStamp
    var time: Double?
  }
  private var last: Poll?
  private var refusals = 0
  /// An offset far from the known one, which the next pair of polls confirms or not.
  private var candidate: Double?

  /// A tracker that knows nothing.
  public init(
    _ radio: TwoWayParameters = TwoWayParameters(), _ parameters: Parameters = Parameters()
  ) {
    self.radio = radio
    self.parameters = parameters
  }

  /// Takes a poll in that both ends have stamped.
  ///
  /// - Parameters:
  ///   - time: when it was, in seconds on any clock to which a turn of the counter is long; nil
  ///     where polls are certain to follow each other within one turn.
  /// - Returns: whether the pair of polls said something. It does not when it is the first, the two
  ///   are too far apart, or the stamps do not belong together.
  @discardableResult
  public mutating func takePoll(
    sent: TickStamp, received: TickStamp, time: Double? = nil
  ) -> Bool {
    let poll = Poll(sent: sent, received: received, time: time)
    guard let before = last else {
      last = poll
      return false
    }
    if let from = before.time, let time, !(0...parameters.longestInterval ~= time - from) {
      last = poll
      refusals = 0
      age(by: abs(time - from))
      return false
    }
    guard let measured = compare(before, poll) else {
      // One corrupt stamp must not become what the next poll is compared with.
      refusals += 1
      if refusals > 1 { (last, refusals) = (poll, 0) }
      return false
    }
    refusals = 0
    last = poll
    // Crystals do not jump. What looks like it is a wrong count of turns, because the times are
    // those of a host that was late, or a corrupt stamp; a peer that began again stays where it is.
    if isSurprising(measured.offset, after: measured.seconds) {
      let isConfirmed = candidate.map { abs($0 - measured.offset.value) < Self.sameOffset }
      candidate = measured.offset.value
      guard isConfirmed == true else { return false }
      offset = nil
    }
    candidate = nil
    join(measured.offset, after: measured.seconds)
    return true
  }

  /// Two offsets closer than this, half a ppm, are one: nothing that was miscounted repeats so well.
  private static var sameOffset: Double { 0.5e-6 }

  /// Takes in what the receiver says of the carrier of a frame.
  ///
  /// - Parameter interval: seconds since the last measurement; nil where nothing tells.
  public mutating func takeCarrier(_ carrier: ClockOffset, interval: Double? = nil) {
    guard abs(carrier.value) <= radio.greatestClockOffset, carrier.standardDeviation > 0,
      carrier.standardDeviation.isFinite
    else { return }
    let seconds = interval ?? parameters.usualInterval
    // Each frame speaks for itself: another peer, or one that began again.
    if isSurprising(carrier, after: seconds) { offset = nil }
    join(carrier, after: seconds)
  }

  /// The offset of the two clocks between two polls, and the seconds between these.
  private func compare(_ first: Poll, _ second: Poll) -> (offset: ClockOffset, seconds: Double)? {
    let counter = radio.counter
    let own = counter.interval(from: first.sent, to: second.sent)
    let other = counter.interval(from: first.received, to: second.received)
    // The clocks differ by ticks, not by turns of the counter.
    var difference = own - other
    difference -= counter.modulus * (difference / counter.modulus).rounded()
    var whole = own
    if let from = first.time, let to = second.time {
      let turns = ((to - from) * DeviceTick.perSecond - own) / counter.modulus
      let count = max(0, turns.rounded())
      whole += count * counter.modulus
    }
    guard whole > 0, whole * DeviceTick.seconds <= parameters.longestInterval else { return nil }
    let value = difference / (whole - difference)
    let noise = radio.stampDeviation * DeviceTick.perSecond * 2.0.squareRoot() / whole
    guard abs(value) <= radio.greatestClockOffset + 6 * noise else { return nil }
    return (ClockOffset(value, standardDeviation: noise), whole * DeviceTick.seconds)
  }

  private func isSurprising(_ measured: ClockOffset, after seconds: Double) -> Bool {
    guard let known = offset else { return false }
    let surprise = measured.value - known.value
    let variance =
      known.standardDeviation * known.standardDeviation
      + parameters.wander * parameters.wander * seconds
      + measured.standardDeviation * measured.standardDeviation
    return surprise * surprise > parameters.gate * parameters.gate * variance
  }

  /// The offset wanders while nothing is heard.
  private mutating func age(by seconds: Double) {
    guard let known = offset, seconds.isFinite else { return }
    let wandered = parameters.wander * parameters.wander * seconds
    offset?.standardDeviation =
      (known.standardDeviation * known.standardDeviation + wandered).squareRoot()
  }

  private mutating func join(_ measured: ClockOffset, after seconds: Double) {
    guard let known = offset else {
      offset = measured
      return
    }
    let noise = measured.standardDeviation * measured.standardDeviation
    let wandered = parameters.wander * parameters.wander * max(0, seconds)
    let predicted = known.standardDeviation * known.standardDeviation + wandered
    let gain = predicted / (predicted + noise)
    offset = ClockOffset(
      known.value + gain * (measured.value - known.value),
      standardDeviation: (gain * noise).squareRoot())
  }
}
