// SPDX-License-Identifier: Apache-2.0

/// The residuals of a calibration at the measurements to which it was fitted.
package struct FitResiduals: Sendable, Hashable {
  /// The number of measurements.
  package var count: Int
  /// The root of the mean square in the unit of the quantity.
  package var rms: Double
  /// The median of the magnitudes.
  package var median: Double
  /// The 95th percentile of the magnitudes.
  package var percentile95: Double

  package init(_ residuals: [Double]) {
    count = residuals.count
    let sum = residuals.reduce(0) { $0 + $1 * $1 }
    rms = residuals.isEmpty ? 0 : (sum / Double(residuals.count)).squareRoot()
    let magnitudes = residuals.map { abs($0) }
    median = magnitudes.quantile(0.5)
    percentile95 = magnitudes.quantile(0.95)
  }
}
