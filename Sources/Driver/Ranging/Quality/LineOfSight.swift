// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Diagnostics of the receiver about one frame; nil where the chip does not report a value.
public struct ReceptionDiagnostics: Sendable, Hashable {
  /// The total received level in dBm.
  public var receivedPower: Double?
  /// The level of the first path in dBm.
  public var firstPathPower: Double?
  /// Signal-to-noise ratio of the strongest path minus the ratio of the first path, in dB; the mean
  /// if there are several antennas.
  package var peakOverFirstPath: Double?
  /// Level of the first path above the level of the noise, in dB.
  package var firstPathSNR: Double?
  /// Delay of the strongest path after the first, in nanoseconds.
  public var peakDelay: Double?
  /// Distance between the first paths of the STS and the Ipatov segment, in nanoseconds.
  public var segmentDisagreement: Double?

  /// Creates diagnostics without values.
  public init() {}
}

/// Computes the probability that the direct path is blocked from the receiver's diagnostics.
///
/// A calibration may have a model that was learned from labelled measurements. Without one, each
/// diagnostic is evidence with a width and a midpoint, where both cases are equally likely. Several
/// diagnostics are combined as half dependent. The result widens the uncertainty of a distance; it
/// never discards one.
public struct LineOfSightModel: Sendable, Hashable {
  /// Probability of a blocked path without diagnostics.
  public var prior = 0.15
  /// Factor on the standard deviation of a distance when the path is certainly blocked, for its
  /// noise and for the errors that change within seconds.
  public var inflation = 4.0
  /// The error of a distance on a blocked path in metres, by the rules. In rooms of a university
  /// its medians are 0.5 to 1.1 m, and 95 of 100 are below 1.4 to 3.7 m. It differs between rooms,
  /// so it is stated, and not subtracted.
  package var detour = PathModel.Excess(mean: 1, deviation: 0.9)
  /// Replaces the rules where it is given.
  package var learned: PathModel?

  /// Creates a model for 500 MHz indoors.
  public init() {}

  /// Returns the probability that the direct path is blocked; nil without any diagnostic.
  public func probability(_ diagnostics: ReceptionDiagnostics) -> Double? {
    probability(diagnostics, distance: nil)
  }

  /// Returns the probability with the distance as an additional input.
  ///
  /// - Parameter distance: as measured, in metres.
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
      // In dB. Below 6 dB the path is free, above 10 dB blocked. Source: Decawave APS006 part 3.
      Self.add(all - first, middle: 8, width: 1, to: &sum)
    }
    // The same quantity as the gap between both levels, where these are known.
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
  ///   - width: the difference from there that makes one case e times as likely.
  private static func add(
    _ value: Double?, middle: Double, width: Double,
    to sum: inout (evidence: Double, count: Double)
  ) {
    guard let value, value.isFinite else { return }
    sum.evidence += max(-8, min(8, (value - middle) / width))
    sum.count += 1
  }

  /// Returns the standard deviation of a distance whose path is blocked with this probability, as
  /// the mixture of both cases.
  package func inflated(_ standardDeviation: Double, probability: Double?) -> Double {
    standardDeviation * varianceFactor(probability: probability).squareRoot()
  }

  /// Returns the factor on the variance of a distance whose path is blocked with this probability.
  package func varianceFactor(probability: Double?) -> Double {
    guard let probability, probability > 0 else { return 1 }
    return 1 + min(1, probability) * (inflation * inflation - 1)
  }

  /// Returns the effect of a path that is blocked with this probability on a distance.
  ///
  /// - Parameter variance: the variance of the noise on a free path.
  package func effect(probability: Double?, on variance: Double) -> PathEffect {
    let part = max(0, min(1, probability ?? 0))
    guard let excess = learned?.excess else {
      let factor = varianceFactor(probability: probability)
      // Up to the probability of an average path, a distance is treated as without diagnostics.
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

/// The effect of a path that may be blocked on a distance.
package struct PathEffect: Sendable, Hashable {
  /// The expected error in metres, which is subtracted.
  package var excess = 0.0
  /// The variance of the distance as a measurement for filters, in square metres.
  package var variance: Double
  /// The factor on the variance of errors that change within seconds.
  package var factor = 1.0
  /// The variance of the detour in square metres. Samples of one path share it, so it is part of
  /// the stated deviation, and not of the short-term one.
  package var doubt = 0.0

  /// Returns the variance of a single distance.
  ///
  /// - Parameter slow: the variance of errors that change within seconds on a free path.
  package func total(slow: Double) -> Double { max(variance, doubt) + factor * slow }
}
