// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Estimators
import Foundation
import ProgramTestSupport
import Ranging
import Testing
import UWB
import UWBLab
import UWBSimulator
import UWBTestSupport

@testable import uwblab

/// `uwblab calibrate` on tables, on simulated chips, and at a terminal.
@Suite(.ownThreads) struct CalibrateTests {
  private func run(_ arguments: [String]) async throws {
    var command = try Calibrate.parseAsRoot(arguments)
    if var asynchronous = command as? any AsyncParsableCommand {
      try await asynchronous.run()
    } else {
      try command.run()
    }
  }

  private func calibration(_ folder: TemporaryFolder, _ name: String) throws -> RangingCalibration {
    try RangingCalibration(file: folder.path(name))
  }

  // MARK: from tables

  /// Five boards, one placement 40 cm wrong.
  private var pairs: String {
    let delays = ["A": 0.153, "B": 0.121, "C": 0.187, "D": 0.14, "E": 0.165]
    var text = "board_a,board_b,truth_cm,range_m,note\n"
    for (a, x) in delays.sorted(by: { $0.key < $1.key }) {
      for (b, y) in delays.sorted(by: { $0.key < $1.key }) where a < b {
        for index in 0..<9 {
          let wrong = a == "B" && b == "D" ? 0.4 : 0
          let distance: Double = 2.5 + x + y + wrong
          text += "\(a),\(b),250,\(distance + 0.01 * Double(index - 4)),n\n"
        }
      }
    }
    return text
  }

