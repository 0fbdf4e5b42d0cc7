// SPDX-License-Identifier: Apache-2.0

/// The relative frequency offset of two clocks.
public struct ClockOffset: Sendable, Hashable {
  /// (rate of the initiator's clock / rate of the responder's) - 1; 1e-6 is one ppm.
  public var value: Double
  /// One standard deviation of `value`; 1e-6 is one ppm.
  public var standardDeviation: Double

  /// Creates an offset.
  ///
  /// - Parameters:
  ///   - value: 1e-6 is one ppm.
  ///   - standardDeviation: the default is the deviation of carrier recovery for one frame, 0.1
  ///     ppm.
  @inlinable
  public init(_ value: Double, standardDeviation: Double = 0.1e-6) {
    self.value = value
    self.standardDeviation = standardDeviation
  }
}

/// Tracks the offset of one peer's clock from the local clock.
///
/// The tracker combines two measurements. One is the carrier frequency offset of a frame. The other
/// compares the time between two polls by the stamps of both ends, and is a hundred times as exact.
/// Between measurements the offset performs a random walk, as warm crystals do. The tracker is a
/// value of fixed size. Use one for each peer.
package struct ClockOffsetTracker: Sendable, Hashable {
  /// The random walk of the offset in one second, one standard deviation: 0.02 ppm for warm
  /// crystals.
  private static var wander: Double { 0.02e-6 }
  /// Standard deviations beyond which a measurement is implausible.
  private static var gate: Double { 6.0 }
  /// Seconds assumed between measurements without a time.
  private static var usualInterval: Double { 0.1 }
  /// Seconds beyond which two polls are not compared.
  private static var longestInterval: Double { 30.0 }
  /// The difference below which two offsets count as equal.
  private static var sameOffset: Double { 0.5e-6 }
  /// The number of consecutive equal offsets that replace the current one. A host that is late for
  /// every fourth poll often miscounts turns of the counter twice in a row, with equal offsets.
  private static var confirmations: Int { 4 }

  /// The counter, the noise of the stamps and the greatest offset.
  package let radio: TwoWayParameters
  /// The offset; nil until one was measured.
  package private(set) var offset: ClockOffset?

  private struct Poll: Sendable, Hashable {
    var sent: TickStamp
    var received: TickStamp
    var time: Double?
  }
  private struct Candidate: Sendable, Hashable {
    var value: Double
    var count: Int
  }
  private var last: Poll?
  private var mismatches = 0
  /// An offset far from the current one, with the number of pairs of polls that had it.
  private var candidate: Candidate?

  /// Creates a tracker for crystals without temperature control.
  package init(_ radio: TwoWayParameters = TwoWayParameters()) { self.radio = radio }

  /// Updates the offset with a poll that both ends have stamped.
  ///
  /// - Parameters:
  ///   - time: seconds on a clock that is exact to a fraction of a turn of the counter. Nil if
  ///     consecutive polls are certainly within one turn.
  /// - Returns: whether the offset was updated. The first poll does not update it, nor do polls
  ///   that are too far apart, or stamps that do not belong together.
  @discardableResult
  package mutating func addPoll(
    sent: TickStamp, received: TickStamp, time: Double? = nil
  ) -> Bool {
    let poll = Poll(sent: sent, received: received, time: time)
    guard let before = last else {
      last = poll
      return false
    }
    if let from = before.time, let time, !(0...Self.longestInterval ~= time - from) {
      last = poll
      mismatches = 0
      age(by: abs(time - from))
      return false
    }
    guard let measured = compare(before, poll) else {
      // A corrupt stamp must not become the reference for the next poll.
      mismatches += 1
      if mismatches > 1 { (last, mismatches) = (poll, 0) }
      return false
    }
    mismatches = 0
    last = poll
    // Offsets of crystals do not jump, not even when a peer restarts. An apparent jump is a corrupt
    // stamp, or a wrong number of turns because the host was late.
    if isImplausible(measured.offset, after: measured.seconds) {
      let value = measured.offset.value
      let isSame = candidate.map { abs($0.value - value) < Self.sameOffset } ?? false
      let count = isSame ? (candidate?.count ?? 0) + 1 : 1
      candidate = Candidate(value: value, count: count)
      guard count >= Self.confirmations else { return false }
      offset = nil
    }
    candidate = nil
    correct(measured.offset, after: measured.seconds)
    return true
  }

  /// Updates the offset with the carrier frequency offset of a frame.
  ///
  /// - Parameter interval: seconds since the last measurement; nil if unknown.
  package mutating func addCarrier(_ carrier: ClockOffset, interval: Double? = nil) {
    guard abs(carrier.value) <= radio.greatestClockOffset, carrier.standardDeviation > 0,
      carrier.standardDeviation.isFinite
    else { return }
    let seconds = interval ?? Self.usualInterval
    // A carrier offset depends on one frame only. A large change means another peer, or a restart.
    if isImplausible(carrier, after: seconds) { offset = nil }
    correct(carrier, after: seconds)
  }

  /// Returns the offset of the two clocks between two polls, and the seconds between the polls.
  private func compare(_ first: Poll, _ second: Poll) -> (offset: ClockOffset, seconds: Double)? {
    let counter = radio.counter
    let own = counter.interval(from: first.sent, to: second.sent)
    let other = counter.interval(from: first.received, to: second.received)
    // The two intervals differ by some ticks only, so whole turns of the counter are removed.
    var difference = own - other
    difference -= counter.modulus * (difference / counter.modulus).rounded()
    var whole = own
    if let from = first.time, let to = second.time {
      let turns = ((to - from) * DeviceTick.perSecond - own) / counter.modulus
      let count = max(0, turns.rounded())
      whole += count * counter.modulus
    }
    guard whole > 0, whole * DeviceTick.seconds <= Self.longestInterval else { return nil }
    let value = difference / (whole - difference)
    let noise = radio.stampDeviation * DeviceTick.perSecond * 2.0.squareRoot() / whole
    guard abs(value) <= radio.greatestClockOffset + 6 * noise else { return nil }
    return (ClockOffset(value, standardDeviation: noise), whole * DeviceTick.seconds)
  }

  private func isImplausible(_ measured: ClockOffset, after seconds: Double) -> Bool {
    guard let known = offset else { return false }
    let innovation = measured.value - known.value
    let variance =
      known.standardDeviation * known.standardDeviation
      + Self.wander * Self.wander * seconds
      + measured.standardDeviation * measured.standardDeviation
    return innovation * innovation > Self.gate * Self.gate * variance
  }

  /// Increases the deviation for a time without measurements.
  private mutating func age(by seconds: Double) {
    guard let known = offset, seconds.isFinite else { return }
    let wandered = Self.wander * Self.wander * seconds
    offset?.standardDeviation =
      (known.standardDeviation * known.standardDeviation + wandered).squareRoot()
  }

  private mutating func correct(_ measured: ClockOffset, after seconds: Double) {
    guard let known = offset else {
      offset = measured
      return
    }
    let noise = measured.standardDeviation * measured.standardDeviation
    let wandered = Self.wander * Self.wander * max(0, seconds)
    let predicted = known.standardDeviation * known.standardDeviation + wandered
    let gain = predicted / (predicted + noise)
    offset = ClockOffset(
      known.value + gain * (measured.value - known.value),
      standardDeviation: (gain * noise).squareRoot())
  }
}
