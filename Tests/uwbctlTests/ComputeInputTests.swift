// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing

@testable import uwbctl

/// Tables as people and programs make them, and what is wrong with some.
@Suite struct ComputeInputTests {
  private func table(_ text: String) throws -> CSVTable { try CSVTable([UInt8](text.utf8)) }

  private func failure(_ text: String, _ body: (CSVTable) throws -> Void = { _ in })
    -> ComputeError?
  {
    do {
      try body(try table(text))
      return nil
    } catch {
      return error as? ComputeError
    }
  }

  @Test func quotesEndsOfLinesAndMarks() throws {
    let text =
      "\u{FEFF}\r\ntime_s,\"note, with comma\",range_m\r\n"
      + "1,\"two\r\nlines, \"\"quoted\"\"\",2\r\n\r\n3,5\" pipe,4\r\n"
    let table = try table(text)
    #expect(table.header == ["time_s", "note, with comma", "range_m"])
    #expect(table.rowCount == 2 && table.ragged == nil)
    #expect(table.text(0, 1) == "two\r\nlines, \"quoted\"")
    #expect(table.text(1, 1) == "5\" pipe" && table.number(1, 2) == 4)
    #expect(table.headerLine == 2 && table.line(0) == 3 && table.line(1) == 6)
  }

  @Test func whatIsPassedThroughStaysAsItIs() throws {
    let run = try ComputeRun(
      ["filter"], "time_s;\"a; b\";range_m\n0;\"x; \"\"y\"\"\";1\n0.1;z;1.02\n")
    #expect(run.header == ["time_s;\"a; b\";input_range_m;range_m;sigma_m;accepted;status"])
  }

  @Test func problemsNameTheirLine() throws {
    guard case .openQuote(line: 3)? = failure("a,b\n1,2\n3,\"4\n5,6\n") else {
      Issue.record("an open quotation mark was not found")
      return
    }
    guard case .notText(line: 2, _)? = failure("a,b\n1,\0\n") else {
      Issue.record("a zero byte was not found")
      return
    }
    #expect(throws: ComputeError.self) { try CSVTable([0xFF, 0xFE, 0x61, 0]) }
    guard case .noHeader? = failure("\n\n") else {
      Issue.record("an empty table was taken")
      return
    }
    let ragged = try #require(try table("a,b\n1,2\n1\n1,2,3\n").ragged)
    #expect(ragged.count == 2 && ragged.line == 3 && ragged.cells == 1)
  }

  @Test func aUnitThatIsNone() throws {
    let found = failure("\ntime_s,range_ft\n1,2\n") { _ = try $0.require("range", .length) }
    guard case .unknownUnit(line: 2, column: "range_ft", let accepted)? = found else {
      Issue.record("\(String(describing: found))")
      return
    }
    #expect(accepted == ["range_m", "range_cm", "range_mm"])
    // Another column with that beginning is another column.
    guard
      case .missingColumn? = failure(
        "time_s,range_2,range_index\n", { _ = try $0.require("range", .length) })
    else {
      Issue.record("range_index was taken for a range")
      return
    }
    let table = try table("Time_MS,RANGE_cm,range_ft\n1500,250,8\n")
    var status = RowStatus.ok
    #expect(table.value(0, try table.require("time", .time), &status) == 1.5)
    #expect(table.value(0, try table.require("range", .length), &status) == 2.5)
  }

  @Test func numbersAreDecimal() throws {
    let table = try table("a\n1e-3\n0x10\nnan\ninf\n1_000\n+2.5\n1,5\n-.5\n.\n")
    let numbers = (0..<table.rowCount).map { table.number($0, 0) }
    #expect(numbers == [0.001, nil, nil, nil, nil, 2.5, 1, -0.5, nil])
  }

