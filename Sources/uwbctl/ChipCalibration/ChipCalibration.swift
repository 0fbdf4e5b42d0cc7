// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import UWB
import UWBLab

/// The subcommands of `calibrate` for values that are stored in a chip.
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

  struct Get: ReportingCommand {
    static let configuration = CommandConfiguration(abstract: "Read values from the chip.")
    @Argument(help: "Names (default: all values of the chip).") var names: [String] = []
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @Option(help: "Output format.") var format = OutputFormat.text

    func execute() async throws {
      try await device.withDevice(capture) { device, _ in
        let values = try await device.calibration(names).map {
          PrintedValue($0, in: device.profile.calibration)
        }
        format.print(values, PrintedValue.json) { $0.title(among: values) + $0.text + "\n" }
      }
    }
  }

  struct SetValues: ReportingCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Write values to the chip, and read each one back.")
    @Argument(help: "NAME=VALUE.") var assignments: [String]
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @OptionGroup var consent: Consent
    @Option(help: "Output format of the changes.") var format = OutputFormat.text

    func validate() throws {
      try require(
        !assignments.isEmpty && assignments.allSatisfy({ $0.contains("=") }), "Give NAME=VALUE.")
    }

    func execute() async throws {
      try await device.withDevice(capture) { device, _ in
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

/// The option to write without confirmation.
struct Consent: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Ask no questions, and write at once.") var yes = false
}

extension ChipCalibration {
  struct Backup: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Save all values of the chip and its id to a file (JSON).")
    @Argument(
      help: "The file; an existing one is overwritten only with --force.",
      completion: .file(extensions: ["json"]))
    var file: String
    @Flag(help: "Overwrite the file.") var force = false
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func execute() async throws {
      guard force || file == "-" || !FileManager.default.fileExists(atPath: file) else {
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

  struct Restore: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write the values of a backup that differ from the chip's values.",
      discussion: """
        Each value is read back. A backup of another family of chips is refused; one of another chip \
        of the same family causes a warning, because a calibration belongs to one board.
        """)
    @Argument(help: "A file written by backup.", completion: .file(extensions: ["json"]))
    var file: String
    @Flag(help: "Accept a backup of another family.") var force = false
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @OptionGroup var consent: Consent
    @Option(help: "Output format of the changes.") var format = OutputFormat.text

    func execute() async throws {
      let backup = try CalibrationBackup(file: file)
      try await device.withDevice(capture) { device, _ in
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

/// A printed value of a calibration.
struct PrintedValue {
  private let entry: CalibrationEntry
  private let value: CalibrationValue?
  /// The present bytes in the chip; empty unless they are to change.
  let old: [UInt8]

  init(_ entry: CalibrationEntry, was old: [UInt8] = [], in scheme: CalibrationScheme) {
    (self.entry, self.old) = (entry, old)
    value = scheme.value(named: entry.name)
  }

  /// Returns the name, padded to the longest name of `others`.
  func title(among others: [PrintedValue]) -> String {
    printable(entry.name).left((others.map(\.entry.name.count).max() ?? 0) + 2)
  }

  var text: String { text(entry.bytes) }

  func text(_ bytes: [UInt8]) -> String { printable(value?.text(bytes) ?? hexDigits(bytes)) }

  static let json = JSONTable<PrintedValue>("calibrate get", each: "value") { keys(&$0) }

  static let changed = JSONTable<PrintedValue>("calibrate set", each: "value") {
    keys(&$0)
    $0.key("was", "former value") { $0.value?.plainText($0.old) }
    $0.key("was_hex", "its bytes") { hexDigits($0.old) }
  }

  private static func keys(_ keys: inout JSONTable<PrintedValue>) {
    keys.key("name", "name of the value") { $0.entry.name }
    keys.key("value", "value as text") { $0.value?.plainText($0.entry.bytes) }
    keys.key("unit", "unit of its numbers") { $0.value?.unit }
    keys.key("hex", "bytes in wire order") { hexDigits($0.entry.bytes) }
  }
}

extension CalibrationChange {
  /// Shows the changes, asks for confirmation, writes the values and reads them back.
  ///
  /// - Parameters:
  ///   - warning: A text shown above the question.
  ///   - isAtomic: See `write`.
  func confirmAndWrite(
    _ consent: Consent, _ format: OutputFormat = .text, warning: String? = nil,
    isAtomic: Bool = false
  ) async throws {
    guard !changes.isEmpty else {
      standardError.write("Nothing to change: the chip already has these values.\n")
      return
    }
    let scheme = device.profile.calibration
    let values = changes.map { PrintedValue($0.new, was: $0.old, in: scheme) }
    format.print(values, PrintedValue.changed) {
      "\($0.title(among: values))\($0.text($0.old)) → \($0.text)\n"
    }
    if let warning { note(warning) }
    if !consent.yes {
      guard standardInput.isTerminal else {
        throw Failure(
          .usage, "Nothing was written: no terminal to prompt on.", try: "Confirm with --yes.")
      }
      let count = changes.count == 1 ? "1 value" : "\(changes.count) values"
      let question = "Write \(count) to \(printable(device.endpoint.description))?"
      guard try await Prompt.confirm(question) else {
        throw Failure(.usage, "Nothing was written.")
      }
    }
    try Task.checkCancellation()
    try await write(isAtomic: isAtomic)
    standardError.write("\(changes.count) written and read back.\n")
  }
}
