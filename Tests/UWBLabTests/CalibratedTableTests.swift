// SPDX-License-Identifier: Apache-2.0

import Estimators
import Ranging
import Testing
import UWBLab
import UWBTestSupport

/// Corrections that were learned from distances are applied to tables of distances.
@Suite(.computes) struct CalibratedTableTests {
  /// The delays of three peers, or of anchors with the same names.
  private var byPeer: RangingCalibration {
    var calibration = RangingCalibration()
    (calibration.delay, calibration.peerDelays) = (0.4, ["A": 0.3, "B": 0.5, "C": 0.4])
    return calibration
  }

  @Test(arguments: [false, true])
  func filteredRangesLoseTheirBias(live: Bool) throws {
    var text = "time_s,peer,range_m\n"
    for step in 0..<30 {
      for (peer, delay) in [("A", 0.3), ("B", 0.5), ("new", 0.4)] {
        text += "\(Double(step) / 10),\(peer),\(5 + delay)\n"
      }
    }
    let run = try ComputedText(
      try CSVTable(text: text).filteredRanges(live: live, calibration: byPeer))
    let plain = try ComputedText(try CSVTable(text: text).filteredRanges(live: live))
    #expect(run.numbers("range_m").allSatisfy { abs($0 - 5) < 1e-3 })
    let (sigmas, bare) = (run.numbers("sigma_m"), plain.numbers("sigma_m"))
    // The calibration has one position of each known peer, and no position of a new peer.
    let last = sigmas.count - 3
    #expect(sigmas[last] > 0.08 && sigmas[last] > bare[last])
    #expect(sigmas[last] == sigmas[last + 1] && sigmas[last + 2] > 0.13)
  }

  @Test func theLevelAndTheBoardsCountToo() throws {
    var calibration = RangingCalibration()
    calibration.powerBias = PowerBias([
      .init(power: -90, bias: 0.2), .init(power: -70, bias: -0.2),
    ])
    calibration.antennaDelays = [
      .init(BoardAntenna("x"), AntennaDelayFit.Delay(metres: 0.1, standardDeviation: 0.01)),
      .init(BoardAntenna("y"), AntennaDelayFit.Delay(metres: 0.2, standardDeviation: 0.01)),
    ]
    var text = "time_s,range_m,rx_power_dbm,board_a,board_b\n"
    for step in 0..<20 { text += "\(Double(step) / 10),5,-90,x,y\n" }
    text += "2,5,-90,x,z\n"
    let run = try ComputedText(try CSVTable(text: text).filteredRanges(calibration: calibration))
    #expect(run.numbers("range_m").dropLast().allSatisfy { abs($0 - 4.5) < 1e-3 })
    #expect(run.column("status").last == "unknown_board_b")
    #expect(run.column("range_m").last?.isEmpty == true)
  }

