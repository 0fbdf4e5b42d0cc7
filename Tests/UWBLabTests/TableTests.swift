// SPDX-License-Identifier: Apache-2.0

import Ranging
import Testing
import UWBTestSupport

@testable import UWBLab

/// Tables as users and programs create them, and invalid ones.
@Suite(.computes) struct TableTests {
  private func table(_ text: String) throws -> CSVTable { try CSVTable(text: text) }

  @Test func `An error names twenty columns at most, and forty letters of each`() throws {
    let names = (0..<30).map { "\($0)" + String(repeating: "a", count: 50) }
    let table = try table(names.joined(separator: ",") + "\n1\n")
    let error = LabError.missingColumn("", of: table)
    #expect(error.description == "The input has no column \"\".")
    let advice = try #require(error.recoverySuggestion)
    #expect(advice.hasPrefix("Rename one of its 30 columns: 0aaaa") && advice.count < 1_000)
    #expect(advice.hasSuffix("… and 10 more"))
  }

  /// The output of `uwbctl range` to a pipe without `--format csv`.
  @Test(arguments: [
    "{\"time_s\":0.000000, \"peer\":\"0x0001\", \"distance_cm\":268}\n",
    "    0.000 s  #0  0x0001  2.68 m  2.68 ± 0.31 m (short-term 0.09)  az 34.2°  -71.0 dBm\n",
  ])
  func linesOfTextAndJSONAreNotATable(_ text: String) throws {
    let error = LabError.missingColumn("time_s", of: try table(text))
    #expect(error.description == "The input has lines of text or JSON instead of a table.")
    #expect(error.recoverySuggestion?.contains("uwbctl range --format csv") == true)
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

  @Test func inputColumnsAreWrittenUnchanged() throws {
    let run = try ComputedText(
      try table("time_s;\"a; b\";range_m\n0;\"x; \"\"y\"\"\";1\n0.1;z;1.02\n").filteredRanges())
    #expect(run.header == ["time_s;\"a; b\";input_range_m;range_m;sigma_m;accepted;status"])
    #expect(run.rows[0].values.contains { $0.hasPrefix("0;\"x; \"\"y\"\"\";1;") })
  }

  @Test(arguments: [
    ("a,b\n1,2\n3,\"4\n5,6\n", 3), ("a,b\n1,\0\n", 2), ("\u{FEFF}a\n\"", 2),
  ])
  func problemsNameTheirLine(_ text: String, line: Int) throws {
    let error = #expect(throws: LabError.self) { try table(text) }
    #expect(error?.code == .badTable && error?.line == line)
  }

  /// The first line that is not a comment is the header, unless the format gives the number of
  /// another line.
  @Test(arguments: [
    ("# by hand\n#again\ntime_s,range_m\n#1,2\n3,4\n", nil, 3, 5),
    ("#x;y\n\ntime_s;range_m\n3;4\n", nil, 3, 4),
    ("#time_s;range_m\n3;4\n", 1, 1, 2), ("# hall, cold\n# time_s , \"range_m\"\n\n3,4", 2, 2, 4),
    ("% time_s,range_m\n3,4\n", nil, 1, 2), ("a,b\n1,2\n#\"time_s\",range_m\n#\n3,4\n", 3, 3, 5),
    ("\u{FEFF}\r\n# time_s\trange_m\r\n3\t4\r\n", 2, 2, 3),
  ])
  func headersAndComments(_ text: String, header: Int?, line: Int, row: Int) throws {
    var format = CSVTable.Format()
    format.header = header
    let table = try CSVTable(Array(text.utf8), format)
    #expect(table.header == ["time_s", "range_m"] && table.headerLine == line)
    #expect(table.rowCount == 1 && table.line(0) == row)
    #expect(table.number(0, 0) == 3 && table.number(0, 1) == 4)
  }

  /// The advice names the option whenever a comment may be the header.
  @Test(arguments: ["# time_s,range_m\n3,4\n5,6\n", "# time_s,range_m\n"])
  func aMarkedHeaderNeedsItsLine(_ text: String) {
    let error = #expect(throws: LabError.self) { try table(text).filteredRanges() }
    #expect(error?.recoverySuggestion?.contains("--header 1") == true)
  }

  @Test func unusableTablesAreErrors() throws {
    for bytes: [UInt8] in [[0xFF, 0xFE, 0x61, 0], [], [10, 10]] {
      let error = #expect(throws: LabError.self) { try CSVTable(bytes) }
      #expect(error?.code == .badTable)
    }
    let ragged = try #require(try table("a,b\n1,2\n1\n1,2,3\n").ragged)
    #expect(ragged.count == 2 && ragged.line == 3 && ragged.cells == 1)
  }

  @Test func unknownUnitsAreErrors() throws {
    let unknown = #expect(throws: LabError.self) {
      try TableReader(try table("\ntime_s,range_ft\n1,2\n")).require("range", .length)
    }
    #expect(unknown?.line == 2 && unknown?.description.contains("range_ft") == true)
    #expect(unknown?.recoverySuggestion?.contains("range_m, range_cm, range_mm") == true)
    // Other columns may begin with the same word.
    let missing = #expect(throws: LabError.self) {
      try TableReader(try table("time_s,range_2,range_index\n")).require("range", .length)
    }
    #expect(missing?.line == nil && missing?.description.contains("no column range_m") == true)
    let reader = TableReader(try table("Time_MS,RANGE_cm,range_ft\n1500,250,8\n"))
    var status = RowStatus.ok
    #expect(reader.value(0, try reader.require("time", .time), &status) == 1.5)
    #expect(reader.value(0, try reader.require("range", .length), &status) == 2.5)
  }

  @Test func numbersAreDecimal() throws {
    let table = try table("a\n1e-3\n0x10\nnan\ninf\n1_000\n+2.5\n1,5\n-.5\n.\n")
    let numbers = (0..<table.rowCount).map { table.number($0, 0) }
    #expect(numbers == [0.001, nil, nil, nil, nil, 2.5, 1, -0.5, nil])
  }

  @Test func numbersMayHaveADecimalComma() throws {
    let table = try table("a;b\n1,5;x\n-0,25e1;x\n1.5;x\n1.234,5;x\n1,234,5;x\n,;x\n")
    let numbers = (0..<table.rowCount).map { table.number($0, 0) }
    #expect(numbers == [1.5, -2.5, 1.5, nil, nil, nil])
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    try self.table("time_s;range_m;note\n0;3,5;1.25\n1;3,5;\n").filteredRanges()
      .write(to: folder.path("out.csv"))
    let lines = try folder.read("out.csv").split(separator: "\n")
    #expect(lines[0].hasPrefix("time_s;input_range_m;note;range_m;"))
    #expect(lines[1].hasPrefix("0;3,5;1.25;3,5000;"))
  }

  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0.0), ("2026-11-22T18:30:05.25+01:00", 1_795_368_605.25),
    ("2026-11-22 17:30:05,25", 1_795_368_605.25), ("2024-02-29t23:59:60z", 1_709_251_200),
    ("2000-03-01T00:00-0330", 951_881_400), ("0001-01-01T00:00Z", -62_135_596_800),
  ])
  func timesMayBeDates(_ text: String, seconds: Double) throws {
    let reader = TableReader(try table("timestamp,range_m\n\"\(text)\",2\n"))
    var status = RowStatus.ok
    #expect(reader.value(0, try reader.require("time", .time), &status) == seconds)
  }

  @Test(arguments: [
    "2023-02-29T00:00Z", "2026-13-01T00:00Z", "2026-11-22", "2026-11-22T24:00Z", "2026-11-22T1:00Z",
    "2026-11-22T10:00:61Z", "2026-11-22T10:00:00.Z", "2026-11-22T10:00+1", "2026-11-22T10:00+01:",
    "2026-11-22T10:00ZZ", "0000-01-01T00:00Z", "１９７０-01-01T00:00Z",
  ])
  func datesThatDoNotExistAreInvalid(_ text: String) throws {
    let reader = TableReader(try table("time,range_m\n\(text),2\n"))
    var status = RowStatus.ok
    #expect(reader.value(0, try reader.require("time", .time), &status) == nil)
    #expect(status.word == "invalid_time")
  }

  @Test func distancesAreRanges() throws {
    let reader = TableReader(try table("distance_cm\n250\n"))
    #expect(reader.value(0, try reader.require("range", .length)) == 2.5)
    let both = TableReader(try table("distance_m,range_m\n1,2\n"))
    #expect(both.value(0, try both.require("range", .length)) == 2)
  }

  @Test func delaysOfBoardsAreSubtracted() throws {
    let folder = try TemporaryFolder()
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
    let calibration = try RangingCalibration(file: file)
    let run = try ComputedText(
      try table(text).doubleSidedDistances(calibration: calibration))
    #expect(run.column("status") == ["ok", "ok", "unknown_board_b", "unknown_board_b"])
    #expect(abs(run.numbers("distance_m")[0] - 9.7498) < 1e-3)
    #expect(abs(run.numbers("distance_m")[1] - 9.7498) < 1e-3)
    #expect(run.column("distance_m")[2].isEmpty)
    // Delays of boards do not apply to a table that does not name them.
    let error = #expect(throws: LabError.self) {
      try table("t1,t2,t3,t4,t5,t6\n\(stamps)\n").doubleSidedDistances(calibration: calibration)
    }
    #expect(error?.code == .badTable)
    for bad in ["{\"format\": \"another\", \"delay_m\": 1}", "{\"delay_m\": \"x\"}", "[", ""] {
      let path = try folder.write(bad, to: "bad.json")
      let error = #expect(throws: LabError.self, "\(bad)") { try RangingCalibration(file: path) }
      #expect(error?.code == .badFile)
    }
    let empty = #expect(throws: LabError.self) {
      try table(text).doubleSidedDistances(calibration: RangingCalibration())
    }
    #expect(empty?.code == .badFile)
  }
}
