// SPDX-License-Identifier: Apache-2.0

/// The ratio of a tracker's actual covariance to its model's covariance. It is learned from the
/// innovations of recent seconds.
///
/// Innovations show whether the assumed noise is too large or too small. They do not show all of
/// the variance: constant errors, and errors that change slowly, look like another position. The
/// hidden share was fitted to one public recording, of a trolley among anchors; others agree with
/// it.
struct LearnedWidth: Sendable, Hashable {
  /// The seconds after which the weight of a measurement has fallen to a third.
  private static let memory = 20.0
  /// The least factor: the share of the variance that innovations do not show.
  ///
  /// It is larger for recordings, in which smoothing reduces the noise.
  private static let hidden = (live: 0.275, recorded: 0.455)
  /// The hidden share with differences of ranges, which is added to the share that innovations
  /// show.
  ///
  /// Each difference contains the errors of two anchors. In simulations, the larger of the two
  /// shares alone is too small.
  private static let hiddenOfDifferences = (live: 0.2, recorded: 0.4)
  /// The limit of a squared innovation divided by its variance.
  private static let most = 9.0
  /// The mean square of a standard normal variable, with that limit.
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
    // Without measurements for a long time, only the prior remains.
    count = Self.prior + (count - Self.prior) * part
    sum = Self.prior * Self.usual + (sum - Self.prior * Self.usual) * part
  }

  /// The factor on the stated variances.
  var factor: Double { factor(Self.hidden.live, Self.hiddenOfDifferences.live) }

  /// The factor on the covariances of a smoother.
  var recordedFactor: Double {
    factor(Self.hidden.recorded, Self.hiddenOfDifferences.recorded)
  }

  private func factor(_ hidden: Double, _ added: Double) -> Double {
    let mean = sum / count / Self.usual
    // The mean of few values may be small by chance. It reduces the variance only after one
    // standard deviation was added.
    let sure = mean < 1 ? min(1, mean * (1 + (2 / count).squareRoot())) : min(4, mean)
    return hasDifferences ? added + (1 - added) * sure : max(hidden, sure)
  }
}
