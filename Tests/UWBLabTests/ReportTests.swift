// SPDX-License-Identifier: Apache-2.0

import Estimators
import Ranging
import Testing
import UWBTestSupport

@testable import UWBLab

/// The reports of calibrations, and the reasons why some must not be written.
@Suite(.computes) struct ReportTests {
  /// Phases of a pair 0.45 wavelengths apart, with a noise of some hundredths that repeats.
  private static func phase(_ degrees: Double, _ step: Int) -> Double {
    let noise = 0.02 * (Double(step * 37 % 19) / 9 - 1)
    return degrees * .pi / 180 == 0 ? 0.3 + noise : 2.6 * sine(degrees) + 0.3 + noise
  }

  /// Returns the sine from its series, which is exact enough for 90 degrees.
  private static func sine(_ degrees: Double) -> Double {
    let x = degrees * .pi / 180
    var (term, sum) = (x, x)
    for n in 1..<12 {
      term *= -x * x / Double(2 * n * (2 * n + 1))
      sum += term
    }
    return sum
  }

  private static func turntable(
    _ angles: some Sequence<Double>, _ header: String = "angle_deg,pdoa_rad"
  ) throws -> CSVTable {
    let rows = angles.enumerated().map { "\($1),\(phase($1, $0))" }
    return try CSVTable(text: "\(header)\n\(rows.joined(separator: "\n"))\n")
  }

  @Test func aTurntableGivesAReport() throws {
    let table = try Self.turntable(stride(from: -90.0, through: 90, by: 2))
    let pair = try AngleCalibration().fit("pdoa_rad", try table.phaseSamples("pdoa_rad").values)
    let report = PairCalibration.report([pair])
    #expect(report.problem == nil && report.charts.count == 2)
    let known = try #require(report.calibration.pairs?.first)
    #expect(known.column == "pdoa_rad" && abs((known.offset ?? 0) - 0.3) < 0.02)
    #expect((known.table?.count ?? 0) > 20 && known.modelDeviation != nil)
    for part in [
      "pdoa_rad: offset 0.3", "of 91 samples fit", "left out of the table",
    ] {
      #expect(report.text.contains(part), "\(report.text)")
    }
    #expect(!report.text.contains("The phase reverses"))
  }

  @Test func gapsAreRefused() throws {
    let angles = [-80.0, -75, -70, 30, 40, 50, 60, 70, 80]
    let table = try Self.turntable(angles + angles + angles)
    let pair = try AngleCalibration().fit("p\u{1B}", try table.phaseSamples("pdoa_rad").values)
    let problem = try #require(pair.problem)
    #expect(problem.code == .insufficientData && !problem.description.contains("\u{1B}"))
    #expect(problem.description.contains("nothing was measured between -70.0° and 30.0°"))
  }

