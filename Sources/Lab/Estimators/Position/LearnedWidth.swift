// SPDX-License-Identifier: Apache-2.0

/// The ratio of a tracker's actual covariance to the covariance of its model, learned from the
/// innovations of the last seconds.
///
/// Noise that is assumed too large or too small appears in the innovations. A part of the variance
/// does not: constant errors, and errors that change slowly, look like another position. This part
/// was fitted to one public recording, of a trolley among anchors; others agree.
struct LearnedWidth: Sendable, Hashable {
  /// Seconds after which a measurement weighs a third.
  private static let memory = 20.0
  /// The least factor: the part of the variance that innovations do not show, live, and where a
  /// recording averages the noise.
  private static let hidden = (live: 0.275, recorded: 0.455)
  /// The hidden part with differences. It is added to the part that innovations show: each
  /// difference has the errors of two anchors. The larger of both is too small for them in
  /// simulations.
  private static let hiddenOfDifferences = (live: 0.2, recorded: 0.4)
  /// Squared innovations beyond this many variances count as this many.
  private static let most = 9.0
  /// The mean of the limited square of a normal innovation.
  private static let usual = 0.98

  /// The number of expected measurements that the prior is worth.
  private static let prior = 10.0

  private var count = prior
  private var sum = prior * usual
  private var hasDifferences = false

  /// - Parameters:
  ///   - normalised: a squared innovation over its variance.
  ///   - isDifference: whether it is the innovation of a difference of ranges.
  mutating func add(_ normalised: Double, isDifference: Bool = false) {
    if isDifference { hasDifferences = true }
    count += 1
    sum += min(normalised, Self.most)
  }

  mutating func fade(_ seconds: Double) {
    let part = 1 / (1 + seconds / Self.memory)
    // A long silence restores the prior.
    count = Self.prior + (count - Self.prior) * part
    sum = Self.prior * Self.usual + (sum - Self.prior * Self.usual) * part
  }

  /// The factor on variances.
  var factor: Double { factor(Self.hidden.live, Self.hiddenOfDifferences.live) }

  /// The factor on the variances of a smoother.
  var recordedFactor: Double {
    factor(Self.hidden.recorded, Self.hiddenOfDifferences.recorded)
  }

  private func factor(_ hidden: Double, _ added: Double) -> Double {
    let mean = sum / count / Self.usual
    // The mean of few may be small by chance: a reduction is one standard deviation smaller.
    let sure = mean < 1 ? min(1, mean * (1 + (2 / count).squareRoot())) : min(4, mean)
    return hasDifferences ? added + (1 - added) * sure : max(hidden, sure)
  }
}
