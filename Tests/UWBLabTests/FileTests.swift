// SPDX-License-Identifier: Apache-2.0

import Estimators
import Ranging
import Testing
import UWBTestSupport

@testable import UWBLab

/// Files of anchors and antennas as users write them, and invalid ones.
@Suite(.computes) struct FileTests {
  private func anchors(_ text: String) throws -> Anchors {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    return try Anchors(file: try folder.write(text, to: "a.json"))
  }

  @Test(arguments: [
    "{A: [1, 2, 3]}", "{A: {x: 1, y: 2, z: 3}}", "{A: {x_m: 1, y_m: 2, z_m: 3}}",
    "{A: {position: [1, 2, 3]}}", "{anchors: {A: [1, 2, 3]}}", "[{id: \"A\", x: 1, y: 2, z: 3}]",
    "{anchors: [{name: \"A\", position: [1, 2, 3]}]}", "[{anchor: \"A\", x_m: 1, y: 2, z_m: 3.0}]",
    "// by hand\n{\"anchors\": {'A': [1, 2, 3,],},}",
  ])
  func formsOfAnchors(_ text: String) throws {
    let anchors = try anchors(text)
    #expect(anchors.byName.keys.sorted() == ["A"] && anchors.height == nil)
    #expect(anchors.byName["A"]?.position == SIMD3(1, 2, 3) && anchors.byName["A"]?.bias == 0)
  }

  @Test(arguments: [
    ("[{id: 7, x: 1, y: 2, bias_m: 0.25}]", "7", 0, 0.25), ("{B: [1, 2]}", "B", 0, 0),
    ("{anchors: {B: [1, 2, 4]}, height_m: 1.5}", "B", 4, 0),
  ])
  func othersOfAnAnchor(_ text: String, name: String, z: Double, bias: Double) throws {
    let anchors = try anchors(text)
    let anchor = try #require(anchors.byName[name])
    #expect(anchor.position == SIMD3(1, 2, z) && anchor.bias == bias)
    #expect(anchors.height == (text.contains("height") ? 1.5 : nil))
  }

  @Test(arguments: [
    ("{}", "no anchors"), ("[]", "no anchors"), ("{A: [1]}", "x, y and z"),
    ("{A: [1, 2, 3, 4]}", "x, y and z"), ("{A: {x: 1}}", "x, y and z"), ("{A: 5}", ""),
    ("{A: {x: 1, y: 2, zz: 3}}", "zz"), ("[{x: 1, y: 2}]", "no name"),
    ("[{id: 1, x: 1, y: 2}, {id: 1, x: 2, y: 2}]", "two anchors 1"),
    ("{anchors: {A: [1, 2]}, hight_m: 1}", "hight_m"),
    ("{A: [1, 2, 1e400]}", ""),
    ("{A: [1, \"2\"]}", ""), ("{A: [1, 2", ""),
  ])
  func wrongAnchors(_ text: String, cause: String) {
    let error = #expect(throws: LabError.self) { try anchors(text) }
    #expect(error?.code == .badFile, "\(text)")
    #expect(error?.description.contains(cause) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [([2.5], 2.5, 0.5), ([1, 2, 3], 2, 2), ([0, 10], 5, 10)])
  func theUsualHeightIsThatOfTheAnchors(_ heights: [Double], mean: Double, deviation: Double) throws
  {
    let list = heights.enumerated().map { "\"\($0)\": [0, 0, \($1)]" }.joined(separator: ",")
    #expect(
      try anchors("{\(list)}").usualHeight == HeightPrior(mean, standardDeviation: deviation))
  }

  private func pair(_ text: String, beside: String = "") throws -> AntennaPair {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(
      "{\(beside) pairs: [{column: \"p\", \(text)}]}", to: "geometry.json")
    return try #require(try RangingCalibration(file: file).antennaPairs().first)
  }

