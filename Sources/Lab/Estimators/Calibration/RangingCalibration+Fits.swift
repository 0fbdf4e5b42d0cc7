// SPDX-License-Identifier: Apache-2.0

package import Ranging

extension RangingCalibration.Antenna {
  /// Creates an entry from the result of a fit.
  package init(_ antenna: BoardAntenna, _ delay: AntennaDelayFit.Delay) {
    self.init(antenna, delay: delay.metres, standardDeviation: delay.standardDeviation)
  }
}

extension RangingCalibration.PairDelay {
  package init(_ sum: AntennaDelayFit.Sum) {
    self.init(
      sum.a, sum.b, delay: sum.delay.metres, standardDeviation: sum.delay.standardDeviation)
  }
}

extension RangingCalibration.Pair {
  /// Creates a pair from the result of a fit; `column` names its phase difference.
  package init(column: String, _ fit: PhaseTableFit) {
    self.init(column: column)
    table = zip(fit.table.angles, fit.table.phases).map {
      RangingCalibration.Point(angleDegrees: $0 * 180 / .pi, phase: $1)
    }
    offset = fit.offset
    phaseNoise = fit.phaseDeviation
    residuals = RangingCalibration.AngleResiduals(fit.angleResiduals)
  }

  package init(column: String, _ pair: AntennaPair, residuals: FitResiduals) {
    self.init(column: column)
    if case .baseline(let x, let y, let z) = pair.model {
      let length = max(1e-9, (x * x + y * y + z * z).squareRoot())
      (axis, spacingInWavelengths) = ([x / length, y / length, z / length], length)
    }
    offset = pair.offset
    harmonics =
      pair.harmonics.isEmpty
      ? nil
      : pair.harmonics.map { RangingCalibration.Harmonic(cosine: $0.cosine, sine: $0.sine) }
    (phaseNoise, modelDeviation) = (pair.phaseDeviation, pair.modelDeviation)
    self.residuals = RangingCalibration.AngleResiduals(residuals)
  }
}

extension RangingCalibration {
  /// The weight of the usual deviation, as a number of positions. Two public recordings have 6.8
  /// and 10 cm.
  private static let priorPositions = 8.0

  /// Returns the deviation of the errors of single positions, in metres. Few positions hardly
  /// change the usual one.
  ///
  /// - Parameters:
  ///   - means: the mean error of each position after the fit.
  ///   - unknowns: the number of delays that were fitted to the means.
  static func positionDeviation(_ means: FitResiduals, unknowns: Int) -> Double {
    let usual = priorPositions * usualPositionDeviation * usualPositionDeviation
    let count = priorPositions + Double(max(0, means.count - unknowns))
    return ((usual + Double(means.count) * means.rms * means.rms) / count).squareRoot()
  }
}
