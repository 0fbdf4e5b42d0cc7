// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An angle with its uncertainty.
public struct AngleEstimate: Sendable, Hashable {
  /// The angle in radians: azimuths are positive to the right, elevations upwards.
  public var angle: Double
  /// One standard deviation in radians.
  public var standardDeviation: Double
  /// The use of the sample: accepted, rejected, or the first one.
  public var disposition: RangeEstimate.Disposition
}

/// Tracks the angle to one peer from the phase difference of one pair of antennas.
///
/// Phases are wrapped. Where the table of the pair spans more than a turn, several angles have the
/// same wrapped phase. The tracker uses the angle that is nearest to the prediction. It does not
/// allocate for a sample.
public struct AngleTracker: Sendable {
  /// The phase difference of the pair of antennas at each angle.
  package let table: PhaseTable
  /// Noise of a phase difference in radians, one standard deviation. Boards show 3.5 to 5 degrees.
  public var phaseDeviation = 5 * Double.pi / 180
  /// The error of the table in radians of phase, one standard deviation. All samples in one
  /// direction share it, so no filter removes it.
  public var modelDeviation = 7 * Double.pi / 180
  private var estimator: RangeEstimator

  /// The limit, in radians, of the angle's error that the error of the table causes. Near ±90° the
  /// phase hardly changes with the angle, so that the error of the phase divided by the slope
  /// exceeds the possible error.
  package static let mostModelError = 20 * Double.pi / 180

  /// Creates a tracker.
  ///
  /// - Parameters:
  ///   - table: the phase difference of the pair of antennas at each angle.
  ///   - accelerationDensity: spectral density of the angular acceleration in rad²/s³. The default
  ///     suits a person who walks by at a distance of two metres.
  public init(_ table: PhaseTable, accelerationDensity: Double = 0.5) {
    self.table = table
    var parameters = RangeEstimator.Parameters()
    parameters.accelerationDensity = accelerationDensity
    parameters.initialVelocity = 0.5
    // The caller passes the acceleration, and `phaseDeviation` states the noise: neither is
    // learned.
    (parameters.learnsAcceleration, parameters.learnsNoise) = (false, false)
    (parameters.slowDeviation, parameters.initialDoubt) = (0, 0)
    parameters.gap = 2
    parameters.correlationTime = 0.02
    parameters.rejectionLimit = 5
    estimator = RangeEstimator(parameters)
  }

  /// Updates the angle with a phase difference, wrapped or not.
  ///
  /// - Parameters:
  ///   - phase: radians.
  ///   - time: seconds.
  /// - Returns: nil before the first valid sample.
  public mutating func update(phase: Double, time: Double) -> AngleEstimate? {
    guard let measured = unwrapped(phase, time: time) else { return nil }
    let sample = RangeSample(
      time: time, distance: measured.angle, standardDeviation: measured.standardDeviation)
    return estimator.update(sample).map {
      let variance =
        $0.standardDeviation * $0.standardDeviation
        + measured.modelDeviation * measured.modelDeviation
      return AngleEstimate(
        angle: $0.distance, standardDeviation: variance.squareRoot(), disposition: $0.disposition)
    }
  }

  /// Returns the angle that is nearest to the prediction among the angles with this wrapped phase.
  /// Also returns the deviations that noise and the error of the table cause, one standard
  /// deviation each.
  package func unwrapped(
    _ phase: Double, time: Double
  ) -> (angle: Double, standardDeviation: Double, modelDeviation: Double)? {
    guard abs(phase) < 1e6 else { return nil }
    let prediction = estimator.prediction(at: time)
    let isFresh = prediction.map { $0.standardDeviation < 1 } ?? false
    let (wanted, near) =
      isFresh ? (prediction?.distance ?? 0, prediction?.standardDeviation ?? 0.7) : (0, 0.7)
    let turn = 2 * Double.pi
    let span = table.span
    // Because of noise, phases can be beyond the ends of the table.
    let margin = 3 * phaseDeviation
    var candidate = phase - turn * ((phase - span.lowerBound + margin) / turn).rounded(.down)
    var best = (angle: 0.0, standardDeviation: Double.pi / 2)
    var least = Double.infinity
    while candidate <= span.upperBound + margin || least == .infinity {
      let (angle, slope) = table.angle(of: candidate)
      let deviation = min(phaseDeviation / slope, .pi / 2)
      let beyond = max(0, span.lowerBound - candidate, candidate - span.upperBound)
      let cost =
        (angle - wanted) * (angle - wanted) / (near * near + deviation * deviation)
        + beyond * beyond / (phaseDeviation * phaseDeviation)
      if cost < least { (least, best) = (cost, (angle, deviation)) }
      candidate += turn
    }
    let model = best.standardDeviation * modelDeviation / max(1e-9, phaseDeviation)
    return (best.angle, best.standardDeviation, min(model, Self.mostModelError))
  }
}

/// The circular mean of phases: the direction of the sum of their phasors.
package struct PhasorMean: Sendable, Hashable {
  private var real = 0.0
  private var imaginary = 0.0
  private var weight = 0.0

  package init() {}

  /// Adds a phase in radians; the weight is the power of its path.
  package mutating func add(_ phase: Double, weight: Double = 1) {
    guard phase.isFinite, weight > 0, weight.isFinite else { return }
    real += weight * cos(phase)
    imaginary += weight * sin(phase)
    self.weight += weight
  }

  package mutating func add(_ other: PhasorMean) {
    real += other.real
    imaginary += other.imaginary
    weight += other.weight
  }

  /// The mean in -π...π; nil if it is undefined.
  package var phase: Double? {
    weight > 0 && concentration > 1e-9 ? atan2(imaginary, real) : nil
  }

  /// The length of the mean phasor: 1 when all phases are equal, 0 when they cancel.
  package var concentration: Double {
    weight > 0 ? (real * real + imaginary * imaginary).squareRoot() / weight : 0
  }
}

/// Converts between the azimuth and the cone angle of a pair of antennas. The cone angle is the
/// angle between the signal and the plane in the middle of the pair.
package enum Cone {
  /// Returns the azimuth in radians for a measured `cone` angle and an `elevation`, both in
  /// radians. Solves sin(cone) = sin(azimuth)·cos(elevation); the result is within ±π/2.
  package static func azimuth(cone: Double, elevation: Double) -> Double {
    clampedAsin(sin(cone) / max(1e-9, cos(elevation)))
  }

  /// Returns the cone angle for an azimuth and an elevation, all in radians.
  package static func cone(azimuth: Double, elevation: Double) -> Double {
    clampedAsin(sin(azimuth) * cos(elevation))
  }
}
