// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// The calibration of one chip, for storing in a file and restoring later.
package struct CalibrationBackup: Codable, Sendable, Hashable {
  package struct Device: Codable, Sendable, Hashable {
    /// The name of the family, from `DeviceProfile`.
    package var family: String
    /// The identifier of the chip, in hexadecimal; nil where it reports none.
    package var chipID: String?
    /// The version of the firmware; nil where the chip reports none.
    package var firmware: String?
    /// The version of UCI on the chip.
    package var uci: String

    enum CodingKeys: String, CodingKey {
      case family, firmware, uci
      case chipID = "chip_id"
    }
  }

  package struct Value: Codable, Sendable, Hashable {
    /// The name of a `CalibrationValue`.
    package var name: String
    /// The bytes in the order of the wire, in hexadecimal. They are written back.
    package var hex: String
    /// The value as text for users; it is not read.
    package var text: String?
  }

  /// The kind and version of the file.
  package var format: String
  /// The time of the backup, in the form of ISO 8601; nil if it was not given.
  package var created: String?
  package var device: Device
  /// All values of the chip.
  package var values: [Value]

  /// The content of `format`.
  package static let format = "swift-uwb calibration 1"

  /// Returns the values for writing to a chip.
  ///
  /// - Throws: `CalibrationError.unreadable` for text that is not hexadecimal bytes.
  package func entries() throws(CalibrationError) -> [CalibrationEntry] {
    var list: [CalibrationEntry] = []
    for value in values {
      guard let bytes = CalibrationForm.rawBytes("hex:" + value.hex), bytes.count <= 255 else {
        throw .unreadable(
          name: value.name, value: value.hex, accepted: "up to 255 bytes in hexadecimal")
      }
      list.append(CalibrationEntry(name: value.name, bytes: bytes))
    }
    return list
  }
}

extension UWBDevice {
  /// The identity of this chip, for a backup.
  package var calibrationOwner: CalibrationBackup.Device {
    var (chip, firmware): ([UInt8]?, String?) = (nil, nil)
    switch info.vendorDetails {
    case .qorvo(let details): (chip, firmware) = (details.socID, details.firmware)
    case .nxp(let details): (chip, firmware) = (details.chipID, details.firmware)
    case nil: break
    }
    let identity = chip.map { String(CalibrationForm.raw($0).dropFirst(4)) }
    return CalibrationBackup.Device(
      family: profile.name, chipID: identity?.isEmpty == true ? nil : identity,
      firmware: firmware, uci: "\(info.uciVersion)")
  }

  /// Reads all values of the chip.
  ///
  /// - Parameter created: the time, in the form of ISO 8601.
  /// - Throws: `CalibrationError`.
  package func backUpCalibration(
    created: String? = nil
  ) async throws(CalibrationError) -> CalibrationBackup {
    let entries = try await calibration()
    return CalibrationBackup(
      format: CalibrationBackup.format, created: created, device: calibrationOwner,
      values: entries.map { entry in
        let value = profile.calibration.value(named: entry.name)
        return CalibrationBackup.Value(
          name: entry.name, hex: String(CalibrationForm.raw(entry.bytes).dropFirst(4)),
          text: value.flatMap { $0.form == .bytes ? nil : $0.text(entry.bytes) })
      })
  }
}
