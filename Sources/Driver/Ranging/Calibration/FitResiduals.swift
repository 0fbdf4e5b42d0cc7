// SPDX-License-Identifier: Apache-2.0

/// The residuals of a calibration at the measurements it was fitted to.
package struct FitResiduals: Sendable, Hashable {
  /// Measurements used.
  package var count: Int
  /// Root of the mean square in the unit of the quantity.
  package var rms: Double
  /// Median of the magnitude.
  package var median: Double
  /// The 95th percentile of the magnitude.
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