  @Test func delaysFromATable() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let table = try folder.write(pairs, to: "pairs.csv")
    let (file, plot) = (folder.path("board.json"), folder.path("plot.svg"))
    let other = #"{antenna_delays: [{board: "Z", delay_m: 0.5}], delay_m: 0.3}"#
    _ = try folder.write(other, to: "board.json")
    try await run(["delay", "--from", table, "--output", file, "--plot", plot])
    let found = try calibration(folder, "board.json")
    let delays = found.antennaDelays ?? []
    #expect(delays.map(\.board) == ["A", "B", "C", "D", "E", "Z"])
    for (delay, truth) in zip(delays, [0.153, 0.121, 0.187, 0.14, 0.165, 0.5]) {
      #expect(abs(delay.delay - truth) < 0.004, "\(delay.board)")
    }
    #expect(found.delay == 0.3 && found.residuals?.count == 9)
    #expect(try folder.read("plot.svg").contains(">outlier<"))
  }

  @Test func twoBoardsGiveTheSum() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let table = try folder.write(
      "board_a,board_b,truth_m,range_m\nA,B,2,2.3\nB,A,4,4.3\n", to: "pairs.csv")
    let file = folder.path("board.json")
    try await run(["delay", "--from", table, "--output", file])
    let found = try calibration(folder, "board.json")
    #expect(abs((found.delay ?? 0) - 0.3) < 1e-9)
    let sum = try #require(found.pairDelays?.first)
    #expect(sum.boards == ["A", "B"] && abs(sum.delay - 0.3) < 1e-9)
    #expect(0.01...0.02 ~= sum.standardDeviation ?? 0)
    try await run(["delay", "--from", table, "--known", "A=12 cm", "--output", file])
    let known = try calibration(folder, "board.json").antennaDelays
    #expect(abs((known?.first { $0.board == "B" }?.delay ?? 0) - 0.18) < 1e-9)
  }

  /// The time grows with the number of placements, not with its square or cube.
  @Test func aThousandBoardsHaveDelays() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    func delay(_ board: Int) -> Double { 0.1 + Double(board * 37 % 100) / 1000 }
    var text = "board_a,board_b,truth_m,range_m\n"
    for board in 0..<1000 {
      for other in [board + 1, board + 2] {
        text += "b\(board),b\(other % 1000),3,\(3 + delay(board) + delay(other % 1000))\n"
      }
    }
    let table = try folder.write(text, to: "pairs.csv")
    try await run(["delay", "--from", table, "--output", folder.path("board.json")])
    let delays = try calibration(folder, "board.json").antennaDelays ?? []
    #expect(delays.count == 1000)
    for one in delays {
      let truth = delay(Int(one.board.dropFirst()) ?? 0)
      #expect(abs(one.delay - truth) < 1e-6 && 0.001...0.1 ~= one.standardDeviation ?? 0)
    }
  }

  /// Each board was measured with others at random, so that no order keeps them close together.
  @Test func tooManyBoardsAreRefusedAtOnce() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var text = "board_a,board_b,truth_m,range_m\n"
    for board in 0..<5000 {
      for step in [7919, 4391, 1013] { text += "b\(board),b\((board * step + step) % 5003),3,3\n" }
    }
    let table = try folder.write(text, to: "pairs.csv")
    let outcome = try ChildProcess.run(
      ["calibrate", "delay", "--from", table], program: ChildProcess.uwblab)
    #expect(outcome.status == 65 && outcome.output.isEmpty)
    #expect(outcome.complaints.contains("too many to be solved together"), "\(outcome.complaints)")
  }

  /// Nothing comes through the pipe, as during a long computation.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [SIGINT, SIGTERM], [["delay"], ["angle"], ["power"], ["path"]])
  func aSignalEndsTheWork(_ signal: Int32, on command: [String]) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let pipe = folder.path("table.csv")
    #expect(mkfifo(pipe, 0o600) == 0)
    let complaints = Pipe()
    let process = try SpawnedProcess(
      ChildProcess.uwblab,
      ["calibrate"] + command + ["--from", pipe, "--output", folder.path("board.json")],
      standardError: complaints.fileHandleForWriting.fileDescriptor)
    try complaints.fileHandleForWriting.close()
    // Opens when the program reads.
    let writer = try #require(FileHandle(forWritingAtPath: pipe))
    kill(process.processIdentifier, signal)
    let text = String(
      decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(process.terminationStatus == ExitStatus.unfinished.rawValue)
    #expect(text.contains("Quit before there was a result. Nothing was written."), "\(text)")
    #expect(!FileManager.default.fileExists(atPath: folder.path("board.json")))
    try writer.close()
  }

  @Test func wideScatterIsMentioned() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var text = "board_a,board_b,truth_m,range_m\n"
    for step in 0..<20 { text += "A,B,2,\(2.3 + 0.04 * Double(step))\nA,C,2,2.3\n" }
    let table = try folder.write(text, to: "pairs.csv")
    let outcome = try ChildProcess.run(
      ["calibrate", "delay", "--from", table], program: ChildProcess.uwblab)
    #expect(outcome.status == 0)
    #expect(
      outcome.complaints.contains("A – B at 2.000 m scatter by 30 cm"), "\(outcome.complaints)")
    #expect(!outcome.complaints.contains("A – C"))
  }

  @Test func badTablesAreErrors() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let output = folder.path("out.json")
    for text in [
      "", "board_a,board_b,truth_m\nA,B,1\n", "board_a,board_b,truth_ft,range_m\nA,B,1,1\n",
      "board_a,board_b,truth_m,range_m\n", "board_a,board_b,truth_m,range_m\nA,A,1,1\n",
      "board_a,board_b,truth_m,range_m\nA,B,nan,1\n", "board_a,board_b,truth_m,range_m\n,B,1,1\n",
    ] {
      let table = try folder.write(text, to: "t.csv")
      let error = await #expect(throws: ExitCode.self, "\(text.debugDescription)") {
        try await run(["delay", "--from", table, "--output", output])
      }
      #expect(error?.rawValue == ExitStatus.data.rawValue)
    }
    #expect(!FileManager.default.fileExists(atPath: output))
    for arguments in [
      ["delay", "--write", "--output", "x"], ["delay", "--board", "A"],
      ["delay", "--pair", "A,A=1"],
      ["delay", "--pair", "A,B"], ["power", "--write"], ["angle", "--way", "x"],
      ["angle", "--path", "x"],
      ["delay", "--known", "A"],
      ["delay", "--board", "A=/dev/x", "--board", "A=/dev/y"], ["power", "--distance", "-1"],
    ] {
      #expect(throws: (any Error).self, "\(arguments)") { try Calibrate.parseAsRoot(arguments) }
    }
  }

  /// The antenna of the library's tests, with a span of more than a turn.
  private func phase(_ degrees: Double) -> Double {
    let sine = sin(degrees * .pi / 180)
    let phase = (175 * sine - 14 + 6 * sine * sine + 140) * .pi / 180
    return phase - 2 * .pi * (phase / (2 * .pi)).rounded()
  }

  @Test func aTurntableCalibratesAngles() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var text = "angle_deg;pdoa_rad;pdoa2_deg\n"
    for step in -90...90 {
      text += "\(step);\(phase(Double(step)));\(phase(Double(-step)) * 180 / .pi)\n"
    }
    let (table, file) = (try folder.write(text, to: "t.csv"), folder.path("a.json"))
    try await run(["angle", "--from", table, "--output", file, "--plot", folder.path("a.svg")])
    #expect(try calibration(folder, "a.json").pairs?.map(\.column) == ["pdoa_rad", "pdoa2_deg"])
    let rows = stride(from: -70.0, through: 70, by: 5).map { "\($0 / 100),\(phase($0))," }
    let measured = "time_s,pdoa_rad,pdoa2_deg\n" + rows.joined(separator: "\n") + "\n"
    let angles = try CSVTable([UInt8](measured.utf8)).directions(
      geometry: try calibration(folder, "a.json"))
    for (found, truth) in zip(angles.rows, stride(from: -70.0, through: 70, by: 5)) {
      let degrees = (found.value?.azimuth ?? 9) * 180 / .pi
      #expect(abs(degrees - truth) < 1.5, "\(truth)")
    }
  }

  /// Four antennas around a mast, on a turntable: the back is not a mirror image of the front.
  @Test func aTurntableCalibratesARing() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let axes = [135.0, -135, -45, 45]
    func row(_ degrees: Double) -> String {
      let azimuth = degrees * .pi / 180
      return axes.map { axis in
        let phase = 2.6 * cos(azimuth - axis * .pi / 180) + 0.15 * sin(2 * azimuth) + axis
        return "\(phase.remainder(dividingBy: 2 * .pi))"
      }.joined(separator: ",")
    }
    var text = "azimuth_deg,pdoa_01_rad,pdoa_12_rad,pdoa_23_rad,pdoa_30_rad\n"
    for step in 0..<180 { text += "\(2 * step - 180),\(row(Double(2 * step - 180)))\n" }
    let (table, file) = (try folder.write(text, to: "t.csv"), folder.path("a.json"))
    try await run(["angle", "--from", table, "--output", file, "--plot", folder.path("a.svg")])
    let geometry = try calibration(folder, "a.json")
    let pairs = try #require(geometry.pairs)
    #expect(pairs.count == 4 && pairs.allSatisfy { $0.modelDeviation != nil && $0.table == nil })
    let angles = stride(from: -179.0, through: 180, by: 7)
    let measured = angles.map { "\($0 + 200),\(row($0))" }.joined(separator: "\n")
    let header = text.prefix { $0 != "\n" }.replacing("azimuth_deg", with: "time_s")
    let found = try CSVTable([UInt8]("\(header)\n\(measured)\n".utf8)).directions(
      geometry: geometry)
    for (row, truth) in zip(found.rows, angles) {
      let direction = try #require(row.value)
      let error = (direction.azimuth * 180 / .pi - truth).remainder(dividingBy: 360)
      #expect(abs(error) < 1, "\(truth)")
    }
    // Chips have no room for the model of a ring, and a file with the following bad result is not
    // written.
    await #expect(throws: (any Error).self) {
      try await run(["angle", "--from", table, "--write"])
    }
    var noise = "azimuth_deg,pdoa_rad\n"
    for step in 0..<180 {
      noise += "\(2 * step - 180),\(Double(step * step * 7919 % 6283) / 1000)\n"
    }
    let other = try folder.write(noise, to: "n.csv")
    await #expect(throws: (any Error).self) {
      try await run(["angle", "--from", other, "--output", folder.path("n.json")])
    }
    // Half of a turn does not determine the other half, and antennas on one line do not determine
    // their other side.
    let half = text.split(separator: "\n").prefix(110).joined(separator: "\n") + "\n"
    let part = try folder.write(half, to: "h.csv")
    await #expect(throws: (any Error).self) {
      try await run(["angle", "--from", part, "--output", folder.path("n.json")])
    }
    await #expect(throws: (any Error).self) {
      try await run([
        "angle", "--from", table, "--column", "pdoa_01_rad", "--output", folder.path("n.json"),
      ])
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path("n.json")))
  }

  @Test func aWalkCalibratesAngles() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var (phases, way) = ("time_ms,pdoa_rad\n", "time_s,x_m,y_m\n")
    for step in 0..<400 {
      let time = Double(step) / 10
      let azimuth = 80 * sin(time / 5)
      // The antennas are at (1, 2) and face y; the phases' clock is 0.3 s late.
      let turned = (azimuth + 90) * .pi / 180
      way += "\(time),\(1 + 3 * cos(turned)),\(2 + 3 * sin(turned))\n"
      phases += "\(1000 * (time - 0.3)),\(phase(azimuth))\n"
    }
    try await run([
      "angle", "--from", try folder.write(phases, to: "p.csv"), "--path",
      try folder.write(way, to: "w.csv"), "--at", "1,2,0", "--yaw", "90", "--output",
      folder.path("a.json"),
    ])
    let pair = try #require(try calibration(folder, "a.json").pairs?.first)
    let offset = 126 * Double.pi / 180
    #expect(abs((pair.offset ?? 0) - offset) < 0.03)
    #expect((pair.residuals?.rms ?? 9) < 1)
  }

  @Test func levelsFromATable() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var text = "time_s,truth_m,range_m,rx_power_dbm\n"
    for step in 0..<600 {
      let power = -65 - 0.04 * Double(step)
      text += "\(step),\(2 + Double(step) / 60),"
      let truth: Double = 2 + Double(step) / 60
      let range: Double = truth + 0.25 + 0.004 * (power + 77)
      text += "\(range),\(power)\n"
    }
    let file = folder.path("p.json")
    try await run(["power", "--from", try folder.write(text, to: "t.csv"), "--output", file])
    let found = try calibration(folder, "p.json")
    #expect(abs((found.delay ?? 0) - 0.25) < 0.01)
    #expect(abs(found.powerBias.bias(at: -85) - found.powerBias.bias(at: -70) + 0.06) < 0.005)
  }

  // MARK: on chips

  /// Boards on pseudo-terminals in a triangle with sides of 3 m; their delays are not calibrated.
  private func bench(_ profile: ChipProfile) throws -> SimulatedBench {
    let bench = SimulatedBench(scene: Scene(seed: 5, distanceNoise: 0.02))
    for (index, delay) in [0.15, 0.22, 0.11].enumerated() {
      let place = [
        SIMD3<Double>(0, 0, 1), SIMD3<Double>(3, 0, 1),
        SIMD3<Double>(1.5, 1.5 * 3.0.squareRoot(), 1),
      ]
      var placement = Placement(at: place[index])
      placement.antennaDelayError = delay
      _ = try bench.add(
        profile: profile, placement: placement, name: String(UnicodeScalar(UInt8(65 + index))))
    }
    bench.start()
    return bench
  }

  @Test(arguments: ["qorvo", "nxp"])
  func delaysWrittenToChipsCorrectDistances(_ family: String) async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let bench = try bench(family == "nxp" ? .sr250 : .qm33)
    defer { bench.stop() }
    let boards = bench.chips.flatMap { ["--board", "\($0.name)=\($0.path)"] }
    let common =
      boards + ["--pair", "A,B=3", "--pair", "A,C=3m", "--pair", "C,B=300cm", "--yes"]
      + ["--rounds", "25", "--interval", "20", "--chip", family]
    let first = folder.path("first.json")
    try await run(["delay"] + common + ["--output", first])
    let delays = try calibration(folder, "first.json").antennaDelays ?? []
    for (found, truth) in zip(delays, [0.15, 0.22, 0.11]) {
      #expect(abs(found.delay - truth) < 0.025, "\(found)")
    }
    try await run(["delay"] + common + ["--write"])
    try await run(["delay"] + common + ["--output", folder.path("second.json")])
    let left = try calibration(folder, "second.json").antennaDelays ?? []
    #expect(left.count == 3)
    for board in left { #expect(abs(board.delay) < 0.02, "\(board)") }
  }

  @Test func levelsOfSimulatedBoards() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try await run(
      ["power", "--yes", "--rounds", "15", "--interval", "10", "--output", folder.path("p.json")]
        + ["0.7", "1.5", "4", "12"].flatMap { ["--distance", $0] })
    let found = try calibration(folder, "p.json")
    // Two boards with delays of 0.12 and 0.171 m.
    #expect(abs((found.delay ?? 0) - 0.291) < 0.04)
    #expect((found.powerBiasKnots?.count ?? 0) > 3)
  }

  /// The simulated pair is ideal, 0.45 wavelengths apart.
  @Test func anglesOfASimulatedBoard() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try await run(
      ["angle", "--yes", "--rounds", "12", "--interval", "10", "--output", folder.path("a.json")]
        + ["-60", "-30", "0", "30", "60"].flatMap { ["--angle", $0] })
    let points = try #require(try calibration(folder, "a.json").pairs?.first?.table)
    for end in [points[0], points[points.count - 1]] {
      let ideal = 2 * Double.pi * 0.45 * sin(60 * Double.pi / 180)
      #expect(abs(abs(end.phase ?? 0) - ideal) < 0.15 && abs(abs(end.angleDegrees) - 60) < 1e-6)
    }
  }

  @Test func answersOrDistancesAreNeeded() async throws {
    // Standard input is at its end here.
    let error = await #expect(throws: ExitCode.self) { try await run(["delay", "--rounds", "2"]) }
    #expect(error?.rawValue == ExitStatus.usage.rawValue)
    let incomplete = await #expect(throws: ExitCode.self) { try await run(["delay", "--yes"]) }
    #expect(incomplete?.rawValue == ExitStatus.usage.rawValue)
    let absent = await #expect(throws: ExitCode.self) {
      try await run([
        "delay", "--yes", "--board", "A=/dev/no-such-device", "--board", "B=/dev/no-other",
      ])
    }
    #expect(absent?.rawValue == ExitStatus.unavailable.rawValue)
  }
}
