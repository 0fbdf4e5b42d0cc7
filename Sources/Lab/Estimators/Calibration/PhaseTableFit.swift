// SPDX-License-Identifier: Apache-2.0

package import Ranging

/// A phase difference measured at a known angle.
package struct PhaseSample: Sendable, Hashable {
  /// The angle to the plane in the middle of the pair, in radians (see `Cone`).
  package var angle: Double
  /// The phase difference in radians, wrapped or not.
  package var phase: Double

  /// Creates a sample.
  package init(angle: Double, phase: Double) {
    self.angle = angle
    self.phase = phase
  }
}

/// The offset and the table of a pair of antennas, learned from phases at known angles. These come
/// from a turntable, or a walk around the antennas (`WalkaroundCalibration`).
///
/// Phases are wrapped, and some are outliers. The curve is first unwrapped from angle to angle,
/// then fitted robustly to the wrapped residuals.
package struct PhaseTableFit: Sendable {
  package struct Parameters: Sendable, Hashable {
    /// The least spacing of the table in radians. Vendors' tables have 6 degrees.
    package var spacing = 6 * Double.pi / 180
    /// The change of the slope within a radian, one standard deviation. The phase of ideal antennas
    /// half a wavelength apart has at most 3; coupling adds ripples.
    package var bend = 6.0
    /// The number of standard deviations beyond which residuals count less (Huber's loss).
    package var tail = 1.5
    /// The number of standard deviations beyond which residuals are outliers and are ignored.
    package var gate = 4.0

    package init() {}
  }

  /// The table. Its phase straight ahead is 0, if this direction was measured.
  package let table: PhaseTable
  /// The phase straight ahead in -π..<π, from cables and chips. 0 if nothing was measured there;
  /// the table then contains the offset.
  package let offset: Double
  /// Noise of one phase in radians, one standard deviation.
  package let phaseDeviation: Double
  /// The radians by which the curve had to be changed to become monotonic. If they are much more
  /// than the noise, the phase does not determine the angle everywhere.
  package let flattened: Double
  /// The residual of each sample in radians of phase; nil for samples that are not finite.
  package let sampleResiduals: [Double?]
  /// Whether each sample was used.
  package let isUsed: [Bool]
  /// Residuals of the used samples in radians of phase.
  package let residuals: FitResiduals
  /// Residuals of the used samples in radians of angle.
  package let angleResiduals: FitResiduals

  /// Fits the table to samples.
  ///
  /// - Parameter rounds: the number of iterations in which outliers and noise are estimated.
  package init(
    _ samples: [PhaseSample], _ parameters: Parameters = Parameters(), rounds: Int = 20
  ) throws(FitFailure) {
    let usable = samples.indices.filter {
      abs(samples[$0].angle) <= 2 * .pi && abs(samples[$0].phase) < 1e6
    }
    guard usable.count >= 8 else { throw .tooFew(usable.count, needed: 8) }
    let used = usable.map { samples[$0] }
    var curve = try PhaseCurve(used, parameters)
    var noise = 0.1
    var weights = [Double](repeating: 1, count: used.count)
    var residuals = [Double](repeating: 0, count: used.count)
    for _ in 0..<rounds {
      residuals = used.map { wrapped($0.phase - curve.phase(at: $0.angle)) }
      noise = max(1e-4, 1.4826 * residuals.map { abs($0) }.quantile(0.5))
      for index in used.indices {
        let standard = abs(residuals[index]) / noise
        let isOutlier = standard > parameters.gate
        weights[index] = isOutlier ? 0 : min(1, parameters.tail / max(1e-9, standard))
      }
      guard curve.refine(used, residuals, weights, noise, parameters) else { throw .noCurve }
    }
    // If the phase does not depend on the angle, the residuals are uniform over a turn, with a
    // deviation of 1.8 rad.
    guard noise < 1 else { throw .noCurve }

    let ahead = curve.covers(0) ? curve.phase(at: 0) : 0
    offset = wrapped(ahead)
    let points = curve.points.map { (angle: $0.angle, phase: $0.phase - ahead) }
    guard let table = PhaseTable(unwrapped: points),
      abs(table.phases[table.phases.count - 1] - table.phases[0]) > 3 * noise
    else { throw .noCurve }
    self.table = table
    phaseDeviation = noise
    flattened = zip(points, table.phases).map { abs($0.phase - $1) }.max() ?? 0

    var sampleResiduals = [Double?](repeating: nil, count: samples.count)
    var isUsed = [Bool](repeating: false, count: samples.count)
    var phases: [Double] = []
    var angles: [Double] = []
    for index in usable {
      let sample = samples[index]
      let expected = table.phase(at: sample.angle)
      let residual = wrapped(sample.phase - ahead - expected)
      sampleResiduals[index] = residual
      isUsed[index] = abs(residual) <= parameters.gate * noise
      guard isUsed[index] else { continue }
      phases.append(residual)
      angles.append(table.angle(of: expected + residual).angle - sample.angle)
    }
    self.sampleResiduals = sampleResiduals
    self.isUsed = isUsed
    self.residuals = FitResiduals(phases)
    angleResiduals = FitResiduals(angles)
  }
}

extension PhaseTableFit {
  /// The errors of a table in held-out directions.
  package struct LeftOut: Sendable {
    /// Errors of single angles in radians, including outliers.
    package let angles: FitResiduals
    /// The error of the table in radians of phase, one standard deviation.
    package let modelDeviation: Double
  }

  /// Fits tables without each part of the directions in turn. Returns nil if the remaining parts do
  /// not determine a table.
  package static func leavingOut(
    _ samples: [PhaseSample], _ parameters: Parameters
  ) -> LeftOut? {
    let usable = samples.filter { abs($0.angle) <= 2 * .pi && abs($0.phase) < 1e6 }
    let parts = DirectionParts.parts(of: usable.map(\.angle))
    let fits = (0..<DirectionParts.count).map { part in
      try? PhaseTableFit(zip(usable, parts).filter { $1 != part }.map(\.0), parameters, rounds: 8)
    }
    var residuals: [(direction: Double, residual: Double)] = []
    var angles: [Double] = []
    for (sample, part) in zip(usable, parts) {
      // Directions beyond the ends of a held-out table are skipped.
      guard let fit = fits[part], let first = fit.table.angles.first,
        let last = fit.table.angles.last, first...last ~= sample.angle
      else { continue }
      let expected = fit.table.phase(at: sample.angle)
      let residual = wrapped(sample.phase - fit.offset - expected)
      residuals.append((sample.angle, residual))
      angles.append(fit.table.angle(of: expected + residual).angle - sample.angle)
    }
    guard residuals.count >= 8 else { return nil }
    return LeftOut(
      angles: FitResiduals(angles), modelDeviation: PhaseErrors(residuals).model)
  }
}