  @Test(arguments: [false, true])
  func positionsUseTheDelaysOfAnchors(live: Bool) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(
      #"{"anchors": {"A": [0, 0, 2], "B": [8, 0, 2], "C": [4, 7, 2]}, "height_m": 1}"#,
      to: "anchors.json")
    let delays = ["A": 0.3, "B": 0.5, "C": 0.4]
    var text = "time_s,peer,anchor,range_m\n"
    for step in 0..<40 {
      for (name, x, y) in [("A", 0.0, 0.0), ("B", 8, 0), ("C", 4, 7)] {
        let truth = ((x - 3) * (x - 3) + (y - 2) * (y - 2) + 1).squareRoot()
        text += "\(Double(step) / 5),tag,\(name),\(truth + (delays[name] ?? 0))\n"
      }
    }
    func run(_ calibration: RangingCalibration?) throws -> ComputedText {
      try ComputedText(
        try CSVTable(text: text).positions(
          try Anchors(file: file), motion: .tracked(live: live), calibration: calibration))
    }
    let (corrected, raw) = (try run(byPeer), try run(nil))
    #expect(abs(try #require(corrected.numbers("x_m").last) - 3) < 0.02)
    #expect(abs(try #require(corrected.numbers("y_m").last) - 2) < 0.02)
    // Known delays make the stated deviation smaller, and only the slowly changing error remains.
    #expect(
      try #require(corrected.numbers("cov_xx").last) < #require(raw.numbers("cov_xx").last))
    let differences = try CSVTable(text: "time_s,anchor_a,anchor_b,tdoa_m\n0,A,B,1\n")
    let error = #expect(throws: LabError.self) {
      try differences.positions(try Anchors(file: file), calibration: byPeer)
    }
    #expect(error?.description.contains("differences") == true)
  }

  @Test func targetsAreFoundWithoutBias() throws {
    var text = "time_s,x,y,yaw_deg,range_m\n"
    for step in 0..<50 {
      let (x, y) = (min(Double(step) * 0.1, 2.5), max(0, Double(step) * 0.1 - 2.5))
      let range = ((x + 1) * (x + 1) + (y + 2) * (y + 2)).squareRoot() + 0.4
      text += "\(Double(step) * 0.1),\(x),\(y),0,\(range)\n"
    }
    let table = try CSVTable(text: text)
    func error(_ calibration: RangingCalibration?) throws -> Double {
      let run = try ComputedText(try table.targets(calibration: calibration))
      let (x, y) = (run.numbers("target_x_m").last ?? 9, run.numbers("target_y_m").last ?? 9)
      return ((x + 1) * (x + 1) + (y + 2) * (y + 2)).squareRoot()
    }
    let (corrected, raw) = (try error(byPeer), try error(nil))
    #expect(corrected < 0.1 && corrected < raw)
  }

  @Test func aCalibrationOfAnglesIsRefused() throws {
    let table = try CSVTable(text: "time_s,range_m\n0,1\n")
    #expect(throws: LabError.self) { try table.filteredRanges(calibration: RangingCalibration()) }
  }
}

/// Sums of delays of two boards, from measurements that contain no triangle of boards.
@Suite(.computes) struct PairDelayTests {
  private func fit(_ pairs: [(String, String, Double)]) throws -> RangingCalibration {
    var text = "board_a,board_b,truth_m,range_m\n"
    for (a, b, delay) in pairs {
      for step in 0..<9 { text += "\(a),\(b),3,\(3 + delay + 0.01 * Double(step - 4))\n" }
    }
    let report = try DelayCalibration().fit(
      try CSVTable(text: text).delayMeasurements().values
    ).report
    #expect(report.problem == nil)
    return report.calibration
  }

  @Test func tagsAndAnchorsHaveSums() throws {
    let calibration = try fit([("T", "A", 0.3), ("T", "B", 0.4), ("U", "A", 0.5), ("U", "B", 0.6)])
    #expect(calibration.antennaDelays == nil && calibration.pairDelays?.count == 4)
    let table = try CSVTable(
      text: "time_s,board_a,board_b,range_m\n0,A,T,5.3\n1,B,T,5.4\n2,A,U,5.5\n3,U,B,5.6\n4,A,B,5\n")
    let run = try ComputedText(try table.filteredRanges(calibration: calibration))
    #expect(run.numbers("range_m").prefix(4).allSatisfy { abs($0 - 5) < 0.005 })
    #expect(run.column("status")[4] == "unknown_board_a")
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try calibration.write(to: folder.path("pairs.json"))
    #expect(try RangingCalibration(file: folder.path("pairs.json")) == calibration)
  }

  @Test func anchorsOfOneTagAreItsPeers() throws {
    let calibration = try fit([("T", "A", 0.3), ("T", "B", 0.4), ("C", "T", 0.5)])
    let table = try CSVTable(
      text: "time_s,peer,range_m\n0,A,5.3\n0,B,5.4\n0,C,5.5\n1,A,5.3\n1,B,5.4\n1,C,5.5\n")
    let run = try ComputedText(try table.filteredRanges(calibration: calibration))
    #expect(run.numbers("range_m").allSatisfy { abs($0 - 5) < 0.005 })
  }

