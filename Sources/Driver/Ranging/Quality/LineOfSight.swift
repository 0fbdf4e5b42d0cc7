// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The receiver's diagnostics of one frame; nil where the chip does not report a value.
public struct ReceptionDiagnostics: Sendable, Hashable {
  /// The total received level in dBm.
  public var receivedPower: Double?
  /// The level of the first path in dBm.
  public var firstPathPower: Double?
  /// The signal-to-noise ratio of the strongest path minus the ratio of the first path, in dB. With
  /// several antennas, the mean of them.
  package var peakOverFirstPath: Double?
  /// The ratio of the first path's level to the noise, in dB.
  package var firstPathSNR: Double?
  /// Delay of the strongest path after the first, in nanoseconds.
  public var peakDelay: Double?
  /// Distance between the first paths of the STS and the Ipatov segment, in nanoseconds.
  public var segmentDisagreement: Double?

  /// Creates diagnostics without values.
  public init() {}
}

/// Computes the probability of a blocked direct path from the receiver's diagnostics.
///
/// A calibration may have a model that was learned from labelled measurements. Without one, each
/// diagnostic has a midpoint, where both cases are equally likely, and a width. The diagnostics are
/// combined as partly dependent evidence. A probable obstacle increases the uncertainty of a
/// distance; no distance is discarded.
public struct LineOfSightModel: Sendable, Hashable {
  /// Probability of a blocked path without diagnostics.
  public var prior = 0.15
  /// The factor on the standard deviation of a distance when the path is certainly blocked. It
  /// applies to the noise and to the errors that change within seconds.
  public var inflation = 4.0
  /// The error of a distance on a blocked path in metres, if no model was learned. In rooms of a
  /// university, its medians are 0.5 to 1.1 m, and 95 of 100 errors are below 1.4 to 3.7 m. It
  /// differs between rooms, so the deviation includes it, and it is not subtracted.
  package var detour = PathModel.Excess(mean: 1, deviation: 0.9)
  /// The model that replaces the midpoints and widths.
  package var learned: PathModel?

  /// Creates a model for a bandwidth of 500 MHz indoors.
  public init() {}

  /// Returns the probability that the direct path is blocked; nil without any diagnostic.
  public func probability(_ diagnostics: ReceptionDiagnostics) -> Double? {
    probability(diagnostics, distance: nil)
  }

  /// Returns the probability that the direct path is blocked, with the distance as an additional
  /// input.
  ///
  /// - Parameter distance: the measured distance in metres.
  package func probability(_ diagnostics: ReceptionDiagnostics, distance: Double?) -> Double? {
    if let learned {
      let known = learned.probability { index in
        PathDiagnostic(rawValue: learned.inputs[index].name).flatMap {
          diagnostics.value($0, distance: distance)
        }
      }
      if let known { return known }
    }
    // A closure over the sums would allocate without optimisation.
    var sum = (evidence: 0.0, count: 0.0)
    if let all = diagnostics.receivedPower, let first = diagnostics.firstPathPower {
      // In dB. A path is free below 6 dB and blocked above 10 dB. Source: Decawave APS006 part 3.
      Self.add(all - first, middle: 8, width: 1, to: &sum)
    }
    // This ratio repeats the difference of both levels, so it only counts where these are unknown.
    let over = diagnostics.firstPathPower == nil ? diagnostics.peakOverFirstPath : nil
    Self.add(over, middle: 6, width: 1.5, to: &sum)
    Self.add(diagnostics.peakDelay, middle: 4, width: 1.5, to: &sum)
    Self.add(diagnostics.segmentDisagreement, middle: 1, width: 0.4, to: &sum)
    guard sum.count > 0 else { return nil }
    let odds = log(prior / (1 - prior)) + log(0.85 / 0.15)
    // The values are partly dependent: n of them count as the square root of n independent ones.
    return 1 / (1 + exp(-(odds + sum.evidence / sum.count.squareRoot())))
  }

  /// - Parameters:
  ///   - middle: the value at which both cases are equally likely.
  ///   - width: the difference from `middle` that multiplies the odds of one case by e.
  private static func add(
    _ value: Double?, middle: Double, width: Double,
    to sum: inout (evidence: Double, count: Double)
  ) {
    guard let value, value.isFinite else { return }
    sum.evidence += max(-8, min(8, (value - middle) / width))
    sum.count += 1
  }

  /// Returns the standard deviation of a distance whose path is blocked with this probability: the
  /// deviation of the mixture of both cases.
  package func inflated(_ standardDeviation: Double, probability: Double?) -> Double {
    standardDeviation * varianceFactor(probability: probability).squareRoot()
  }

  /// Returns the factor on the variance of a distance whose path is blocked with this probability.
  package func varianceFactor(probability: Double?) -> Double {
    guard let probability, probability > 0 else { return 1 }
    return 1 + min(1, probability) * (inflation * inflation - 1)
  }

  /// Returns the effect on a distance whose path is blocked with this probability.
  ///
  /// - Parameter variance: the variance of the noise on a free path.
  package func effect(probability: Double?, on variance: Double) -> PathEffect {
    let part = max(0, min(1, probability ?? 0))
    guard let excess = learned?.excess else {
      let factor = varianceFactor(probability: probability)
      // Up to `prior`, a probability adds no doubt, as without diagnostics.
      let doubt = max(0, part - prior) / max(1e-9, 1 - prior)
      let square = detour.mean * detour.mean + detour.deviation * detour.deviation
      return PathEffect(variance: variance * factor, factor: factor, doubt: doubt * square)
    }
    // The mean and the variance of the mixture of a free and a blocked path.
    let added =
      part * excess.deviation * excess.deviation
      + part * (1 - part) * excess.mean * excess.mean
    return PathEffect(excess: part * excess.mean, variance: variance + added, doubt: added)
  }
}

/// The effect on a distance whose path may be blocked.
package struct PathEffect: Sendable, Hashable {
  /// The expected error in metres, to be subtracted.
  package var excess = 0.0
  /// The variance, in square metres, that filters use for the distance.
  package var variance: Double
  /// The factor on the variance of errors that change within seconds.
  package var factor = 1.0
  /// The variance of the detour in square metres. Samples on one path share it, so the stated
  /// deviation includes it, and the short-term deviation does not.
  package var doubt = 0.0

  /// Returns the variance of a single distance.
  ///
  /// - Parameter slow: the variance of errors that change within seconds on a free path.
  package func total(slow: Double) -> Double { max(variance, doubt) + factor * slow }
}
