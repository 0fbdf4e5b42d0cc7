// SPDX-License-Identifier: Apache-2.0

/// The ratio of the actual variance of innovations to the expected one, over the last seconds.
///
/// Noise that is stated too large or too small appears in the innovations. A part of the variance
/// does not: constant errors, and errors that change slowly, look like another place.
struct LearnedNoise: Sendable, Hashable, Codable {
  /// Seconds after which a measurement weighs a third.
  private static let memory = 20.0
  /// The part of the variance that innovations do not show.
  private static let hidden = 0.2
  /// Squared innovations beyond this many variances count as this many.
  private static let most = 9.0
  /// The mean of the limited square of a normal innovation.
  private static let usual = 0.98
  /// The number of expected measurements that the prior is worth.
  private static let prior = 10.0

  private var count = prior
  private var sum = prior * usual

  /// - Parameter normalised: a squared innovation over its variance.
  mutating func add(_ normalised: Double) {
    count += 1
    sum += min(normalised, Self.most)
  }

  mutating func fade(_ seconds: Double) {
    let part = 1 / (1 + seconds / Self.memory)
    // A long silence restores the prior.
    count = Self.prior + (count - Self.prior) * part
    sum = Self.prior * Self.usual + (sum - Self.prior * Self.usual) * part
  }

  /// The mean squared innovation over its variance; 1 where deviations are right.
  var mean: Double { sum / count / Self.usual }

  /// The factor on variances.
  var factor: Double {
    // The mean of few may be small by chance: a reduction is one standard deviation smaller.
    let sure = mean < 1 ? min(1, mean * (1 + (2 / count).squareRoot())) : min(4, mean)
    return Self.hidden + (1 - Self.hidden) * sure
  }
}
