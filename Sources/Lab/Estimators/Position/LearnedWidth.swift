// SPDX-License-Identifier: Apache-2.0

/// The ratio of a tracker's actual covariance to the covariance of its model, learned from the
/// innovations of the last seconds.
///
/// Noise that is assumed too large or too small appears in the innovations. A part of the variance
/// does not: constant errors, and errors that change slowly, look like another position. This part
/// was fitted to one public recording, of a trolley among anchors; others agree.
struct LearnedWidth: Sendable, Hashable {
  /// The seconds after which the weight of a measurement has fallen to a third.
  private static let memory = 20.0
  /// The least factor: the share of the variance that does not appear in innovations.
  ///
  /// It is larger for recordings, which average the noise.
  private static let hidden = (live: 0.275, recorded: 0.455)
  /// The hidden share with differences. It is added to the share that innovations show.
  ///
  /// Each difference contains the errors of two anchors. In simulations, the larger of both shares
  /// is too small.
  private static let hiddenOfDifferences = (live: 0.2, recorded: 0.4)
  /// The limit of a squared innovation, in variances.
  private static let most = 9.0
  /// The mean of the limited square of a standard normal variable.
  private static let usual = 0.98

  /// The weight of the prior, as a number of measurements.
  private static let prior = 10.0

  private var count = prior
  private var sum = prior * usual
  private var hasDifferences = false

  /// - Parameters:
  ///   - normalised: a squared innovation divided by its variance.
  ///   - isDifference: whether the innovation is of a difference of ranges.
  mutating func add(_ normalised: Double, isDifference: Bool = false) {
    if isDifference { hasDifferences = true }
    count += 1
    sum += min(normalised, Self.most)
  }

  mutating func fade(_ seconds: Double) {
    let part = 1 / (1 + seconds / Self.memory)
    // The prior returns after a long silence.
    count = Self.prior + (count - Self.prior) * part
    sum = Self.prior * Self.usual + (sum - Self.prior * Self.usual) * part
  }

  /// The factor on the stated variances.
  var factor: Double { factor(Self.hidden.live, Self.hiddenOfDifferences.live) }

  /// The factor on the variances of a smoother.
  var recordedFactor: Double {
    factor(Self.hidden.recorded, Self.hiddenOfDifferences.recorded)
  }

  private func factor(_ hidden: Double, _ added: Double) -> Double {
    let mean = sum / count / Self.usual
    // A mean of few values may be small by chance, so one standard deviation is added before the
    // variance is reduced.
    let sure = mean < 1 ? min(1, mean * (1 + (2 / count).squareRoot())) : min(4, mean)
    return hasDifferences ? added + (1 - added) * sure : max(hidden, sure)
  }
}
