// SPDX-License-Identifier: Apache-2.0

import Ranging
import Testing
import UWBLab
import UWBTestSupport

/// Blocked paths, learned from one table and detected in others.
@Suite(.computes) struct PathCalibrationTests {
  /// Returns measurements in three rooms, with the label in the first column. Behind obstacles, the
  /// first path is weaker.
  private static func table(
    _ label: (Bool) -> String = { $0 ? "1" : "0" }, tells: Bool = true
  ) throws -> CSVTable {
    var text = "NLOS,room,range_m,truth_m,rx_power_dbm,fp_power_dbm,kurtosis\n"
    for row in 0..<180 {
      let isBlocked = row % 2 == 0
      let wave = Double(row * 37 % 19) / 19 - 0.5
      let gap = 2 + (isBlocked && tells ? 4.0 : 0) + 2 * wave
      let range = 3 + (isBlocked && tells ? 0.6 : 0.1) + 0.1 * wave
      text += "\(label(isBlocked)),hall \(row / 60),\(range),3,-80,\(-80 - gap),\(wave)\n"
    }
    return try CSVTable(text: text)
  }

  private func report(_ table: CSVTable, others: [String] = []) throws -> CalibrationReport {
    try PathCalibration(table, label: "nlos", room: "room", others: others) { _ in }.report()
  }

  @Test(arguments: [["1", "0"], ["NLOS", "LOS"], ["true", "false"], ["yes", "no"]])
  func learnsFromATable(words: [String]) throws {
    let report = try report(try Self.table { $0 ? words[0] : words[1] }, others: ["kurtosis"])
    #expect(report.problem == nil && report.charts.count == 1)
    #expect(report.text.contains("hall 2") && report.text.contains("100.0 %"))
    #expect(report.text.contains("0.50 ± "))
    // With a gap of 6 dB, the rules detect one in two.
    #expect(report.text.contains("the rules without learning: 5"))
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try report.calibration.write(to: folder.path("path.json"))
    #expect(try RangingCalibration(file: folder.path("path.json")) == report.calibration)
  }

  @Test(arguments: [false, true]) func filteredRangesFollowFromIt(live: Bool) throws {
    let calibration = try report(try Self.table()).calibration
    var text = "time_s,range_m,rx_power_dbm,fp_power_dbm\n"
    for row in 0..<40 {
      text += "\(Double(row) / 10),\(row < 20 ? 3.0 : 3.5),-80,\(row < 20 ? -82 : -86)\n"
    }
    let table = try CSVTable(text: text)
    let plain = try ComputedText(try table.filteredRanges(live: live))
    let learned = try ComputedText(try table.filteredRanges(live: live, calibration: calibration))
    let (rule, found) = (
      plain.numbers("nlos_probability"), learned.numbers("nlos_probability")
    )
    #expect(rule[39] < 0.2 && found[39] > 0.8 && found[0] < 0.2)
    #expect(abs(learned.numbers("range_m")[39] - 3) < 0.15)
    #expect(plain.numbers("range_m")[39] > 3.4)
    // Learning does not change constant errors: free paths keep theirs.
    let (wide, before) = (learned.numbers("sigma_m"), plain.numbers("sigma_m"))
    #expect(abs(wide[10] - before[10]) < 0.05)
    let header = try ComputedText(
      try CSVTable(text: "time_s,range_m\n0,3\n").filteredRanges()
    ).header
    #expect(!header.contains("nlos_probability"))
  }

  @Test func positionsFollowFromIt() throws {
    let calibration = try report(try Self.table()).calibration
    let anchors = "{A: [0, 0, 1], B: [8, 0, 1], C: [0, 8, 1], D: [8, 8, 1]}"
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try Anchors(file: try folder.write(anchors, to: "a.json"))
    var text = "time_s,anchor,range_m,rx_power_dbm,fp_power_dbm\n"
    for row in 0..<80 {
      let isBlocked = row % 4 == 3
      text += "\(Double(row / 4) / 5),\(["A", "B", "C", "D"][row % 4]),"
      // Levels are as low as on longer paths in the halls.
      text += "\(32.squareRoot() + (isBlocked ? 0.5 : 0)),-85.5,\(isBlocked ? -91.5 : -87.5)\n"
    }
    let table = try CSVTable(text: text)
    func error(_ calibration: RangingCalibration?) throws -> Double {
      let run = try ComputedText(
        try table.positions(file, height: 1, motion: .independent, calibration: calibration))
      return abs(run.numbers("x_m")[10] - 4) + abs(run.numbers("y_m")[10] - 4)
    }
    #expect(try error(calibration) < error(nil))
  }

  @Test func refusesTablesThatTeachNothing() throws {
    let useless = try report(try Self.table(tells: false))
    #expect(useless.problem?.description.contains("rooms that were not learned") == true)
    #expect(throws: LabError.self) { try report(try Self.table { _ in "1" }) }
    #expect(throws: LabError.self) { try report(try Self.table { _ in "perhaps" }) }
    #expect(throws: LabError.self) { try report(try Self.table(), others: ["skewness"]) }
    let one = try CSVTable(text: "nlos,room,fp_power_dbm\n1,a,-80\n0,a,-90\n")
    let error = #expect(throws: LabError.self) { try report(one) }
    #expect(error?.description.contains("Only one room") == true)
    let empty = try CSVTable(text: "nlos,room,x\n1,a,1\n0,b,2\n")
    #expect(throws: LabError.self) { try report(empty) }
  }

  @Test func aModelWithoutAllItsCoefficientsIsRefused() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let text = """
      {path: {inputs: [{name: "fp_snr_db", mean: 1, deviation: 1}], intercept: 0, weights: []}}
      """
    let calibration = try RangingCalibration(file: try folder.write(text, to: "p.json"))
    let table = try CSVTable(text: "time_s,range_m,fp_snr_db\n0,3,12\n")
    #expect(throws: LabError.self) { try table.filteredRanges(calibration: calibration) }
  }
}