  /// Every command that reads a table: each kind of bad input ends with its status.
  @Test(arguments: [
    (["ds-twr"], "t1,t2,t3,t4,t5,t6"), (["ss-twr"], "t1,t2,t3,t4"), (["filter"], "time_s,range_m"),
    (["find"], "time_s,x,y,z,qw,qx,qy,qz,range_m"),
    (["locate", "--anchors", "anchors.json"], "time_s,anchor,range_m"),
    (["angle", "--geometry", "array.json"], "time_s,pdoa_rad"),
  ])
  func badTables(_ arguments: [String], _ header: String) throws {
    let folder = try ComputeFolder()
    defer { folder.remove() }
    _ = try folder.write(
      "{a: [0, 0, 0], b: [1, 0, 0], c: [0, 2, 1], /* JSON5 */}", to: "anchors.json")
    _ = try folder.write(
      #"{"pairs": [{"column": "pdoa_rad", "spacing_wavelengths": 0.5}]}"#, to: "array.json")
    let options = arguments.map { $0.hasSuffix(".json") ? folder.path($0) : $0 }
    let columns = header.split(separator: ",")
    let nans = columns.map { _ in "nan" }.joined(separator: ",")
    let bad = [
      "", "\n\n", "something,else\n1,2\n", columns.dropLast().joined(separator: ",") + "\n",
      header + "\n" + nans + "\n", header + "\n\"" + nans + "\n", header + "\n" + "x\n",
      header + "\n1,\0\n",
    ]
    for text in bad {
      #expect(throws: ExitCode(ExitStatus.data.rawValue), "\(text.debugDescription)") {
        _ = try ComputeRun(options, text, in: folder)
      }
    }
    #expect(try ComputeRun(options, header + "\n", in: folder).rows.isEmpty)
    #expect(throws: ExitCode(ExitStatus.noInput.rawValue)) {
      var command = try Compute.parseAsRoot(options + [folder.path("missing.csv")])
      try command.run()
    }
    #expect(throws: ExitCode(ExitStatus.cannotCreate.rawValue)) {
      var command = try Compute.parseAsRoot(
        options + [try folder.write(header + "\n", to: "t.csv"), "--output", "/nowhere/x.csv"])
      try command.run()
    }
  }

  @Test func delaysOfBoardsAreTakenAway() throws {
    let folder = try ComputeFolder()
    defer { folder.remove() }
    let file = try folder.write(
      """
      {antenna_delays: [
        {board: "A", delay_m: 0.15}, {board: "B", delay_m: 0.1},
        {board: "B", antenna: 1, channel: 5, delay_m: 0.4}]}
      """, to: "c.json")
    let stamps = "0,2132,127797332,127799464,638980264,638982396"
    let text = """
      t1,t2,t3,t4,t5,t6,board_a,board_b,antenna_b,channel
      \(stamps),A,B,,
      \(stamps),B,A,0,9
      \(stamps),A,C,,
      \(stamps),A,B,1,9
      """
    let run = try ComputeRun(["ds-twr", "--calibration", file], text, in: folder)
    #expect(run.column("status") == ["ok", "ok", "unknown_board_b", "unknown_board_b"])
    #expect(abs(run.numbers("distance_m")[0] - 9.7498) < 1e-3)
    #expect(abs(run.numbers("distance_m")[1] - 9.7498) < 1e-3)
    #expect(run.column("distance_m")[2].isEmpty)
    // Delays of boards say nothing to a table that does not name them.
    #expect(throws: ExitCode(ExitStatus.data.rawValue)) {
      _ = try ComputeRun(
        ["ds-twr", "--calibration", file], "t1,t2,t3,t4,t5,t6\n\(stamps)\n", in: folder)
    }
    for bad in ["{}", "{\"format\": \"another\", \"delay_m\": 1}", "{\"delay_m\": \"x\"}", "[", ""]
    {
      let path = try folder.write(bad, to: "bad.json")
      #expect(throws: ExitCode(ExitStatus.data.rawValue), "\(bad)") {
        _ = try ComputeRun(["ds-twr", "--calibration", path], text, in: folder)
      }
    }
  }
}
