// SPDX-License-Identifier: Apache-2.0

/// The actual variance of innovations divided by the expected variance, over the last seconds.
///
/// Measurement noise that is configured too large or too small appears in the innovations. Constant
/// and slowly changing errors do not: they look like another place.
struct LearnedNoise: Sendable, Hashable, Codable {
  /// The seconds after which the weight of a measurement has fallen to a third.
  private static let memory = 20.0
  /// The share of the variance that does not appear in innovations.
  private static let hidden = 0.2
  /// The limit of a squared innovation, in variances.
  private static let most = 9.0
  /// The mean of the limited square of a standard normal variable.
  private static let usual = 0.98
  /// The weight of the prior, as a number of measurements.
  private static let prior = 10.0

  private var count = prior
  private var sum = prior * usual

  /// - Parameter normalised: a squared innovation divided by its variance.
  mutating func add(_ normalised: Double) {
    count += 1
    sum += min(normalised, Self.most)
  }

  mutating func fade(_ seconds: Double) {
    let part = 1 / (1 + seconds / Self.memory)
    // The prior returns after a long silence.
    count = Self.prior + (count - Self.prior) * part
    sum = Self.prior * Self.usual + (sum - Self.prior * Self.usual) * part
  }

  /// The mean squared innovation divided by its variance; 1 if the deviations are right.
  var mean: Double { sum / count / Self.usual }

  /// The mean as far as filters may be compared by it.
  var usual: Double { min(max(mean, 0.02), 4) }

  /// The factor on the stated variances.
  var factor: Double {
    // A mean of few values may be small by chance, so one standard deviation is added before the
    // variance is reduced.
    let sure = mean < 1 ? min(1, mean * (1 + (2 / count).squareRoot())) : min(4, mean)
    return Self.hidden + (1 - Self.hidden) * sure
  }
}
