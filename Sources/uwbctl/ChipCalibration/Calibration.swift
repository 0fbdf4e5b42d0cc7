// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB
import UWBLab

struct ChipCalibration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calibration",
    abstract: "Read, write, back up and restore the calibration of a chip.",
    discussion: """
      Qorvo's chips have named keys (ant0.ch9.ant_delay), NXP's numbered parameters of each channel, \
      which have names here (ch9.rx_ant_delay). Values may also be given as bytes: hex:0102. Make a \
      backup before you change anything:
        uwbctl calibration backup board7.json --device /dev/ttyACM0
        uwbctl calibration set ant0.ch9.ant_delay=16459 --device /dev/ttyACM0
        uwbctl calibration restore board7.json --device /dev/ttyACM0
      All of them except list reset the chip, which ends its sessions.
      """,
    subcommands: [List.self, Get.self, SetValues.self, Backup.self, Restore.self])

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the values that chips may have, and what they accept; needs no device.")

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
    @Option(help: "Output format: text or json.") var format = OutputFormat.text

    func run() {
      let values = family.schemes.flatMap(\.values).filter { value in
        part.map { value.name.contains($0) } ?? true
      }
      for value in values { standardOutput.write(CalibrationPrinter.line(value, format) + "\n") }
    }
  }

  struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Read values from the chip.")
    @Argument(help: "Names (default: all values of the chip).") var names: [String] = []
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @Option(help: "Output format: text or json.") var format = OutputFormat.text

    func run() async throws {
      try await reporting {
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
      commandName: "set", abstract: "Write values to the chip, and read each one back.")
    @Argument(help: "NAME=VALUE.") var assignments: [String]
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions
    @OptionGroup var consent: Consent
    @Option(help: "Output format of the changes: text or json.") var format = OutputFormat.text

    func validate() throws {
      guard !assignments.isEmpty, assignments.allSatisfy({ $0.contains("=") }) else {
        throw ValidationError("Give NAME=VALUE.")
      }
    }

    func run() async throws {
      try await reporting {
        try await device.withDevice(capture) { device, _ in
          var wanted: [CalibrationEntry] = []
          for assignment in assignments {
            let parts = assignment.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
              throw ValidationError("\(printable(assignment)) has no value.")
            }
            let value = try device.value(named: parts[0])
            wanted.append(
              CalibrationEntry(name: parts[0], bytes: try value.bytes(from: parts[1])))
          }
          try await CalibrationChange(device, wanted).confirmAndWrite(consent, format)
        }
      }
    }
  }
}

/// Whether to write without confirmation.
struct Consent: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Write without asking for confirmation.") var yes = false
}
