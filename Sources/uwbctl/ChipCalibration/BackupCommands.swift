// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import UWB
import UWBLab

extension ChipCalibration {
  struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract:
        "Save all calibration values of the chip to a file (JSON), with the name of the chip.")
    @Argument(
      help: "The file; an existing one is overwritten only with --force.",
      completion: .file(extensions: ["json"]))
    var file: String
    @Flag(help: "Overwrite the file.") var force = false
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func run() async throws {
      try await reporting {
        guard force || !FileManager.default.fileExists(atPath: file) else {
          throw Failure(.cannotCreate, "\(file) exists.", try: "Overwrite it with --force.")
        }
        let backup = try await device.withDevice(capture) { device, _ in
          try await device.backUpCalibration(created: Date.now.formatted(.iso8601))
        }
        try backup.write(to: file)
        standardError.write(
          "Saved \(backup.values.count) values of \(printable(backup.device.summary)).\n")
      }
    }
  }

  struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write the values of a backup that differ from those of the chip.",
      discussion: """
        Each value is read back. Refuses a backup of another family of chips, and warns if it is of \
        another chip: a calibration belongs to one board.
        """)
    @Argument(help: "A file written by backup.", completion: .file(extensions: ["json"]))
    var file: String
    @Flag(help: "Accept a backup of another family.") var force = false
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @OptionGroup var consent: Consent
    @Option(help: "How to print the changes: text or json.") var format = OutputFormat.text

    func run() async throws {
      try await reporting {
        let backup = try CalibrationBackup(file: file)
        try await device.withDevice(capture) { device, _ in
          let owner = device.calibrationOwner
          guard owner.family == backup.device.family || force else {
            throw Failure(
              .configuration,
              "\(file) is of the family \(backup.device.family), this chip of \(owner.family).",
              try: "Write it nevertheless with --force.")
          }
          let isOther = owner.chipID != backup.device.chipID
          try await CalibrationChange(device, backup.entries()).confirmAndWrite(
            consent, format,
            warning: isOther
              ? "The backup is of another chip: \(backup.device.summary). This is "
                + "\(owner.summary)." : nil)
        }
      }
    }
  }
}

extension CalibrationBackup.Device {
  /// The family, and what identifies the chip.
  var summary: String {
    family + (chipID.map { " with chip id \($0)" } ?? "")
      + (firmware.map { ", firmware \($0)" } ?? "")
  }
}