  @Test(arguments: [
    (Array(repeating: 10.0, count: 30), "within"), ([0, 10, 20], "it takes 8"), ([], "no rows"),
  ])
  func tooLittleIsRefused(_ angles: [Double], cause: String) {
    let error = #expect(throws: LabError.self) {
      try AngleCalibration().fit("p", try Self.turntable(angles).phaseSamples("pdoa_rad").values)
    }
    #expect(error?.description.contains(cause) == true, "\(error?.description ?? "")")
  }

  @Test func straightAheadMayBeMissing() throws {
    let table = try Self.turntable(stride(from: 10.0, through: 80, by: 1))
    let pair = try AngleCalibration().fit("p", try table.phaseSamples("pdoa_rad").values)
    #expect(PairCalibration.report([pair]).text.contains("Straight ahead was not measured"))
  }

  /// Columns of phases and of directions, by their usual names or by others.
  @Test(arguments: [
    ("azimuth_deg,pdoa_rad", [String](), ["pdoa_rad"]),
    ("angle_deg,PDOA_1_RAD,pdoa_2_rad", [], ["PDOA_1_RAD", "pdoa_2_rad"]),
    ("angle_deg,p12_rad,pdoa", ["p12_rad"], ["p12_rad"]),
    ("azimuth_deg,p12_rad,p13_rad", ["p13_rad", "p12_rad"], ["p13_rad", "p12_rad"]),
  ])
  func columnsOfPhases(_ header: String, wanted: [String], found: [String]) throws {
    let cells = header.split(separator: ",").map { _ in "1" }.joined(separator: ",")
    let table = try CSVTable(text: "\(header)\n\(cells)\n")
    #expect(try table.phaseColumns(wanted) == found)
    #expect(throws: LabError.self) { try table.phaseColumns(["absent"]) }
    let samples = try #require(try table.arraySamples(found))
    #expect(samples.values.map(\.phases) == [found.map { _ in 1.0 }])
    #expect(abs(samples.values[0].azimuth - .pi / 180) < 1e-12)
  }

  /// Rows from the back, at least one in twenty, need the model of an array.
  @Test(arguments: [
    (100, 0, false), (100, 4, false), (100, 5, true), (3, 2, false), (3, 3, true), (20, 3, true),
  ])
  func arraysAreNeededForRowsFromBehind(_ count: Int, behind: Int, isNeeded: Bool) {
    let samples = (0..<count).map { ArraySample(azimuth: $0 < behind ? 3 : 0.5, phases: [0]) }
    #expect(ArrayCalibration.isNeeded(for: samples) == isNeeded)
  }

  @Test func anArrayNeedsPhasesOfEachPair() {
    let samples = (0..<20).map { ArraySample(azimuth: Double($0), phases: [1, $0 < 10 ? 1 : nil]) }
    let error = #expect(throws: LabError.self) {
      try AngleCalibration().fit(["one", "two"], array: samples)
    }
    #expect(error?.description == "The pair two has 10 phases; it takes 16.")
  }

  // MARK: delays

  private func delays(_ rows: [String], known: [String: Double] = [:]) throws -> CalibrationReport {
    let header = "board_a,board_b,truth_m,range_m,antenna_b,channel"
    let table = try CSVTable(text: "\(header)\n\(rows.joined(separator: "\n"))\n")
    var calibration = DelayCalibration()
    calibration.known = known
    return try calibration.fit(try table.delayMeasurements().values).report
  }

  /// The boards move while the distances between them are measured.
  @Test func placementsThatContradictEachOtherGiveNoDelay() throws {
    let rows = [("2", "2.82"), ("3", "2.18"), ("4", "2.82")].flatMap { truth, range in
      [String](repeating: "A,B,\(truth),\(range),,", count: 10)
    }
    let report = try delays(rows)
    let problem = try #require(report.problem).description
    #expect(problem.contains("No delay follows from these placements: 2 of 3 contradict the"))
    #expect(report.problem?.recoverySuggestion?.contains("at rest") == true)
    #expect(report.text.contains("outlier") && !report.text.contains("With this calibration"))
    // One wrong placement of three is left out.
    #expect(try delays(["A,B,2,2.3,,", "A,B,3,3.3,,", "A,B,4,4.9,,"]).problem == nil)
  }

  @Test func aTriangleGivesEachDelay() throws {
    let report = try delays(["A,B,2,2.3,,", "A,C,2,2.4,,", "B,C,2,2.5,,"])
    for line in ["A: 0.1", "B: 0.2", "C: 0.3", "There are no redundant placements"] {
      #expect(report.text.contains(line), "\(report.text)")
    }
    #expect(report.calibration.antennaDelays?.count == 3 && report.calibration.pairDelays == nil)
    #expect(report.calibration.delay == nil && report.charts.count == 1)
  }

  @Test(arguments: [([String: Double](), 0.3, 0), (["A": 0.1], nil, 2)])
  func twoBoardsGiveTheSumUnlessOneIsKnown(
    _ known: [String: Double], sum: Double?, antennas: Int
  ) throws {
    let calibration = try delays(["A,B,2,2.3,,", "B,A,4,4.3,,"], known: known).calibration
    #expect(calibration.delay.map { abs($0 - (sum ?? 9)) < 1e-9 } ?? (sum == nil))
    #expect((calibration.antennaDelays?.count ?? 0 > 0) == (antennas > 0))
  }

  @Test func antennasAndChannelsAreNamed() throws {
    let text = try delays(["A,B,2,2.3,1,5", "A,B,4,4.3,1,5"]).text
    #expect(text.contains("A ch5 – B.1 ch5"), "\(text)")
    #expect(text.contains("Only sums are known of A ch5, B.1 ch5"), "\(text)")
  }

  @Test(arguments: [
    ("A,A,2,2,,", "invalid_board_b"), (",B,2,2,,", "missing_board"),
    ("A,B,,2,,", "missing_truth_m"),
    ("A,B,2,x,,", "invalid_range_m"),
  ])
  func placementsThatCannotBeUsed(_ row: String, word: String) {
    let error = #expect(throws: LabError.self) { try delays([row]) }
    #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
  }

  // MARK: levels

  private func levels(_ row: (Int) -> String) throws -> CalibrationReport {
    let rows = (0..<200).map(row).joined(separator: "\n")
    return try PowerCalibration(try CSVTable(text: "truth_m,range_m,rx_power_dbm\n\(rows)\n")) {
      _ in
    }.report()
  }

  @Test func levelsGiveATable() throws {
    let report = try levels { step in
      let power = -65 - 0.1 * Double(step)
      return "3,\(3.25 + 0.004 * (power + 75)),\(power)"
    }
    let bias = report.calibration.powerBias
    #expect(abs(bias.bias(at: -66) - bias.bias(at: -84) - 0.072) < 0.005)
    #expect(report.text.contains(" dBm ") && report.text.contains("delay 0.2"))
    #expect(report.charts.count == 2 && report.problem == nil)
  }

  @Test(arguments: [
    ("3,3.2,-70", "within a decibel"), ("3,,-70", "None of the"), ("3,nan,-70", "None of the"),
  ])
  func levelsThatGiveNothing(_ row: String, cause: String) {
    let error = #expect(throws: LabError.self) { try levels { _ in row } }
    #expect(error?.description.contains(cause) == true, "\(error?.description ?? "")")
  }

  // MARK: readings

  @Test(arguments: [
    (
      [2.0, 2.02, 2.04], 2.0, "3 of 3 measured, 2.020 m, spread 3.0 cm, 0 outliers; 2.0 cm too long"
    ),
    (
      [1.9, 1.9, 1.9, 5], 2,
      "4 of 4 measured, 1.900 m, spread 0.0 cm, 1 outlier; 10.0 cm too short"
    ),
    ([], 2, "nothing was measured: the chip reported no rounds"),
  ])
  func readingsInALine(_ ranges: [Double], truth: Double, expected: String) {
    let readings = ranges.map { BoardBench.Reading(range: $0, power: nil, status: "OK", time: 0) }
    #expect(readings.summary(truth: truth) == expected)
  }

  @Test func failedRoundsNameTheirReasons() {
    let readings = ["B", "A", "B"].map {
      BoardBench.Reading(range: nil, power: nil, status: $0, time: 0)
    }
    #expect(readings.summary(truth: 2) == "nothing was measured in 3 rounds: A, B")
  }
}

