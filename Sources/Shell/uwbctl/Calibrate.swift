// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import FoundationEssentials
import UCI
import UWB
import UWBTools

struct Calibrate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read and write a chip's stored calibration.",
    discussion: """
      get, set, backup and restore read and write the values stored in a chip; list shows their \
      names. Qorvo's chips have named keys (ant0.ch9.ant_delay), NXP's have numbered parameters of \
      each channel, which have names here (ch9.rx_ant_delay). These commands reset the chip, which \
      ends its sessions. Make a backup before you change anything:
        uwbctl calibrate backup board7.json --device /dev/ttyACM0
        uwbctl calibrate set ant0.ch9.ant_delay=16459 --device /dev/ttyACM0
        uwbctl calibrate restore board7.json --device /dev/ttyACM0

      uwblab calibrate measures the errors of boards in distances and angles.
      """,
    subcommands: [
      ChipCalibration.List.self, ChipCalibration.Get.self, ChipCalibration.SetValues.self,
      ChipCalibration.Backup.self, ChipCalibration.Restore.self,
    ])
}

/// The subcommands of `calibrate`.
enum ChipCalibration {
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the values that chips may have, and what they accept.",
      discussion: "No device is needed.")

    enum Family: String, ExpressibleByArgument, CaseIterable {
      case all, qorvo, nxp
      var schemes: [CalibrationScheme] {
        switch self {
        case .all: [.namedKeys, .numberedParameters]
        case .qorvo: [.namedKeys]
        case .nxp: [.numberedParameters]
        }
      }
    }

    @Argument(help: "List only values whose names contain this.") var part: String?
    @Option(help: "The family of chips.") var family = Family.all
    @Option(help: "Output format.") var format = OutputFormat.text

    func run() {
      let values = family.schemes.flatMap(\.values).filter { value in
        part.map { value.name.contains($0) } ?? true
      }
      format.print(values, Self.json) { value in
        value.name.left(42) + value.form.accepted + (value.unit.map { ", in \($0)" } ?? "")
          + (value.summary.map { ". \($0)" } ?? "") + "\n"
      }
    }

    static let json = JSONTable<CalibrationValue>("calibrate list", each: "known value") {
      $0.key("name", "name of the value") { $0.name }
      $0.key("accepts", "accepted values") { $0.form.accepted }
      $0.key("unit", "unit of its numbers") { $0.unit }
      $0.key("summary", "description") { $0.summary }
    }
  }

  struct Get: DeviceCommand, ResultCommand {
    static let configuration = CommandConfiguration(abstract: "Read values from the chip.")
    @Argument(help: "Names (default: all values of the chip).") var names: [String] = []
    @OptionGroup(title: "Device") var device: DeviceOption
    @OptionGroup(title: "Device") var chip: ChipOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @Option(help: "Output format.") var format = OutputFormat.text

    func execute() async throws {
      try await options.withDevice(capture) { device, _ in
        let values = try await device.calibration(names).map {
          PrintedValue($0, in: device.profile.calibration)
        }
        format.print(values, PrintedValue.json) { $0.title(among: values) + $0.text + "\n" }
      }
    }
  }

  struct SetValues: DeviceCommand, ResultCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Write values to the chip, and read each one back.")
    @Argument(help: "NAME=VALUE.") var assignments: [String]
    @OptionGroup(title: "Device") var device: DeviceOption
    @OptionGroup(title: "Device") var chip: ChipOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @OptionGroup var consent: Consent
    @Option(help: "Output format of the changes.") var format = OutputFormat.text

    func validate() throws {
      try require(
        !assignments.isEmpty && assignments.allSatisfy({ $0.contains("=") }), "Give NAME=VALUE.")
    }

    func execute() async throws {
      try await options.withDevice(capture) { device, _ in
        var wanted: [CalibrationEntry] = []
        for assignment in assignments {
          let parts = assignment.split(separator: "=", maxSplits: 1).map(String.init)
          try require(parts.count == 2, "\(printable(assignment)) has no value.")
          let value = try device.value(named: parts[0])
          wanted.append(
            CalibrationEntry(name: parts[0], bytes: try value.bytes(from: parts[1])))
        }
        try await CalibrationChange(device, wanted).confirmAndWrite(consent, format)
      }
    }
  }
}

extension ChipCalibration {
  struct Backup: DeviceCommand, ResultCommand {
    static let configuration = CommandConfiguration(
      abstract: "Save all values of the chip and its id to a file (JSON).")
    @Argument(
      help: "The file; an existing one is overwritten only with --force.",
      completion: .file(extensions: ["json"]))
    var file: String
    @Flag(help: "Overwrite the file.") var force = false
    @OptionGroup(title: "Device") var device: DeviceOption
    @OptionGroup(title: "Device") var chip: ChipOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func execute() async throws {
      guard force || file == "-" || !FileManager.default.fileExists(atPath: file) else {
        throw Failure(.cannotCreate, "\(file) exists.", try: "Overwrite it with --force.")
      }
      let backup = try await options.withDevice(capture) { device, _ in
        try await device.backUpCalibration(created: Date.now.formatted(.iso8601))
      }
      try backup.write(to: file)
      standardError.write(
        lines:
          "Saved \(counted(backup.values.count, "value")) of \(printable(backup.device.summary)).\n"
      )
    }
  }

  struct Restore: DeviceCommand, ResultCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write the values of a backup that differ from the chip's values.",
      discussion: """
        Each value is read back. A backup of another family of chips is refused; one of another chip \
        of the same family causes a warning, because a calibration belongs to one board.
        """)
    @Argument(help: "A file written by backup.", completion: .file(extensions: ["json"]))
    var file: String
    @Flag(help: "Accept a backup of another family.") var force = false
    @OptionGroup(title: "Device") var device: DeviceOption
    @OptionGroup(title: "Device") var chip: ChipOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @OptionGroup var consent: Consent
    @Option(help: "Output format of the changes.") var format = OutputFormat.text

    func execute() async throws {
      let backup = try CalibrationBackup(file: file)
      try await options.withDevice(capture) { device, _ in
        let owner = device.calibrationOwner
        guard owner.family == backup.device.family || force else {
          throw Failure(
            .configuration,
            "\(file) is of the family \(backup.device.family), this chip of \(owner.family).",
            try: "Write it anyway with --force.")
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

extension CalibrationBackup.Device {
  /// The family and the ID of the chip.
  var summary: String {
    family + (chipID.map { " with chip id \($0)" } ?? "")
      + (firmware.map { ", firmware \($0)" } ?? "")
  }
}
