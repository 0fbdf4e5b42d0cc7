// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWB

/// `uwbctl calibrate`: find out what boards and antennas add, and take it away.
struct Calibrate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure antenna delays, phase tables and the bias of received levels.",
    discussion: """
      On boards, step by step: it says where to put them, measures, shows how the values scatter, and \
      asks whether to keep them, to measure again (r) or to skip (s); q or Ctrl-C ends it with nothing \
      written. Or from a recorded table: --from FILE. Or without questions: --yes.

      The result goes to a file (--output), where compute --calibration and --geometry read it and \
      what else is in it stays, or to the chips (--write), after showing what changes. `calibration` \
      (not this command) reads, writes and backs up single values of a chip.
      """,
    subcommands: [CalibrateDelay.self, CalibrateAngle.self, CalibratePower.self])
}

/// Where a result goes.
struct CalibrationResult: ParsableArguments {
  @Option(
    help: "Put the result into this file (JSON); other boards and pairs in it stay.",
    completion: .file(extensions: ["json"]))
  var output: String?
  @Flag(help: "Write the result to the chips.") var write = false
  @OptionGroup var plot: PlotOptions
  @OptionGroup var consent: Consent

  func validate() throws {
    guard output == nil || !write else {
      throw ValidationError(
        "Give --output or --write: what a chip takes away itself must not be taken away twice.")
    }
  }

  /// Puts the result into the file, or says that it went nowhere.
  func save(_ calibration: RangingCalibration, _ charts: @autoclosure () -> [Chart]) throws {
    try plot.write(charts())
    if let output {
      try calibration.write(into: output)
      standardError.write("Written to \(printable(output)).\n")
    } else if !write {
      standardError.write("Nothing was written: --output FILE or --write does that.\n")
    }
  }
}

/// Runs the body of `calibrate`: every failure becomes a sentence and a status, and an end before
/// there was a result says that nothing was written.
func calibratingAnew(_ body: @escaping @Sendable () async throws -> Void) async throws {
  try await calibrating {
    do {
      try await cancelledBySignals(body)
    } catch let error as ComputeError {
      try computing { throw error }
    } catch let error as FitFailure {
      try computing { throw ComputeError.tooLittle(error.description) }
    } catch is CancellationError {
      standardError.write("\nuwbctl: Ended before there was a result. Nothing was written.\n")
      throw ExitCode(ExitStatus.unfinished.rawValue)
    }
  }
}
