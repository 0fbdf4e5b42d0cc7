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
  ///   - standardDeviation: carrier recovery has 0.1 ppm for one frame.
  @inlinable
  public init(_ value: Double, standardDeviation: Double = 0.1e-6) {
    self.value = value
    self.standardDeviation = standardDeviation
  }
}

/// Tracks the offset of one peer's clock against the local one.
///
/// Combines the carrier frequency offset of single frames with the time between two polls by the
/// stamps of both ends. The latter is a hundred times as exact. Between measurements the
/// offset performs a random walk, as warm crystals do. A value of fixed size: keep one for each
/// peer.
package struct ClockOffsetTracker: Sendable, Hashable {
  /// Random walk of the offset in one second, one standard deviation. 0.02 ppm: a warm crystal.
  private static var wander: Double { 0.02e-6 }
  /// Standard deviations beyond which a measurement is implausible.
  private static var gate: Double { 6.0 }
  /// Seconds between measurements where no time is given.
  private static var usualInterval: Double { 0.1 }
  /// Seconds beyond which two polls are not compared.
  private static var longestInterval: Double { 30.0 }
  /// Two offsets closer than this are equal.
  private static var sameOffset: Double { 0.5e-6 }
  /// Consecutive equal offsets that replace the known one. Where a host is late for every fourth
  /// poll, two miscounts of turns in a row are frequent, and they are equal.
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
  /// An offset far from the known one, until the next pairs of polls confirm it, and their number.
  private var candidate: Candidate?

  /// Creates a tracker for crystals without temperature control.
  package init(_ radio: TwoWayParameters = TwoWayParameters()) { self.radio = radio }

  /// Updates the offset with a poll that both ends have stamped.
  ///
  /// - Parameters:
  ///   - time: seconds on any clock that is exact to a fraction of a turn of the counter; nil if
  ///     polls are certain to follow each other within one turn.
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
    // Crystals do not jump. An apparent jump is a corrupt stamp, or a wrong count of turns by times
    // from a host that was late. The offset of a restarted peer stays the same.
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
    // A carrier offset needs no earlier poll. A large change means another peer, or a restarted
    // one.
    if isImplausible(carrier, after: seconds) { offset = nil }
    correct(carrier, after: seconds)
  }

  /// Returns the offset of the two clocks between two polls, and the seconds between the polls.
  private func compare(_ first: Poll, _ second: Poll) -> (offset: ClockOffset, seconds: Double)? {
    let counter = radio.counter
    let own = counter.interval(from: first.sent, to: second.sent)
    let other = counter.interval(from: first.received, to: second.received)
    // The clocks differ by some ticks only, never by whole turns of the counter.
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

  /// Widens the uncertainty for a time without measurements.
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