  /// Each way to describe antennas half a wavelength apart gives the same phases.
  @Test(arguments: [
    ("spacing_wavelengths: 0.5", ""), ("spacing_m: 0.02", "wavelength_m: 0.04,"),
    ("spacing_m: 0.01875", "frequency_hz: 7992000000,"),
    ("spacing_m: 0.01877699", "channel: 9,"), ("spacing_wavelengths: 0.5, axis: [0, 3, 0]", ""),
    ("antennas: [\"a\", \"b\"]", "wavelength_m: 1, antennas: {a: [0, 0.25, 0], b: [0, -0.25, 0]},"),
  ])
  func baselines(_ text: String, beside: String) throws {
    let pair = try pair(text, beside: beside)
    for degrees in stride(from: -90.0, through: 90, by: 15) {
      let azimuth = degrees * .pi / 180
      let expected = try self.pair("spacing_wavelengths: 0.5").phase(azimuth: azimuth, elevation: 0)
      #expect(abs(pair.phase(azimuth: azimuth, elevation: 0) - expected) < 0.01, "\(degrees)")
    }
  }

  @Test(arguments: [
    ("spacing_wavelengths: 0.5, noise_rad: 0", "noise_rad is not greater than 0"),
    ("spacing_wavelengths: 0.5, model_rad: -1", "model_rad is not 0 to 10"),
    ("spacing_wavelengths: 0.5, axis: [0, 0, 0]", "its axis needs x, y and z"),
    ("spacing_wavelengths: 0.5, axis: [1]", "its axis needs x, y and z"),
    ("offset_rad: 1", "neither antennas nor a spacing nor a table"),
    ("spacing_m: 0.02", "channel, frequency_hz or wavelength_m is missing"),
    ("antennas: [\"a\"]", "it needs two antennas"),
    ("antennas: [\"a\", \"b\"]", "it needs two antennas"),
    ("table: [{angle_deg: 0, phase_rad: 0}]", "its table needs two points"),
    ("table: [{angle_deg: 0}, {angle_deg: 9, phase_deg: 3}]", "its table needs two points"),
    ("spacing_wavelengths: 0.5, spacing: 3", "spacing"),
    ("spacing_wavelengths: 0", "its spacing is not greater than 0"),
    ("spacing_wavelengths: -0.5", "its spacing is not greater than 0"),
    ("spacing_wavelengths: 18.8", "more than 10 wavelengths apart"),
    ("spacing_wavelengths: 0.5, axis: [0, 0, 1]", "determine no azimuth"),
    ("spacing_wavelengths: 0.5}, {column: \"p\", spacing_wavelengths: 1", "the same column"),
  ])
  func wrongAntennas(_ text: String, cause: String) {
    let error = #expect(throws: LabError.self) { try pair(text) }
    #expect(error?.code == .badFile)
    #expect(error?.description.contains(cause) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    ("spacing_m: 0.02", "channel: 99,", "channel takes 5 or 9"),
    ("spacing_m: 0.02", "wavelength_m: 0,", "wavelength_m more than 0"),
    (
      "antennas: [\"a\", \"b\"]", "channel: 9, antennas: {a: [0, 1, 0], b: [0, 1, 0]},",
      "same place"
    ),
  ])
  func wrongSurroundings(_ text: String, beside: String, cause: String) {
    let error = #expect(throws: LabError.self) { try pair(text, beside: beside) }
    #expect(error?.code == .badFile)
    #expect(error?.description.contains(cause) == true, "\(error?.description ?? "")")
  }

  /// The geometry names its column with radians, and a table may have the column in degrees.
  @Test func aPhaseMayHaveAnotherUnit() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    func azimuth(_ table: String, elevation: Int = 0) throws -> Double? {
      let file = try folder.write(
        "{elevation_deg: \(elevation), pairs: [{column: \"pdoa_rad\", spacing_wavelengths: 0.5}]}",
        to: "geometry.json")
      let geometry = try RangingCalibration(file: file)
      return try CSVTable(text: table).directions(geometry: geometry).rows.first?.value?.azimuth
    }
    let radians = try #require(try azimuth("time_s,pdoa_rad\n0,1.0471975512\n"))
    let degrees = try #require(try azimuth("time_s,pdoa_deg\n0,60\n"))
    #expect(abs(degrees - radians) < 1e-6)
    let plain = #expect(throws: LabError.self) { try azimuth("time_s,pdoa\n0,60\n") }
    #expect(plain?.description.contains("no unit") == true)
    let absent = #expect(throws: LabError.self) { try azimuth("time_s\n0\n") }
    #expect(absent?.description == "The input has no column pdoa_rad.")
    #expect(absent?.recoverySuggestion == "Rename its column: time_s")
    let upright = #expect(throws: LabError.self) {
      try azimuth("time_s,pdoa_rad\n0,1\n", elevation: 90)
    }
    #expect(upright?.description.contains("elevation_deg") == true)
  }

  @Test func aTableOfPhasesIsFollowed() throws {
    let pair = try pair(
      """
      offset_rad: 0.5, noise_rad: 0.2, table: [{angle_deg: -90, phase_rad: -3},
        {angle_deg: 0, phase_deg: 0}, {angle_deg: 90, phase_rad: 2}]
      """)
    #expect(pair.phaseDeviation == 0.2)
    for (degrees, phase) in [(-90.0, -2.5), (0, 0.5), (90, 2.5)] {
      let found = pair.phase(azimuth: degrees * .pi / 180, elevation: 0)
      #expect(abs(found - phase) < 1e-9, "\(degrees)")
    }
  }

  @Test func errorsOfFilesHaveTheirCode() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let missing = #expect(throws: LabError.self) { try RangingCalibration(file: "/no/such") }
    #expect(missing?.code == .unreadable && missing?.description.contains("/no/such") == true)
    let place = #expect(throws: LabError.self) { try RangingCalibration().write(to: "/no/such") }
    #expect(place?.code == .notCreated && place?.errorDescription == place?.description)
    let checked = #expect(throws: LabError.self) {
      try RangingCalibration.check(output: "/no/such")
    }
    #expect(checked?.code == .notCreated && checked?.description == place?.description)
    var one = RangingCalibration()
    one.delay = 0.1
    try one.merge(intoFile: folder.path("c.json"))
    var other = RangingCalibration()
    other.peerDelays = ["a": 0.2]
    try other.merge(intoFile: folder.path("c.json"))
    let both = try RangingCalibration(file: folder.path("c.json"))
    #expect(both.delay == 0.1 && both.peerDelays == ["a": 0.2])
  }
}

