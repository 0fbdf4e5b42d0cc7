// SPDX-License-Identifier: Apache-2.0

package import Ranging

/// The result of a calibration as text, as a calibration, and as charts.
package struct CalibrationReport: Sendable {
  package let text: String
  package let calibration: RangingCalibration
  package let charts: [Chart]
  /// The reason why the calibration must not be saved; nil if it may be.
  package var problem: LabError?
}
