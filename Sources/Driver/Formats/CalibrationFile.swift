// SPDX-License-Identifier: Apache-2.0

package import Ranging
package import UWB

extension RangingCalibration {
  /// Reads a calibration (JSON5).
  package static func read(_ path: String) throws(FormatError) -> RangingCalibration {
    let read: RangingCalibration = try JSONFile.read(path, as: "a calibration")
    guard read.format.map({ $0.hasPrefix("swift-uwb ") && $0.hasSuffix("calibration") }) ?? true
    else { throw .badFile(path, "unknown format \(read.format ?? "")") }
    guard (read.version ?? 1) == 1 else {
      throw .badFile(path, "unknown version \(read.version ?? 0)")
    }
    return read
  }
}

extension CalibrationBackup {
  /// Reads a backup of the calibration of a chip.
  package init(file path: String) throws(FormatError) {
    self = try JSONFile.read(path, as: "a backup of a calibration")
    guard format == Self.format else { throw .badFile(path, "unknown format \(format)") }
  }

  /// Writes the backup as JSON, completely or not at all.
  package func write(to path: String) throws(FormatError) { try JSONFile.write(self, to: path) }
}
