// SPDX-License-Identifier: Apache-2.0

/// The clock of a chip against the clock of its host, from questions and their answers.
///
/// A Kalman filter of the offset and of the rate. Times are seconds by the clock of the host.
package struct ControllerClock: Sendable {
  /// The standard deviation of the rate of an unknown crystal, whose limit is 20 ppm.
  private static let unknownRate = Plan.drift * 1e-6 / 3.0.squareRoot()
  /// The growth of the variance of the rate in a second: 0.02 ppm after a second.
  private static let walk = 4e-16
  /// The least standard deviation of an answer in seconds, whose unit is a microsecond.
  private static let resolution = 1e-6
  /// Deviations beyond which an answer belongs to a clock that has started again.
  private static let gate = 6.0

  /// The time of the last answer.
  private var time: Double
  /// Seconds of the chip beyond the ones of the host.
  private var offset: Double
  /// Seconds of the chip in a second of the host, beyond one.
  private(set) package var rate = 0.0
  private var variance: (offset: Double, both: Double, rate: Double)

  /// Creates a clock from a first answer: the chip had the reading between two times of the host.
  package init(asked: Double, answered: Double, reading: Double) {
    time = (asked + answered) / 2
    offset = reading - time
    variance = (Self.variance(asked, answered), 0, Self.unknownRate * Self.unknownRate)
  }

  /// Returns the variance of a time that is equally likely anywhere between two.
  private static func variance(_ asked: Double, _ answered: Double) -> Double {
    let width = max(0, answered - asked)
    return width * width / 12 + resolution * resolution
  }

  /// Adds an answer. Starts again from an answer that contradicts all former ones, as after a
  /// restart of the chip.
  ///
  /// - Returns: whether the clock goes on.
  package mutating func add(asked: Double, answered: Double, reading: Double) -> Bool {
    let noise = Self.variance(asked, answered)
    let now = (asked + answered) / 2
    predict(now)
    let surprise = reading - now - offset
    let sum = variance.offset + noise
    guard surprise * surprise <= Self.gate * Self.gate * sum else {
      self = ControllerClock(asked: asked, answered: answered, reading: reading)
      return false
    }
    let gain = (offset: variance.offset / sum, rate: variance.both / sum)
    offset += gain.offset * surprise
    rate += gain.rate * surprise
    variance.rate -= gain.rate * variance.both
    variance.both -= gain.offset * variance.both
    variance.offset -= gain.offset * variance.offset
    return true
  }

  /// Adds a rate with its standard deviation, such as the one of a reference plus the carrier
  /// offset that a round with the reference has measured.
  package mutating func add(rate measured: Double, deviation: Double) {
    let sum = variance.rate + deviation * deviation
    guard sum > 0 else { return }
    let surprise = measured - rate
    let gain = (offset: variance.both / sum, rate: variance.rate / sum)
    offset += gain.offset * surprise
    rate += gain.rate * surprise
    variance.offset -= gain.offset * variance.both
    variance.both -= gain.rate * variance.both
    variance.rate -= gain.rate * variance.rate
  }

  private mutating func predict(_ now: Double) {
    let passed = now - time
    (offset, variance, time) = (offset + rate * passed, grown(passed), now)
  }

  private func grown(_ passed: Double) -> (offset: Double, both: Double, rate: Double) {
    let length = abs(passed)
    return (
      variance.offset + 2 * passed * variance.both + passed * passed * variance.rate
        + Self.walk * length * length * length / 3,
      variance.both + passed * variance.rate + Self.walk * passed * length / 2,
      variance.rate + Self.walk * length
    )
  }

  /// Returns the reading of the chip at a time of the host.
  package func reading(at now: Double) -> Double { now + offset + rate * (now - time) }

  /// Returns the standard deviation of the reading.
  package func deviation(at now: Double) -> Double { max(0, grown(now - time).offset).squareRoot() }

  /// The standard deviation of the rate.
  package var rateDeviation: Double { max(0, variance.rate).squareRoot() }
}
