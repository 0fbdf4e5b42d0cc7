// SPDX-License-Identifier: Apache-2.0

/// Estimates the clock of a chip relative to the clock of its host, from readings of both.
///
/// A Kalman filter of the offset and the rate. Times are seconds by the host's clock.
package struct ControllerClock: Sendable {
  /// The standard deviation of the rate of an unknown crystal, whose rate is within ± 20 ppm.
  private static let unknownRate = Plan.drift * 1e-6 / 3.0.squareRoot()
  /// The growth of the rate's variance in a second: 0.02 ppm of deviation after one second.
  private static let walk = 4e-16
  /// The least standard deviation of a reading in seconds; readings are whole microseconds.
  private static let resolution = 1e-6
  /// The number of standard deviations beyond which the clock must have restarted.
  private static let gate = 6.0

  /// The time of the last reading.
  private var time: Double
  /// The chip's clock minus the host's, in seconds.
  private var offset: Double
  /// The rate of the chip's clock relative to the host's, minus 1.
  private(set) package var rate = 0.0
  private var variance: (offset: Double, both: Double, rate: Double)

  /// Creates a clock from a first reading, taken between two times of the host.
  package init(asked: Double, answered: Double, reading: Double) {
    time = (asked + answered) / 2
    offset = reading - time
    variance = (Self.variance(asked, answered), 0, Self.unknownRate * Self.unknownRate)
  }

  /// Returns the variance of a time that is equally likely anywhere between two times.
  private static func variance(_ asked: Double, _ answered: Double) -> Double {
    let width = max(0, answered - asked)
    return width * width / 12 + resolution * resolution
  }

  /// Adds a reading. Starts again if the reading contradicts all earlier readings, as after a
  /// restart of the chip.
  ///
  /// - Returns: false if the estimate started again.
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

  /// Adds a measured rate with its standard deviation.
  ///
  /// An example is the rate of a reference plus the carrier offset from a round with it.
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
