// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import Ranging
package import UWB

extension RangingCalibration {
  /// Reads a calibration (JSON5).
  ///
  /// - Throws: `LabError` with `.unreadable` or `.badFile`.
  public init(file path: String) throws(LabError) {
    self = try JSONFile.read(path, as: "a calibration")
    guard format.map({ $0.hasPrefix("swift-uwb ") && $0.hasSuffix("calibration") }) ?? true else {
      throw .badFile(path, "unknown format \(format ?? "")")
    }
    guard (version ?? 1) == 1 else { throw .badFile(path, "unknown version \(version ?? 0)") }
  }

  /// Writes the calibration as JSON, completely or not at all.
  ///
  /// - Throws: `LabError` with `.notCreated`.
  public func write(to path: String) throws(LabError) { try JSONFile.write(self, to: path) }

  /// Merges the calibration into a file: other boards and pairs in it stay.
  ///
  /// - Throws: `LabError` with `.unreadable`, `.badFile` or `.notCreated`.
  public func merge(intoFile path: String) throws(LabError) {
    var whole = RangingCalibration()
    if FileManager.default.fileExists(atPath: path) { whole = try RangingCalibration(file: path) }
    whole.merge(self)
    try whole.write(to: path)
  }

  /// A line on how well distances fit.
  package var summary: String {
    let fit = residuals.map {
      "; \($0.count) distances fit to \(fixed($0.rms * 100, 1)) cm RMS, median "
        + "\(fixed($0.median * 100, 1)) cm, 95 % below \(fixed($0.percentile95 * 100, 1)) cm"
    }
    return "delay \(fixed(delay ?? 0, 4)) m, \(powerBiasKnots?.count ?? 0) levels\(fit ?? "")"
  }
}

extension CalibrationBackup {
  /// Reads a backup of the calibration of a chip.
  package init(file path: String) throws(LabError) {
    self = try JSONFile.read(path, as: "a backup of a calibration")
    guard format == Self.format else { throw .badFile(path, "unknown format \(format)") }
  }

  /// Writes the backup as JSON, completely or not at all.
  package func write(to path: String) throws(LabError) { try JSONFile.write(self, to: path) }
}
