// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWBLab

struct ComputeSSTWR: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ss-twr",
    abstract: "Compute distances from the four stamps of single-sided ranging.",
    discussion: """
      Input: t1,t2,t3,t4 in ticks of 15.65 ps: poll sent and received, response sent and received \
      [, cfo_ppm, peer, rx_power_dbm, time_s; with a --calibration that has delays of boards also \
      board_a, board_b, channel, antenna_a, antenna_b]. cfo_ppm tells by how much the initiator's clock \
      is faster than the responder's. It is used for rounds whose poll cannot be compared with the one \
      before; comparing needs time_s when polls are further apart than the range of the counter \
      (17.2 s with 40 bits, 67 ms with 32).
      Output: distance_m, sigma_m, status.

      --learn FILE with --truth COLUMN fits the delay of each peer and the bias that the received \
      level adds; --calibration FILE subtracts both again.
      """)

  /// The table of DW1000 for the received level.
  enum PowerTable: String, ExpressibleByArgument, CaseIterable {
    case none
    case dw1000PRF64 = "dw1000-prf64"
    case dw1000PRF16 = "dw1000-prf16"
  }

  @OptionGroup var table: ComputeOptions
  @OptionGroup var radio: RadioOptions
  @Option(help: "Write delays and power table to this file (JSON); needs --truth.")
  var learn: String?
  @Option(help: "The column with the true distance (distance_m), or a number in metres.")
  var truth: String?
  @Option(help: "Delays and power table, as written by calibrate and --learn.")
  var calibration: String?
  @Option(
    help: """
      Without --calibration: the vendor's table of the bias by received level, for chips that are \
      known to be a DW1000 (stamps do not tell, and other chips differ).
      """)
  var powerTable = PowerTable.none

  func validate() throws {
    guard (learn == nil) == (truth == nil) else {
      throw ValidationError("--learn and --truth need each other.")
    }
    guard learn == nil || calibration == nil else {
      throw ValidationError("Give either --learn or --calibration.")
    }
  }

  func run() throws {
    try table.run { table throws(LabError) in
      var correction: RangingCalibration?
      if let learn, let truth {
        let learned = try table.singleSidedCalibration(radio.parameters, truth: truth)
        try learned.write(to: learn)
        standardError.write(learned.summary + "\n")
        correction = learned
      } else if let calibration {
        correction = try RangingCalibration(file: calibration)
      }
      return try table.singleSidedDistances(
        radio.parameters, calibration: correction, powerBias: powerTable.bias)
    }
  }
}

extension ComputeSSTWR.PowerTable {
  var bias: PowerBias? {
    switch self {
    case .none: nil
    case .dw1000PRF64: .dw1000PRF64
    case .dw1000PRF16: .dw1000PRF16
    }
  }
}
