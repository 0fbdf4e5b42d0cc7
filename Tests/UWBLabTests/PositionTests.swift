// SPDX-License-Identifier: Apache-2.0

import Estimators
import Ranging
import RangingScenes
import Testing
import UWBLab
import UWBTestSupport

@Suite(.computes) struct PositionTests {
  private let anchors = [
    "A": (0.0, 0.0, 0.5), "B": (6, 0, 2.5), "C": (6, 5, 0.5), "D": (0, 5, 2.5),
  ]

  private func distance(_ name: String, _ x: Double) -> Double {
    let a = anchors[name]!
    return ((x - a.0) * (x - a.0) + (2 - a.1) * (2 - a.1) + (1 - a.2) * (1 - a.2)).squareRoot()
  }

  @Test(arguments: [
    #"{"anchors": {"A": [0, 0, 0.5], "B": [6, 0, 2.5], "C": [6, 5, 0.5], "D": [0, 5, 2.5]}}"#,
    """
    [{"id": "A", "x": 0, "y": 0, "z": 0.5}, {"name": "B", "x": 6, "y": 0, "z": 2.5},
     {"anchor": "C", "position": [6, 5, 0.5]}, {"id": "D", "x_m": 0, "y_m": 5, "z_m": 2.5}]
    """,
  ])
  func rangesGivePositions(_ json: String) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(json, to: "anchors.json")
    var text = "anchor,note,time_s,range_m\n"
    for step in 0..<40 {
      for name in anchors.keys.sorted() {
        text += "\(name),n\(step),\(step),\(distance(name, 2 + Double(step) / 20))\n"
      }
    }
    text += "Z,,99,1\nA,,98,x\n"
    let motions: [CSVTable.Motion] = [.tracked(), .tracked(live: true), .independent]
    for motion in motions {
      let run = try ComputedText(
        try CSVTable(text: text).positions(try Anchors(file: file), motion: motion))
      #expect(run.rows.count == 42 && run.rows[7]["note"] == "n7")
      for step in 0..<40 {
        #expect(abs(run.numbers("x_m")[step] - 2 - Double(step) / 20) < 0.06)
        #expect(abs(run.numbers("y_m")[step] - 2) < 0.06)
        #expect(0.05..<1 ~= run.numbers("r95_m")[step])
        #expect(run.numbers("cov_xx")[step] > 0 && run.column("used")[step] == "4")
      }
      #expect(run.column("status").suffix(2) == ["unknown_anchor", "invalid_range_m"])
    }
    for bad in ["{\"anchors\": 5}", "{}", "{\"A\": [1]}", "[{\"id\": \"A\", \"x\": 1, \"z\": 2}]"] {
      let path = try folder.write(bad, to: "bad.json")
      let error = #expect(throws: LabError.self, "\(bad)") { try Anchors(file: path) }
      #expect(error?.code == .badFile)
    }
  }

  /// The columns of `uwbctl range --format csv`, and anchors at one height.
  @Test func peersAreTheAnchorsWhereNoColumnIs() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(
      #"{"0x0001": [0, 0, 2], "0x0002": [6, 0, 2], "0x0003": [3, 5, 2]}"#, to: "anchors.json")
    let text = """
      time_s,session,peer,status,distance_cm
      0,1,0x0001,OK,269
      0,1,0x0002,OK,439
      0,1,0x0003,OK,377
      1,1,0x0001,OK,269
      1,1,0x0002,RANGING_RX_TIMEOUT,
      1,1,0x0003,OK,377
      1,1,0x0000,RANGING_RX_TIMEOUT,
      """
    let anchors = try Anchors(file: file)
    for motion in [CSVTable.Motion.independent, .tracked()] {
      let known = try ComputedText(
        try CSVTable(text: text).positions(anchors, height: 1, motion: motion))
      #expect(known.column("used") == ["3", "2"])
      #expect(abs(known.numbers("x_m")[0] - 2) < 0.05 && abs(known.numbers("y_m")[0] - 1.5) < 0.05)
      #expect(known.column("status")[0] == "ok")
    }
    let unknown = try ComputedText(
      try CSVTable(text: text).positions(anchors, motion: .independent))
    #expect(unknown.column("status")[0].contains("coplanar"))
    let error = #expect(throws: LabError.self) {
      try CSVTable(text: "time_s,range_m\n0,1\n").positions(anchors)
    }
    #expect(error?.description.contains("anchor") == true)
    // The column of anchors has another name beside a column of peers.
    let misspelt = try CSVTable(text: "time_s,peer,anchors,range_m\n0,tag,0x0001,2\n")
    let problem = try misspelt.positions(anchors).problem
    #expect(problem?.description.contains("tag (1 row)") == true)
    #expect(problem?.recoverySuggestion?.contains("rename it: time_s, peer, anchors") == true)
  }

  /// The time is bounded, however often an anchor is repeated.
  @Test func hundredsOfRepetitionsAreNotUsed() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(
      #"{"A": [0, 0, 0.5], "B": [6, 0, 2.5], "C": [6, 5, 0.5], "D": [0, 5, 2.5]}"#, to: "a.json")
    let list = try Anchors(file: file)
    var text = "time_s,anchor,range_m\n"
    for name in anchors.keys.sorted() {
      let rows = name == "A" ? 50 : 250
      for row in 0..<rows {
        text += "0,\(name),\(distance(name, 2) + 0.01 * (Double(row % 7) - 3))\n"
      }
    }
    let warning =
      "600 rows of anchors with more than 50 rows of one peer at one time are not used: 50 of each "
      + "are enough."
    for motion in [CSVTable.Motion.tracked(), .tracked(live: true), .independent] {
      let table = try CSVTable(text: text).positions(list, motion: motion)
      #expect(table.warnings == [warning])
      let run = try ComputedText(table)
      #expect(run.column("used") == ["200"])
      #expect(abs(run.numbers("x_m")[0] - 2) < 0.05 && abs(run.numbers("y_m")[0] - 2) < 0.05)
    }
    let output = folder.path("live.csv")
    let live = try list.locate(
      from: try folder.write(text, to: "t.csv"), to: output, CSVTable.Format(), sigma: 0.15,
      height: nil, acceleration: nil, calibration: nil)
    #expect(live == [warning])
  }

  /// The memory of a path is bounded; positions of single epochs need none.
  @Test(arguments: [(1001, 1001), (1000, 34_000)])
  func pathsWithTooManyAnchorsAreRefused(_ count: Int, rows: Int) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let list = (0..<count).map { "\"\($0)\": [\($0 % 40), \($0 / 40), \($0 % 3)]" }
    let file = try folder.write("{\(list.joined(separator: ", "))}", to: "anchors.json")
    let text = (0..<rows).map { "0,\($0 % count),5\n" }.joined()
    let table = try CSVTable(text: "time_s,anchor,range_m\n" + text)
    let anchors = try Anchors(file: file)
    let error = #expect(throws: LabError.self) { try table.positions(anchors) }
    #expect(error?.description.hasPrefix("\(rows) measurements to \(count) anchors take") == true)
    #expect(error?.recoverySuggestion?.contains("--single") == true)
    #expect(error?.recoverySuggestion?.contains("--live") == (count == 1000))
  }

  @Test func rangeDifferencesGivePositions() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(
      #"{"A": [0, 0, 0.5], "B": [6, 0, 2.5], "C": [6, 5, 0.5], "D": [0, 5, 2.5]}"#, to: "a.json")
    var text = "time_s,anchor_a,anchor_b,tdoa_m\n"
    for step in 0..<40 {
      for name in ["B", "C", "D"] {
        text += "\(step),A,\(name),\(distance(name, 2) - distance("A", 2))\n"
      }
    }
    let run = try ComputedText(
      try CSVTable(text: text).positions(try Anchors(file: file), height: 1))
    #expect(abs(run.numbers("x_m")[20] - 2) < 0.05 && abs(run.numbers("y_m")[20] - 2) < 0.05)
  }

  /// A tag at rest among anchors. The delays of all boards differ from the assumed ones.
  @Test(arguments: 0...2)
  func `The stated circle includes the delays of boards without a calibration`(
    _ way: Int
  ) throws {
    let motion = [CSVTable.Motion.tracked(), .tracked(live: true), .independent][way]
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(
      #"{"A": [0, 0, 0.5], "B": [6, 0, 2.5], "C": [6, 5, 0.5], "D": [0, 5, 2.5]}"#, to: "a.json")
    let list = try Anchors(file: file)
    // Each end has half of the variance of a distance.
    let end = ChipFamily.unknown.uncalibratedDeviation / 2.0.squareRoot()
    var (within, radii) = (0, [Double]())
    for seed in 1...60 as ClosedRange<UInt64> {
      var noise = Noise(seed: seed)
      let (x, own) = (noise.uniform(1, 5), end * noise.normal())
      let delays = anchors.keys.sorted().map { ($0, own + end * noise.normal()) }
      var text = "anchor,time_s,range_m\n"
      for step in 0..<12 {
        for (name, delay) in delays {
          text += "\(name),\(step),\(distance(name, x) + delay + 0.05 * noise.normal())\n"
        }
      }
      let run = try ComputedText(
        try CSVTable(text: text).positions(list, height: 1, motion: motion))
      let (dx, dy) = (run.numbers("x_m")[11] - x, run.numbers("y_m")[11] - 2)
      radii.append(run.numbers("r95_m")[11])
      if dx * dx + dy * dy <= radii[radii.count - 1] * radii[radii.count - 1] { within += 1 }
    }
    // With an assumed deviation of 7 cm for each anchor, a third of the places was outside.
    #expect(within >= 53, "\(within) of 60")
    #expect(radii.allSatisfy { $0 < 1 }, "\(radii)")
  }

  /// The ranges are the same, and only the knowledge about their constant errors differs.
  @Test func `A calibration makes the circle smaller`() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let places = [#""x": 0, "y": 0"#, #""x": 6, "y": 0"#, #""x": 6, "y": 5"#, #""x": 0, "y": 5"#]
    func file(_ more: String) throws -> Anchors {
      let list = zip("ABCD", places).map { #"{"id": "\#($0)", \#($1), "z": 1\#(more)}"# }
      return try Anchors(
        file: try folder.write("[\(list.joined(separator: ", "))]", to: "anchors.json"))
    }
    func radius(_ anchors: Anchors, column: String = "", _ value: String = "") throws -> Double {
      var text = "anchor,time_s,range_m\(column)\n"
      for step in 0..<12 { text += "ABCD".map { "\($0),\(step),3.9\(value)\n" }.joined() }
      return try ComputedText(
        try CSVTable(text: text).positions(anchors, height: 1, motion: .tracked(live: true))
      ).numbers("r95_m")[11]
    }
    let unknown = try radius(try file(""))
    #expect(try radius(try file(#", "bias_m": 0.1"#)) < 0.6 * unknown)
    #expect(try radius(try file(""), column: ",bias_sigma_m", ",0.03") < 0.6 * unknown)
    let stated = try radius(try file(""), column: ",bias_sigma_m", ",0.3")
    #expect(abs(stated - unknown) < 0.1 * unknown, "\(stated) \(unknown)")
  }

  @Test func phasesGiveAngles() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try folder.write(
      """
      {"channel": 9, "pairs": [{"column": "pdoa_rad", "spacing_wavelengths": 0.45,
       "offset_rad": 0.1}]}
      """, to: "array.json")
    var text = "pdoa_rad,time_s\n"
    // The sine of 30 degrees is a half.
    for step in 0..<20 { text += "\(2 * Double.pi * 0.45 / 2 + 0.1),\(Double(step) / 10)\n" }
    text += ",2.1\n1,\n"
    let run = try ComputedText(
      try CSVTable(text: text).directions(geometry: try RangingCalibration(file: file)))
    #expect(run.header.suffix(4) == ["azimuth_deg", "elevation_deg", "sigma_deg", "status"])
    for row in 0..<20 { #expect(abs(run.numbers("azimuth_deg")[row] - 30) < 0.3) }
    #expect(run.column("status").suffix(2) == ["missing_pdoa_rad", "missing_time_s"])
  }
}