/// Scores of generated errors.
@Suite(.computes) struct GeneratedScoreTests {
  private func score(_ errors: [Double], deviation: Double = 0.1) -> Score {
    Score(
      name: "range", errors: errors, normalized: errors.map { abs($0) / deviation }, isAngle: false)
  }

  @Test(arguments: [1, 2, 9, 100, 1001]) func quantilesAreThoseOfTheSortedSizes(_ count: Int) {
    let score = score((0..<count).map { Double($0 * 7919 % count) * ($0 % 2 == 0 ? 1 : -1) })
    for (part, expected) in [(0.0, 0), (0.5, Double(count - 1) / 2), (1, Double(count - 1))] {
      #expect(abs(score.quantile(part) - expected) <= 0.5, "\(part)")
    }
    let square = (0..<count).reduce(0.0) { $0 + Double($1 * $1) } / Double(count)
    #expect(abs(score.rmse - square.squareRoot()) < 1e-9 * max(1, square))
  }

  @Test(arguments: [([0.05, -0.05], 1.0, 1.0), ([0.15, 0.05], 0.5, 1), ([0.3, 0.15], 0, 0.5)])
  func sharesCountBothSides(_ errors: [Double], one: Double, two: Double) {
    let score = score(errors)
    #expect(score.share(within: 1) == one && score.share(within: 2) == two)
    let text = "within 1 σ \(Int(100 * one)) % (68), 2 σ \(Int(100 * two)) % (95)"
    #expect(score.description.hasSuffix(text), "\(score)")
  }

  @Test func withoutErrorsThereIsNoShare() {
    let none = Score(name: "horizontal", errors: [], normalized: [], isAngle: false)
    #expect(none.share(within: 1) == nil && none.quantile(0.5).isNaN && none.rmse == 0)
    #expect(!none.description.contains("σ"))
  }

  /// A truth is a column with or without a unit, a prefix of names, or a number.
  @Test(arguments: [
    ("truth_m", "5.1", "truth_m"), ("truth_cm", "510", "truth"), ("truth", "5.1", "TRUTH"),
    ("truth_range_m", "5.1", "truth"), ("other", "1", "5.1"),
  ])
  func formsOfATruth(_ column: String, _ cell: String, _ truth: String) throws {
    let rows = (0..<9).map { "\($0),5,\(cell)" }.joined(separator: "\n")
    let table = try CSVTable(text: "time_s,range_m,\(column)\n\(rows)\n").filteredRanges()
    let scores = try table.scores(truth: truth)
    #expect(scores.count == 1 && scores[0].errors.allSatisfy { abs($0 + 0.1) < 1e-6 })
  }
}
