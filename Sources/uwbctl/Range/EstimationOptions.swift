// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import Ranging
import UCI
import UWB

/// What the computed values are based on.
struct EstimationOptions: ParsableArguments {
  @Option(
    help: """
      Correct computed values with these delays, levels and antenna tables, as written by calibrate \
      and compute --learn.
      """,
    completion: .file())
  var calibration: String?
  @Option(
    help: "The name of this device in the calibration; peers have their addresses as names.")
  var board: String?

  /// - Parameter peers: of the session.
  func settings(channel: Int, peers: [MACAddress]) throws(LabError) -> EstimationSettings {
    guard let calibration else { return EstimationSettings() }
    let read = try RangingCalibration(file: calibration)
    return EstimationSettings(read, board: board, channel: channel, peers: peers)
  }
}

/// The diagnostics to request from the chip.
struct DiagnosticsOptions: ParsableArguments {
  @Flag(
    help: "Request phases, levels and clock offsets of single frames, to compute with.")
  var diagnostics = false
  @Option(help: "NXP: the numbers of the antenna pairs that measure angles, such as 1,2.")
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