  /// The mean and the scatter of the known delays apply to other peers.
  @Test func othersHaveTheMeanOfThePeers() throws {
    let calibration = try fit([("T", "A", 0.3), ("T", "B", 0.5)])
    let rows = (0..<20).map { "\($0),C,5.4,0.9\n" }.joined()
    let table = try CSVTable(text: "time_s,peer,range_m,bias_sigma_m\n" + rows)
    let run = try ComputedText(try table.filteredRanges(calibration: calibration))
    #expect(run.numbers("range_m").allSatisfy { abs($0 - 5) < 0.005 })
    #expect(run.numbers("sigma_m").allSatisfy { 0.23..<0.3 ~= $0 })
    // A single delay has no scatter.
    var one = RangingCalibration()
    one.peerDelays = ["A": 0.4]
    let single = try ComputedText(try table.filteredRanges(calibration: one))
    #expect(single.numbers("sigma_m").allSatisfy { 0.3..<0.4 ~= $0 })
  }

  /// More measurements do not reduce the error of an anchor. This holds live, with later rows, and
  /// with single epochs.
  @Test func positionsAreLessCertainWithAnAnchorThatIsNotCalibrated() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let places = [("A", 0.0, 0.0), ("B", 8, 0), ("C", 8, 6)]
    let list = places.map { "\"\($0)\": [\($1), \($2), 1]" }.joined(separator: ", ")
    let anchors = try Anchors(file: try folder.write("{\(list)}", to: "anchors.json"))
    var text = "time_s,anchor,range_m\n"
    for step in 0..<100 {
      for (name, x, y) in places {
        let range = ((x - 4) * (x - 4) + (y - 3) * (y - 3)).squareRoot()
        text += "\(step),\(name),\(range + (name == "C" ? 0.7 : 0.4))\n"
      }
    }
    let table = try CSVTable(text: text)
    let motions: [CSVTable.Motion] = [.tracked(), .tracked(live: true), .independent]
    for motion in motions {
      func variance(_ delays: [String: Double]) throws -> Double {
        var calibration = RangingCalibration()
        calibration.peerDelays = delays
        let run = try ComputedText(
          try table.positions(anchors, height: 1, motion: motion, calibration: calibration))
        return try #require(run.numbers("cov_yy").last)
      }
      let known = try variance(["A": 0.4, "B": 0.4, "C": 0.7])
      let unknown = try variance(["A": 0.4, "B": 0.4])
      #expect(unknown > 1.2 * known, "\(motion): \(unknown) \(known)")
    }
  }

  @Test(arguments: [false, true])
  func aConstantErrorCanBeSupposed(live: Bool) throws {
    let table = try CSVTable(text: "time_s,range_m,bias_sigma_m\n0,5,\n1,5,0.1\n2,5,\n")
    let run = try ComputedText(try table.filteredRanges(biasDeviation: 0.4, live: live))
    let (sigmas, plain) = (
      run.numbers("sigma_m"),
      try ComputedText(try table.filteredRanges(live: live)).numbers("sigma_m")
    )
    #expect(sigmas[0] > 0.4 && sigmas[2] > 0.4 && plain[0] < 0.2)
    // A column takes precedence.
    #expect(sigmas[1] == plain[1])
  }

  /// The delays of a measured triangle of boards take precedence over the sums in the file.
  @Test func delaysOfATriangleGoFirst() throws {
    var calibration = try fit([("T", "A", 0.3), ("T", "B", 0.4)])
    calibration.merge(try fit([("T", "A", 0.2), ("T", "B", 0.2), ("A", "B", 0.2)]))
    #expect(calibration.pairDelays?.count == 2 && calibration.antennaDelays?.count == 3)
    let table = try CSVTable(text: "time_s,board_a,board_b,range_m\n0,A,T,5.2\n1,A,T,5.2\n")
    let run = try ComputedText(try table.filteredRanges(calibration: calibration))
    #expect(run.numbers("range_m").allSatisfy { abs($0 - 5) < 0.005 })
  }
}
