// SPDX-License-Identifier: Apache-2.0

/// What the receiver says of a frame, as far as it does.
public struct ReceptionDiagnostics: Sendable, Hashable {
  /// Level of all that was received, in dBm.
  public var receivedPower: Double?
  /// Level of the first path, in dBm.
  public var firstPathPower: Double?
  /// Signal over noise of the strongest path less that of the first path, in dB; the mean over
  /// antennas where there are several.
  public var peakOverFirstPath: Double?
  /// How much later the strongest path is than the first, in nanoseconds.
  public var peakDelay: Double?
  /// How far the first path of the STS segment is from that of the Ipatov segment, in nanoseconds.
  public var segmentDisagreement: Double?

  /// Nothing known.
  public init() {}
}

/// The probability that the direct path is blocked, from what the receiver says.
///
/// Each diagnostic is a piece of evidence with a level in the middle between both cases and a width;
/// several are taken together as if they were half dependent, which they are. Used to inflate
/// uncertainty, never to discard.
public struct LineOfSightModel: Sendable, Hashable {
  /// How one diagnostic tells.
  public struct Evidence: Sendable, Hashable {
    /// Where both cases are as likely.
    public var middle: Double
    /// The difference from there that makes one case e times as likely.
    public var width: Double

    /// From its parts.
    public init(middle: Double, width: Double) {
      self.middle = middle
      self.width = width
    }
  }

  /// Received power over first-path power in dB. Below 6 dB the path is free, above 10 dB blocked.
  ///
  /// Source: Decawave APS006 part 3.
  public var powerRatio = Evidence(middle: 8, width: 1)
  /// Strongest over first path in dB.
  public var peakOverFirstPath = Evidence(middle: 6, width: 1.5)
  /// Delay of the strongest path in nanoseconds.
  public var peakDelay = Evidence(middle: 4, width: 1.5)
  /// Disagreement of two segments in nanoseconds.
  public var segmentDisagreement = Evidence(middle: 1, width: 0.4)
  /// Probability of a blocked path when nothing is known of the frame.
  public var prior = 0.15
  /// What the standard deviation of a distance is multiplied by when the path is surely blocked.
  public var inflation = 4.0

  /// Values for 500 MHz indoors.
  public init() {}

  /// The probability that the direct path is blocked; nil when no diagnostic is known.
  public func probability(_ diagnostics: ReceptionDiagnostics) -> Double? {
    // Not a closure over the sums: without optimisation it would allocate.
    var sum = (evidence: 0.0, count: 0.0)
    if let all = diagnostics.receivedPower, let first = diagnostics.firstPathPower {
      Self.add(all - first, powerRatio, to: &sum)
    }
    Self.add(diagnostics.peakOverFirstPath, peakOverFirstPath, to: &sum)
    Self.add(diagnostics.peakDelay, peakDelay, to: &sum)
    Self.add(diagnostics.segmentDisagreement, segmentDisagreement, to: &sum)
    guard sum.count > 0 else { return nil }
    let odds = Functions.logarithm(prior / (1 - prior)) + Functions.logarithm(0.85 / 0.15)
    // Half dependent: n pieces weigh as the root of n independent ones.
    return 1 / (1 + Functions.exponential(-(odds + sum.evidence / sum.count.squareRoot())))
  }

  private static func add(
    _ value: Double?, _ evidence: Evidence, to sum: inout (evidence: Double, count: Double)
  ) {
    guard let value, value.isFinite else { return }
    sum.evidence += max(-8, min(8, (value - evidence.middle) / evidence.width))
    sum.count += 1
  }

  /// The standard deviation of a distance whose path is blocked with a probability: of the mixture.
  public func inflated(_ standardDeviation: Double, probability: Double?) -> Double {
    guard let probability, probability > 0 else { return standardDeviation }
    let part = min(1, probability)
    return standardDeviation * (1 + part * (inflation * inflation - 1)).squareRoot()
  }
}
