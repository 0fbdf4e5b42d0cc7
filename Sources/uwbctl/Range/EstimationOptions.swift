// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import Ranging
import UCI
import UWB

/// What the computed values suppose.
struct EstimationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Delays, levels and tables of antennas as calibrate and compute --learn write them: what is "
        + "computed is corrected with them."),
    completion: .file())
  var calibration: String?
  @Option(
    help: "What this device is called in the calibration; peers are called by their addresses.")
  var board: String?

  /// - Parameter peers: of the session.
  func settings(channel: Int, peers: [MACAddress]) throws(LabError) -> EstimationSettings {
    guard let calibration else { return EstimationSettings() }
    let read = try RangingCalibration(file: calibration)
    return EstimationSettings(read, board: board, channel: channel, peers: peers)
  }
}

/// What the chip is asked to tell of single frames.
struct DiagnosticsOptions: ParsableArguments {
  @Flag(
    help: "Ask the chip for phases, levels and clock offsets of single frames, to compute with.")
  var diagnostics = false
  @Option(help: "NXP: pairs of antennas that measure angles, by their numbers: 1,2.")
  var antennaPairs: String?

  var request: DiagnosticsRequest? {
    guard diagnostics || antennaPairs != nil else { return nil }
    return DiagnosticsRequest(.usual, antennaPairs: pairs ?? [])
  }

  private var pairs: [UInt8]? {
    let parts = (antennaPairs ?? "").split(separator: ",")
    let numbers = parts.compactMap { UInt8($0) }
    return numbers.count == parts.count && numbers.count <= 8 ? numbers : nil
  }

  func validate() throws {
    guard pairs != nil else { throw ValidationError("--antenna-pairs takes numbers, like 1,2.") }
  }
}
