// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import UWB

extension CalibrationCommand {
  struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write everything the chip has to a file (JSON), with the name of the chip.")
    @Argument(
      help: "The file; one that exists is not overwritten without --force.",
      completion: .file(extensions: ["json"]))
    var file: String
    @Flag(help: "Overwrite the file.") var force = false
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func run() async throws {
      try await calibrating {
        guard force || !FileManager.default.fileExists(atPath: file) else {
          standardError.write(
            "uwbctl: \(printable(file)) exists.\n  try: --force overwrites it.\n")
          throw ExitCode(ExitStatus.cannotCreate.rawValue)
        }
        let backup = try await device.withDevice(capture) { device, _ in
          try await device.backUpCalibration(created: Date.now.formatted(.iso8601))
        }
        do {
          try BackupFile.write(backup, to: file)
        } catch {
          standardError.write("uwbctl: \(printable(file)) cannot be written: \(error)\n")
          throw ExitCode(ExitStatus.cannotCreate.rawValue)
        }
        standardError.write(
          "\(backup.values.count) values of \(printable(backup.device.summary)).\n")
      }
    }
  }

  struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write the values of a backup that differ, and read each one back.",
      discussion: """
        A backup of another family of chips is refused. One of another chip of the same family is \
        taken, but a calibration belongs to one board.
        """)
    @Argument(help: "A file that backup has written.", completion: .file(extensions: ["json"]))
    var file: String
    @Flag(help: "Also a backup of another family.") var force = false
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @OptionGroup var consent: Consent
    @Option(help: "How to print the changes: text or json.") var format = OutputFormat.text

    func run() async throws {
      try await calibrating {
        let backup: CalibrationBackup
        do { backup = try BackupFile.read(file) } catch let error as CaptureError {
          throw error
        } catch {
          standardError.write(
            "uwbctl: \(printable(file)) is no backup of a calibration.\n  try: uwbctl calibration "
              + "backup writes one.\n")
          throw ExitCode(ExitStatus.data.rawValue)
        }
        try await device.withDevice(capture) { device, _ in
          let owner = device.calibrationOwner
          guard owner.family == backup.device.family || force else {
            standardError.write(
              "uwbctl: \(printable(file)) is of a \(printable(backup.device.family)), this is a "
                + "\(printable(owner.family)).\n  try: --force takes it nevertheless.\n")
            throw ExitCode(ExitStatus.configuration.rawValue)
          }
          let isOther = owner.chipID != backup.device.chipID
          try await CalibrationChange(device, backup.entries(), format).carryOut(
            consent,
            warning: isOther
              ? "The backup is of another chip: \(backup.device.summary). This is "
                + "\(owner.summary)." : nil)
        }
      }
    }
  }
}

/// Backups as files.
enum BackupFile {
  struct NoBackup: Error {}

  static func write(_ backup: CalibrationBackup, to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    var data = try encoder.encode(backup)
    data.append(0x0A)
    try data.write(to: URL(filePath: path), options: .atomic)
  }

  static func read(_ path: String) throws -> CalibrationBackup {
    let bytes = try CaptureReader.contents(ofFile: path, limit: 1 << 24)
    let backup = try JSONDecoder().decode(CalibrationBackup.self, from: Data(bytes))
    guard backup.format == CalibrationBackup.format else { throw NoBackup() }
    return backup
  }
}

extension CalibrationBackup.Device {
  /// For people: the family, and what tells the chip from others.
  var summary: String {
    family + (chipID.map { " with chip id \($0)" } ?? "")
      + (firmware.map { ", firmware \($0)" } ?? "")
  }
}
