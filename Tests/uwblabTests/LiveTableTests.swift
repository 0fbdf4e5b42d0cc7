// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import ProgramTestSupport
import Testing
import UWBTestSupport

@testable import uwblab

/// `uwblab compute --live` in a pipe that never ends.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct LiveTableTests {
  /// The program between two pipes.
  private final class Pipeline {
    let process: SpawnedProcess
    private let (input, output, complaints) = (Pipe(), Pipe(), Pipe())
    private var pending: [UInt8] = []

    init(_ arguments: [String]) throws {
      process = try SpawnedProcess(
        ChildProcess.uwblab, ["compute"] + arguments,
        standardInput: input.fileHandleForReading.fileDescriptor,
        standardOutput: output.fileHandleForWriting.fileDescriptor,
        standardError: complaints.fileHandleForWriting.fileDescriptor)
      // The child has its own copy.
      for pipe in [output, complaints] { try pipe.fileHandleForWriting.close() }
      try input.fileHandleForReading.close()
    }

    deinit {
      if process.isRunning { process.terminate() }
      process.waitUntilExit()
    }

    func write(_ text: String) throws {
      try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    func readLine() -> String? {
      while true {
        if let end = pending.firstIndex(of: 0x0A) {
          defer { pending.removeFirst(end + 1) }
          return String(decoding: pending[..<end], as: UTF8.self)
        }
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { return nil }
        pending += data
      }
    }

    func closeInput() throws { try input.fileHandleForWriting.close() }
    func closeOutput() throws { try output.fileHandleForReading.close() }

    /// Waits for the end, and returns standard error and the exit status, for a signal as shells
    /// report it.
    func end() -> (status: Int32, complaints: String) {
      let said = complaints.fileHandleForReading.readDataToEndOfFile()
      return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }
  }

  private static let ranges = ["time_s,range_m,peer"] + (0..<40).map { "\($0),\(3 + $0 % 7),a" }
  private static let sightings =
    ["time_s,x,y,z,qw,qx,qy,qz,range_m"] + (0..<40).map { "\($0),\($0),\($0 % 3),1,1,0,0,0,9" }
  private static let phases =
    ["time_s;pdoa_deg"] + (0..<40).map { "\($0);\(Double($0) * 1.5)" }
  private static let exchanges =
    ["t1,t2,t3,t4,t5,t6,time_s"]
    + (0..<40).map { round in
      let start = round * 1_000_000_000
      let other = start + 5_000_000
      return [
        start, other + 2000, other + 63_900_000, start + 63_902_000, start + 127_800_000,
        other + 127_802_000,
      ].map(String.init).joined(separator: ",") + ",\(Double(round) * 0.01565)"
    }

  /// The result of each row is written before the next row arrives, and equals the result of the
  /// whole table.
  @Test(arguments: [
    (["filter"], ranges), (["find"], sightings), (["ds-twr"], exchanges),
    (["angle", "--geometry", "array.json"], phases),
  ])
  func eachRowIsAnsweredBeforeTheNext(_ arguments: [String], _ table: [String]) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    _ = try folder.write(
      #"{"pairs": [{"column": "pdoa_deg", "spacing_wavelengths": 0.5}]}"#, to: "array.json")
    let options = arguments.map { $0.hasSuffix(".json") ? folder.path($0) : $0 } + ["--live"]
    let pipeline = try Pipeline(options)
    var lines: [String] = []
    for row in table {
      try pipeline.write(row + "\n")
      lines.append(try #require(pipeline.readLine()))
      #expect(lines.last?.hasPrefix(row.prefix { $0 != "," && $0 != ";" }) == true)
    }
    try pipeline.closeInput()
    #expect(pipeline.readLine() == nil)
    #expect(pipeline.end() == (0, ""))
    // With a chart, the table is read as a whole.
    let file = try folder.write(table.joined(separator: "\n"), to: "in.csv")
    var command = try Compute.parseAsRoot(
      options + [file, "--output", folder.path("out.csv"), "--plot", folder.path("plot.svg")])
    try command.run()
    #expect(try folder.read("out.csv").split(separator: "\n").map(String.init) == lines)
  }

  /// The table has the columns of `uwbctl range --format csv`, without renaming. The place of each
  /// round follows the first row of the next round, once the first second is over.
  @Test func placesFollowFromTheOutputOfRange() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let anchors = try folder.write(
      #"{"0x0001": [0, 0, 2], "0x0002": [6, 0, 2], "0x0003": [3, 5, 2]}"#, to: "anchors.json")
    let pipeline = try Pipeline(["locate", "--live", "--anchors", anchors, "--height", "1"])
    func write(_ round: Int) throws {
      for (peer, distance) in [("0x0001", 269), ("0x0002", 439), ("0x0003", 377)] {
        try pipeline.write("\(Double(round) / 5),42,\(round),\(peer),OK,\(distance)\n")
      }
    }
    try pipeline.write("time_s,session,sequence,peer,status,distance_cm\n")
    #expect(pipeline.readLine()?.hasSuffix("cov_zz,used,status") == true)
    for round in 0..<7 { try write(round) }
    for round in 0..<20 {
      // The test writes the row of the next round only after reading the place of this round.
      if round >= 6 { try write(round + 1) }
      let cells = try #require(pipeline.readLine()).split(separator: ",")
      #expect(cells[2] == "\(round)" && cells.suffix(2) == ["3", "ok"], "\(cells)")
      #expect(abs((Double(cells[6]) ?? 0) - 2) < 0.1 && abs((Double(cells[7]) ?? 0) - 1.5) < 0.1)
    }
    try pipeline.closeInput()
    #expect(pipeline.readLine() != nil && pipeline.readLine() == nil)
    #expect(pipeline.end() == (0, ""))
  }

  @Test func distancesOfRangeAreFiltered() throws {
    let pipeline = try Pipeline(["filter", "--live"])
    try pipeline.write("time_s,session,sequence,peer,status,distance_cm,rssi_dbm\n")
    #expect(pipeline.readLine()?.contains("distance_cm,rssi_dbm,range_m,sigma_m") == true)
    for (round, peer) in (0..<8).flatMap({ round in ["0x0001", "0x0002"].map { (round, $0) } }) {
      let isMeasured = round != 5
      try pipeline.write(
        "\(Double(round) / 5),42,\(round),\(peer)," + (isMeasured ? "OK,300,\n" : "RX_TIMEOUT,,\n"))
      let cells = try #require(pipeline.readLine()).split(
        separator: ",", omittingEmptySubsequences: false)
      #expect(cells[7] == (isMeasured ? "3.0000" : ""), "\(cells)")
    }
    try pipeline.closeInput()
    #expect(pipeline.end().status == 0)
  }

  /// The command reads as long as the writer writes. The progress line disappears before the table.
  @Test func workThatTakesSecondsShowsThem() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let pipe = folder.path("ranges.csv")
    #expect(mkfifo(pipe, 0o600) == 0)
    let session = try TerminalSession(
      ["compute", "filter", pipe], program: ChildProcess.uwblab)
    let writer = try #require(FileHandle(forWritingAtPath: pipe))
    try session.expect("Computing ")
    try session.expect(" 2 s")
    try writer.write(contentsOf: Data("time_s,range_m\n0,3\n1,3\n".utf8))
    try writer.close()
    try session.expect(",ok")
    #expect(try session.status() == 0)
  }

  /// Comments, empty lines and cells over several lines; rows that cannot be used.
  @Test func oddRowsAreReadAsInAFile() throws {
    let pipeline = try Pipeline(["filter", "--live"])
    try pipeline.write("\n\u{FEFF}time_s,range_m,note\r\n# comment \"\n\n")
    #expect(pipeline.readLine() == "time_s,input_range_m,note,range_m,sigma_m,accepted,status")
    try pipeline.write("1,3,\"two\nlines\"\n")
    #expect(pipeline.readLine() == "1,3,\"two")
    #expect(pipeline.readLine()?.hasPrefix("lines\",3.0000,") == true)
    try pipeline.write("2,x,\n3,3.1,,surplus\n")
    #expect(pipeline.readLine() == "2,x,,,,0,invalid_range_m")
    #expect(pipeline.readLine()?.hasSuffix(",1,ok") == true)
    // The last row needs no line end.
    try pipeline.write("4,3")
    try pipeline.closeInput()
    #expect(pipeline.readLine()?.hasSuffix(",1,ok") == true)
    let (status, complaints) = pipeline.end()
    #expect(status == 0)
    #expect(complaints.contains("1 of 4 rows cannot be used. The first is line 7"), "\(complaints)")
    #expect(complaints.contains("Line 8 has 4 cells, the header 3"), "\(complaints)")
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func aSignalEndsItInOrder(_ signal: Int32) throws {
    let pipeline = try Pipeline(["filter", "--live"])
    try pipeline.write("time_s,range_m\n1,3\n")
    #expect(pipeline.readLine() != nil && pipeline.readLine() != nil)
    kill(pipeline.process.processIdentifier, signal)
    #expect(pipeline.readLine() == nil)
    #expect(pipeline.end() == (0, ""))
  }

  @Test func theReaderMayGoAway() throws {
    let pipeline = try Pipeline(["filter", "--live"])
    try pipeline.write("time_s,range_m\n")
    #expect(pipeline.readLine() != nil)
    try pipeline.closeOutput()
    // More rows than fit into the pipe are written, because a program that another test starts may
    // hold the reader's end for a moment.
    try pipeline.write((1...4_000).map { "\($0),3\n" }.joined())
    #expect(pipeline.end() == (141, ""))
  }

  @Test func aTableWithoutResultsFails() throws {
    let empty = try Pipeline(["filter", "--live"])
    try empty.closeInput()
    #expect(empty.end().status == 65)
    let useless = try Pipeline(["filter", "--live"])
    try useless.write("time_s,range_m\nx,y\n")
    try useless.closeInput()
    #expect(useless.end().status == 65)
  }
}
