// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWB
import UWBLab

struct Calibrate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Determine antenna delays, phase tables and the bias of received levels.",
    discussion: """
      With boards, step by step: the command says where to put them, measures, shows how the values \
      scatter, and asks whether to keep them, to measure again (r) or to skip (s); q or Ctrl-C quits \
      without writing anything. Or from a recorded table: --from FILE. Or without prompts: --yes.

      The result goes to a file (--output), where compute --calibration and --geometry read it; its \
      other contents stay. Or it goes to the chips (--write), after showing what changes. See \
      `calibration` (not this command) to read, write and back up single values of a chip.
      """,
    subcommands: [CalibrateDelay.self, CalibrateAngle.self, CalibratePower.self])
}

/// What every calibration takes, and where its result goes.
struct CalibrationResult: ParsableArguments {
  @Option(
    help: "Write the result into this file (JSON); other boards and pairs in it stay.",
    completion: .file(extensions: ["json"]))
  var output: String?
  @Flag(help: "Write the result to the chips.") var write = false
  @OptionGroup var plot: PlotOptions
  @OptionGroup var consent: Consent

  func validate() throws {
    guard output == nil || !write else {
      throw ValidationError(
        "Give either --output or --write: a chip that corrects its distances must not be corrected "
          + "again.")
    }
  }

  /// Prints the report, and writes its calibration into the file.
  func save(_ report: CalibrationReport) throws(LabError) {
    standardOutput.write(report.text)
    try plot.write(report.charts)
    if let output {
      try report.calibration.merge(intoFile: output)
      standardError.write("Written to \(printable(output)).\n")
    } else if !write {
      standardError.write("Nothing was written: use --output FILE or --write.\n")
    }
  }
}

/// A calibration. Quitting before it has a result has a status of its own.
protocol CalibrationCommand: AsyncParsableCommand, Sendable {
  var from: String? { get }
  /// Calibrates with a table of measurements.
  func calibrate(from table: CSVTable) async throws
  func calibrateBoards() async throws
}

extension CalibrationCommand {
  func run() async throws {
    let command = self
    try await reporting {
      do {
        try await cancelledBySignals {
          if let file = command.from {
            try await command.calibrate(from: try CSVTable(file: file))
          } else {
            try await command.calibrateBoards()
          }
        }
      } catch is CancellationError {
        standardError.write("\n")
        throw Failure(.unfinished, "Quit before there was a result. Nothing was written.")
      }
    }
  }
}

extension LabRows {
  /// The values, with warnings printed.
  var reported: [Value] {
    warn(warnings)
    return values
  }
}