/// The corrections of distances by board, antenna, peer and level.
@Suite(.computes) struct RangeCorrectionTests {
  private static func calibration(_ change: (inout RangingCalibration) -> Void)
    -> RangingCalibration
  {
    var calibration = RangingCalibration()
    change(&calibration)
    return calibration
  }

  private static func boards(_ delays: [(String, Int, Int, Double)]) throws -> RangingCalibration {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let list = delays.map {
      #"{board: "\#($0)", channel: \#($1), antenna: \#($2), delay_m: \#($3), sigma_m: 0.01}"#
    }
    let file = try folder.write("{antenna_delays: [\(list.joined(separator: ","))]}", to: "c.json")
    return try RangingCalibration(file: file)
  }

  /// The corrected range of 10 m in a row, or the status of the row.
  private func corrected(
    _ calibration: RangingCalibration, _ header: String, _ cells: String
  ) throws -> (range: Double?, status: String) {
    let table = try CSVTable(text: "time_s,range_m,\(header)\n0,10,\(cells)\n")
    let row = try #require(
      try table.filteredRanges(live: true, calibration: calibration).rows.first)
    return (row.value?.distance, row.status)
  }

  @Test(arguments: [("a", 0.1), ("b", 0.5), ("c", 0.3), ("", 0.3)])
  func delaysOfPeers(_ peer: String, delay: Double) throws {
    let calibration = Self.calibration { $0.peerDelays = ["a": 0.1, "b": 0.5] }
    let found = try corrected(calibration, "peer", peer)
    #expect(abs((found.range ?? 0) - 10 + delay) < 1e-6 && found.status == "started")
  }

  @Test(arguments: [
    ("A,B,,,", 0.3, "started"), ("B,A,0,0,9", 0.3, "started"), ("A,B,,1,", 0.7, "started"),
    ("A,B,0,0,5", 1.1, "started"), ("A,C,,,", nil, "unknown_board_b"),
    ("C,A,,,", nil, "unknown_board_a"),
    ("A,B,2,0,", nil, "unknown_board_a"), (",B,,,", nil, "unknown_board_a"),
    ("A,B,x,,", 0.3, "started"),
  ])
  func delaysOfBoards(_ cells: String, delay: Double?, status: String) throws {
    let calibration = try Self.boards([
      ("A", 9, 0, 0.1), ("B", 9, 0, 0.2), ("B", 9, 1, 0.6), ("A", 5, 0, 0.5), ("B", 5, 0, 0.6),
    ])
    let found = try corrected(calibration, "board_a,board_b,antenna_a,antenna_b,channel", cells)
    #expect(found.status == status)
    #expect(found.range.map { abs($0 - 10 + (delay ?? 0)) < 1e-6 } ?? (delay == nil), "\(found)")
  }

  @Test(arguments: [(-90.0, 0.2), (-80, 0), (-70, -0.2), (-99, 0.2), (-50, -0.2)])
  func biasByLevel(_ level: Double, bias: Double) throws {
    let calibration = Self.calibration {
      $0.powerBias = PowerBias([.init(power: -90, bias: 0.2), .init(power: -70, bias: -0.2)])
    }
    let found = try corrected(calibration, "rx_power_dbm", "\(level)")
    #expect(abs((found.range ?? 0) - 10 + bias) < 1e-6)
    #expect(abs((try corrected(calibration, "rx_power_dbm", "").range ?? 0) - 10) < 1e-6)
  }

  @Test func whatIsNoCorrectionIsRefused() throws {
    let empty = #expect(throws: LabError.self) { try corrected(.init(), "peer", "a") }
    #expect(empty?.code == .badFile)
    let boards = try Self.boards([("A", 9, 0, 0.1)])
    let missing = #expect(throws: LabError.self) { try corrected(boards, "board_a", "A") }
    #expect(missing?.description.contains("board_b") == true)
  }

  /// Ranges of peers with known truth reproduce the delays that were added.
  @Test(arguments: [[0.1], [0.1, 0.3], [0.2, 0.5, 0.35]])
  func theFitFindsTheDelays(_ delays: [Double]) throws {
    var known = KnownRanges()
    for (peer, delay) in delays.enumerated() {
      for step in 0..<20 {
        let truth = 2 + Double(step)
        known.add(peer: "p\(peer)", measured: truth + delay, truth: truth, power: nil)
      }
    }
    let fit = try #require(RangeBiasFit(known.list))
    let calibration = known.calibration(fit)
    let mean = delays.reduce(0, +) / Double(delays.count)
    #expect(abs(try #require(calibration.delay) - mean) < 1e-4)
    #expect(calibration.peerDelays?.count ?? 1 == delays.count)
    for (peer, delay) in delays.enumerated() where delays.count > 1 {
      #expect(abs((calibration.peerDelays?["p\(peer)"] ?? 0) - delay) < 1e-4)
    }
    #expect(calibration.residuals?.count == 20 * delays.count)
    #expect(calibration.summary.hasPrefix("delay 0.") && calibration.summary.contains("0.0 cm RMS"))
  }
}
