// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Formats
import Foundation
import ProgramTestSupport
import Testing
import UWBTestSupport

/// Scenes as files, and the results of `range` in them.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SceneTests {
  private static func run(_ arguments: [String]) throws -> ChildProcess.Outcome {
    try ChildProcess.run(arguments + ["--format", "json"])
  }

  private static let scene = """
    {"clock_ppm": 20, "clock_wander_ppm": 0.2,
     "power_bias": [{"rx_power_dbm": -100, "bias_m": 0.1}, {"rx_power_dbm": -60, "bias_m": 0.1}],
     "chips": {"peer 1": {"position": [4, -3, 1], "delays": {"9": {"tx_m": 0.1, "rx_m": 0.1}}},
               "own": {"antenna": [{"angle_deg": -90, "phase_rad": -3.4},
                                   {"angle_deg": 0, "phase_rad": 0.2},
                                   {"angle_deg": 90, "phase_rad": 2.9}]}}}
    """
  /// The device's y axis points to the left, so that angles in the file grow to the left.
  private static let calibration = """
    {"format": "swift-uwb ranging calibration", "version": 1, "delays_m": {"0001": 0.2},
     "power_bias": [{"rx_power_dbm": -80, "bias_m": 0.1}],
     "pairs": [{"column": "pdoa", "table": [{"angle_deg": -90, "phase_rad": 2.9},
       {"angle_deg": -45, "phase_rad": 1.55}, {"angle_deg": 0, "phase_rad": 0.2},
       {"angle_deg": 45, "phase_rad": -1.6}, {"angle_deg": 90, "phase_rad": -3.4}]}]}
    """

  @Test func rangePrintsComputedAndReportedValues() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let scene = try folder.write(Self.scene, to: "scene.json")
    let calibration = try folder.write(Self.calibration, to: "calibration.json")
    let run = try Self.run([
      "range", "-n", "20", "--interval", "20", "--scene", scene, "--diagnostics",
      "--calibration", calibration,
    ])
    let rows = try run.objects()
    #expect(run.status == 0 && rows.count == 20)
    func mean(_ key: String) -> Double {
      let values = rows.compactMap { $0[key] as? Double }
      #expect(values.count == rows.count, "\(key)")
      return values.reduce(0, +) / Double(values.count)
    }
    // The peer is 5 m away, 36.9 degrees to the right. The chip has neither delays nor a
    // description of its antennas.
    #expect(abs(mean("distance_cm") - 530) < 4)
    #expect(abs(mean("computed_m") - 5) < 0.04)
    #expect(abs(mean("computed_azimuth_deg") - 36.87) < 2)
    #expect(abs(mean("azimuth_deg") - 36.87) > 4)
    #expect(rows.allSatisfy { $0["diagnostics"] as? String == "used" })
    #expect(mean("nlos_probability") < 0.2 && mean("computed_noise_m") < 0.1)
    #expect(abs(mean("cfo_ppm")) < 41)
  }

  @Test func withoutPhasesTheReasonIsGiven() throws {
    let row = try #require(
      try Self.run(["range", "-n", "1", "--sim-chip", "fira1"]).objects().first)
    #expect(row["computed_m"] as? Double != nil && row["computed_azimuth_deg"] is NSNull)
    #expect(row["no_computed_azimuth"] as? String == "no_antenna_table")
    #expect(row["diagnostics"] as? String == "none")
  }

  @Test(arguments: [
    ("{", "not a scene"), (#"{"loss": 2}"#, "loss"), (#"{"clock_ppm": 1e9}"#, "ppm"),
    (#"{"walls": [{"from": [1], "to": [2, 3]}]}"#, "wall"), (#"{"range_m": -1}"#, "range_m"),
    (#"{"chips": {"A": {"position": [1, 2]}}}"#, "position of A"),
    (#"{"chips": {"A": {"antenna": [{"angle_deg": 1, "phase_rad": 1}]}}}"#, "antenna of A"),
    (#"{"chips": {"A": {"antenna_delay_m": 1e6}}}"#, "delay of A"),
  ])
  func badScenesAreErrorsWithACause(_ text: String, _ cause: String) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(text, to: "scene.json")
    let error = #expect(throws: FormatError.self) { try SceneFile(file: file) }
    #expect(error?.description.contains(cause) == true, "\(error?.description ?? "")")
    #expect(error?.code == .badFile)
  }

  @Test func aMissingCalibrationHasItsStatus() throws {
    #expect(try Self.run(["range", "-n", "1", "--calibration", "/nowhere"]).status == 66)
    #expect(try Self.run(["range", "-n", "1", "--antenna-pairs", "x"]).status == 64)
  }
}
