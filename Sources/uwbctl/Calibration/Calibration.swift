// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB

/// `uwbctl calibration`: the values a chip is calibrated with.
struct CalibrationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calibration",
    abstract: "Read, write, back up and restore the calibration of a chip.",
    discussion: """
      Qorvo's chips have named keys (ant0.ch9.ant_delay), NXP's numbered parameters of each channel, \
      which have names here (ch9.rx_ant_delay). Each value is also taken as bytes: hex:0102. Keep a \
      backup before you change anything:
        uwbctl calibration backup board7.json --device /dev/ttyACM0
        uwbctl calibration set ant0.ch9.ant_delay=16459 --device /dev/ttyACM0
        uwbctl calibration restore board7.json --device /dev/ttyACM0
      All of them but list reset the chip: sessions on it end.
      """,
    subcommands: [List.self, Get.self, SetValues.self, Backup.self, Restore.self])

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Say which values there can be, and what they take. Needs no device.")

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

    @Argument(help: "Only values whose names contain this.") var part: String?
    @Option(help: "Whose values.") var family = Family.all
    @Option(help: "How to print them: text or json.") var format = OutputFormat.text

    func run() {
      let values = family.schemes.flatMap(\.values).filter { value in
        part.map { value.name.contains($0) } ?? true
      }
      for value in values { standardOutput.write(CalibrationPrinter.line(value, format) + "\n") }
    }
  }

  struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Read values.")
    @Argument(help: "Names; none: everything the chip has.") var names: [String] = []
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @Option(help: "How to print them: text or json.") var format = OutputFormat.text

    func run() async throws {
      try await calibrating {
        try await device.withDevice(capture) { device, _ in
          let entries = try await device.calibration(names)
          let printer = CalibrationPrinter(device, entries)
          for entry in entries { standardOutput.write(printer.line(entry, format) + "\n") }
        }
      }
    }
  }

  struct SetValues: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Write values, and read each one back.")
    @Argument(help: "NAME=VALUE.") var assignments: [String]
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @OptionGroup var consent: Consent
    @Option(help: "How to print the changes: text or json.") var format = OutputFormat.text

    func validate() throws {
      guard !assignments.isEmpty, assignments.allSatisfy({ $0.contains("=") }) else {
        throw ValidationError("Give NAME=VALUE.")
      }
    }

    func run() async throws {
      try await calibrating {
        try await device.withDevice(capture) { device, _ in
          var wanted: [CalibrationEntry] = []
          for assignment in assignments {
            let parts = assignment.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw ValidationError("\(assignment) has no value.") }
            let value = try device.value(named: parts[0])
            wanted.append(
              CalibrationEntry(name: parts[0], bytes: try value.bytes(from: parts[1])))
          }
          try await CalibrationChange(device, wanted, format).carryOut(consent)
        }
      }
    }
  }
}

/// Whether a person has to be asked before a calibration is written.
struct Consent: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Write without asking.") var yes = false
}

/// Runs the body of a command; errors of the calibration become sentences and statuses like others.
func calibrating(_ body: @escaping () async throws -> Void) async throws {
  try await reporting {
    do {
      try await body()
    } catch let error as CalibrationError {
      if case .device(let error) = error { throw error }
      standardError.write("uwbctl: \(printable(error.description))\n")
      let hint: String? =
        switch error {
        case .unsupported: "Say whose chip it is, if you know: --chip qorvo or --chip nxp."
        case .unknownName: "uwbctl calibration list shows all names."
        case .refused: "This firmware may not have it; uwbctl calibration get shows what it has."
        default: error.suggestion
        }
      if let hint { standardError.write("  try: \(printable(hint))\n") }
      throw ExitCode(ExitStatus(error).rawValue)
    }
  }
}

extension ExitStatus {
  init(_ error: CalibrationError) {
    switch error {
    case .unsupported, .wrongLength, .refused: self = .configuration
    case .unknownName, .unreadable: self = .usage
    case .notKept: self = .deviceFailure
    case .device(let error): self.init(error)
    }
  }
}
