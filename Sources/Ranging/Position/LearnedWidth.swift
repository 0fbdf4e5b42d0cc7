// SPDX-License-Identifier: Apache-2.0

/// How much wider or narrower a tracker's covariance is than its model says, learned from how unexpected
/// the measurements of the last seconds are.
///
/// Noise that is supposed too large or too small shows in the innovations. Part of the variance does not:
/// constant errors, and those that change slowly, look like another position. That part is fitted to one
/// public recording, of a trolley among anchors, and others agree.
struct LearnedWidth: Sendable, Hashable {
  /// Seconds after which a measurement weighs a third.
  private static let memory = 20.0
  /// The part of the variance that innovations do not show, as it is and where noise is averaged over a
  /// recording.
  private static let hidden = (live: 0.2, recorded: 0.4)
  /// Squared innovations beyond this many variances count as this many.
  private static let most = 9.0
  /// What a normal innovation squared is then, on average.
  private static let usual = 0.98

  /// As if so many measurements had been as expected.
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
    // A long silence leaves what was supposed at first.
    count = Self.prior + (count - Self.prior) * part
    sum = Self.prior * Self.usual + (sum - Self.prior * Self.usual) * part
  }

  /// The factor on variances.
  var factor: Double { factor(Self.hidden.live) }

  /// The same for those of a smoother.
  var recordedFactor: Double { factor(Self.hidden.recorded) }

  private func factor(_ hidden: Double) -> Double {
    let mean = sum / count / Self.usual
    // The mean of few may be small by chance: what it takes off is one standard deviation less.
    let sure = mean < 1 ? min(1, mean * (1 + (2 / count).squareRoot())) : min(4, mean)
    return hidden + (1 - hidden) * sure
  }
}
