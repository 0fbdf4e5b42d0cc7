// SPDX-License-Identifier: Apache-2.0

import Estimators
import Foundation
import Testing
import UWBTestSupport

@testable import UWBLab

/// Generated cells: a written cell reads back equal, whatever surrounds it.
@Suite(.computes) struct CellTests {
  /// Numbers of a linear congruential generator, the same each time.
  struct Generator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: Int) { state = UInt64(seed) }

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 31
    }
  }

  private static let pieces = [
    "a", "B7", "\"", "\"\"", ",", ";", "\t", "\n", "\r\n", " ", "é", "漢", "#", "-1.5", "x=\"y\"",
  ]

  /// Any text in any cell reads back equal after the writer's quoting.
  @Test(arguments: [",", ";", "\t"], [1, 2, 5, 9])
  func quotedTextsAreReadAgain(_ separator: String, seed: Int) throws {
    var generator = Generator(seed)
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let columns = 2 + seed % 3
    let rows = (0..<60).map { _ in
      (0..<columns).map { _ in
        let text = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
          Self.pieces.randomElement(using: &generator) ?? ""
        }.joined()
        // Surrounding spaces are not part of a cell, and marks of comments begin a line.
        let plain = text.trimmingCharacters(
          in: .whitespaces.union(CharacterSet(charactersIn: "\"#")))
        return plain.isEmpty ? "z" : plain
      }
    }
    var writer = try CSVWriter(
      to: folder.path("t.csv"), separator: try #require(separator.utf8.first))
    for column in 0..<columns { writer.add("c\(column)") }
    try writer.endRow()
    for row in rows {
      for cell in row { writer.add(cell) }
      try writer.endRow()
    }
    try writer.finish()
    let table = try CSVTable(file: folder.path("t.csv"))
    #expect(table.header == (0..<columns).map { "c\($0)" } && table.rowCount == rows.count)
    #expect(table.ragged == nil)
    for (number, row) in rows.enumerated() {
      #expect(row.indices.map { table.text(number, $0) } == row, "row \(number)")
    }
  }

  /// A number with any count of digits is read as the nearest value.
  @Test(arguments: 0...9) func numbersAreRoundedToPlaces(_ digits: Int) throws {
    var generator = Generator(digits + 1)
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var writer = try CSVWriter(to: folder.path("t.csv"))
    writer.add("n")
    writer.add("m")
    try writer.endRow()
    let numbers = (0..<200).map { _ in
      Double.random(in: -1...1, using: &generator)
        * pow(10, Double(Int.random(in: -6...6, using: &generator)))
    }
    for number in numbers {
      writer.add(number, digits: digits)
      writer.add(nil, digits: digits)
      try writer.endRow()
    }
    try writer.finish()
    let table = try CSVTable(file: folder.path("t.csv"))
    for (row, number) in numbers.enumerated() {
      let found = try #require(table.number(row, 0))
      let half = 0.5000001 * pow(10, -Double(digits))
      #expect(abs(found - number) <= half + number.ulp, "\(number)")
      #expect(table.text(row, 0).split(separator: ".").dropFirst().first?.count ?? 0 == digits)
      #expect(table.isEmpty(row, 1) && table.number(row, 1) == nil)
    }
  }

  @Test(arguments: [
    (Double.nan, ""), (.infinity, ""), (-0.0, "0.00"), (-0.004, "0.00"), (1e300, "1e+300"),
  ])
  func oddNumbersAreWritten(_ number: Double, _ expected: String) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var writer = try CSVWriter(to: folder.path("t.csv"))
    writer.add(number, digits: 2)
    writer.add("|")
    try writer.endRow()
    try writer.finish()
    #expect(try folder.read("t.csv") == expected + ",|\n")
  }

  /// The days of all years from 1600 to about 2400, compared with Foundation's calendar.
  @Test func daysAreThoseOfTheCalendar() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    let first = try #require(calendar.date(from: DateComponents(year: 1600, month: 1, day: 1)))
    for step in stride(from: 0, to: 292_000, by: 37) {
      let seconds = first.timeIntervalSince1970 + 86_400 * Double(step)
      let parts = calendar.dateComponents(
        [.year, .month, .day], from: Date(timeIntervalSince1970: seconds))
      let (year, month, day) = (parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
      func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
      let text = "\(year)-\(two(month))-\(two(day))T\(two(step % 24)):\(two(step % 60))"
      let expected = seconds + Double(3600 * (step % 24) + 60 * (step % 60))
      #expect(secondsSince1970(Array(text.utf8)[...]) == expected, "\(text)")
      #expect(secondsSince1970(Array((text + ":30.5Z").utf8)[...]) == expected + 30.5)
      #expect(secondsSince1970(Array((text + "+0130").utf8)[...]) == expected - 5400)
    }
    for (month, days) in zip(1..., [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
      for day in 28...32 {
        let text = "2026-\(month < 10 ? "0" : "")\(month)-\(day)T00:00"
        #expect((secondsSince1970(Array(text.utf8)[...]) != nil) == (day <= days), "\(text)")
      }
    }
  }

  /// Truncated text, or text with a wrong byte anywhere, is read or rejected, without other
  /// effects.
  @Test func damagedTablesAreReadOrRefused() {
    let text = "#x\ntime_s;\"range_m\";peer\n0;3,5;\"a;\nb\"\n1;3,6;c\n"
    let bytes = Array(text.utf8)
    for place in bytes.indices {
      for byte in [0, 10, 34, 44, 59, 92, 255] as [UInt8] {
        var damaged = bytes
        damaged[place] = byte
        for input in [damaged, Array(damaged[...place])] {
          guard let table = try? CSVTable(input) else { continue }
          #expect(table.rowCount <= 5 && !table.header.isEmpty)
          #expect((0..<table.rowCount).allSatisfy { (1...7).contains(table.line($0)) })
        }
      }
    }
  }
}

/// Columns, their units and their problems.
@Suite(.computes) struct ColumnTests {
  private static let quantities: [(name: String, quantity: Quantity)] = [
    ("time", .time), ("range", .length), ("azimuth", .angle), ("rx_power", .level),
    ("fp_snr", .ratioOfLevels), ("cfo", .ratio), ("t1", .ticks),
  ]

  private static let units: [(name: String, quantity: Quantity, suffix: String, factor: Double)] =
    quantities.flatMap { name, quantity in
      quantity.units.map { (name, quantity, $0.suffix, $0.factor) }
    }

  /// A unit in the name, in upper or lower case, gives the same number as the option for a name
  /// without a unit.
  @Test(arguments: units.indices)
  func theNameOrTheOptionHasTheUnit(_ index: Int) throws {
    let (name, quantity, suffix, factor) = Self.units[index]
    var format = CSVTable.Format()
    let isSet = format.setUnits("\(name)=\(suffix)")
    #expect(isSet)
    for (header, format) in [
      ("\(name)_\(suffix)", CSVTable.Format()), ("\(name)_\(suffix)".uppercased(), .init()),
      (name, format), (name.uppercased(), format),
    ] {
      let table = try CSVTable(Array("x,\(header)\n1,2.5\n".utf8), format)
      let column = try TableReader(table).require(name, quantity)
      #expect(column.name == header && column.index == 1)
      #expect(TableReader(table).value(0, column) == 2.5 * factor)
    }
  }

  /// Without a unit in the name and without the option, the first unit applies. Only angles need a
  /// unit.
  @Test(arguments: quantities.indices)
  func theFirstUnitIsUsual(_ index: Int) throws {
    let (name, quantity) = Self.quantities[index]
    let reader = TableReader(try CSVTable(text: "\(name)\n90\n"))
    guard quantity == .angle else {
      #expect(
        reader.value(0, try reader.require(name, quantity)) == 90 * quantity.units[0].factor)
      return
    }
    let error = #expect(throws: LabError.self) { try reader.require(name, quantity) }
    #expect(error?.line == 1 && error?.description.contains(name) == true)
    #expect(error?.recoverySuggestion?.contains("--unit \(name)=deg") == true)
  }

  /// An option is an error beside a column whose name has a unit, and for names of peers.
  @Test(arguments: [
    ("range=cm", "range,range_m"), ("pdoa_deg=rad", "pdoa_deg"), ("RANGE=cm", "Range,Range_M"),
    ("t1=ns", "t1_ticks,t1"), ("Peer=m", "Peer,range_m"), ("status=m", "status"),
  ])
  func theOptionConflictsWithANameThatHasAUnitOrNoNumbers(_ option: String, _ header: String) throws
  {
    var format = CSVTable.Format()
    let isSet = format.setUnits(option)
    #expect(isSet)
    let error = #expect(throws: LabError.self) {
      try CSVTable(Array("\n\(header)\n1,2\n".utf8), format)
    }
    #expect(error?.code == .badTable && error?.line == 2)
    let names = header.split(separator: ",")
    let mentioned = option.hasPrefix("Peer") ? names.prefix(1) : names[...]
    #expect(
      mentioned.allSatisfy { error?.description.lowercased().contains($0.lowercased()) == true })
  }

  @Test(arguments: quantities.indices)
  func unknownUnitsNameTheKnown(_ index: Int) throws {
    let (name, quantity) = Self.quantities[index]
    var reader = TableReader(try CSVTable(text: "\n\(name)_furl\n1\n"))
    let error = #expect(throws: LabError.self) { try reader.require(name, quantity) }
    #expect(error?.line == 2 && error?.description.contains("\(name)_furl") == true)
    for unit in quantity.units {
      #expect(error?.recoverySuggestion?.contains("\(name)_\(unit.suffix)") == true)
    }
    #expect(reader.find(name, quantity) == nil && reader.warnings.count == 1)
    #expect(reader.warnings[0].hasPrefix("Line 2: ignoring \(name)_furl"))
  }

  @Test(arguments: [
    ("azimuth=deg", true), ("a,b=cm", true), ("azimuth", false), ("azimuth=", false),
    ("=deg", false),
    ("a=b=c", false), ("azimuth=degrees", false), ("azimuth=DEG", false),
  ])
  func theOptionHasAForm(_ text: String, isRight: Bool) {
    var format = CSVTable.Format()
    let isSet = format.setUnits(text)
    #expect(isSet == isRight && format.units.isEmpty != isRight)
  }

  @Test func aUnitOfAMissingColumnIsAnError() {
    var format = CSVTable.Format()
    _ = format.setUnits("azimuth=deg")
    let error = #expect(throws: LabError.self) { try CSVTable(Array("a,b\n1,2\n".utf8), format) }
    #expect(error?.description.contains("azimuth") == true)
    #expect(error?.recoverySuggestion?.contains("a, b") == true)
  }

  /// The name of each status, and whether a row with it is unusable.
  @Test(arguments: [
    (RowStatus.ok, "ok", false), (.missing("Range m"), "missing_range_m", true),
    (.invalid("T-1"), "invalid_t_1", true),
    (.unknown("anchor"), "unknown_anchor", true), (.result("outlier"), "outlier", false),
    (.noPosition, "no_position", false), (.exchangedStamps, "exchanged_stamps", false),
  ])
  func statusesHaveAWord(_ status: RowStatus, _ word: String, isProblem: Bool) {
    #expect(status.word == word && status.isProblem == isProblem && status.isOK == (word == "ok"))
    var first = status
    first.blame(.missing("x"))
    #expect(first == (status.isOK ? .missing("x") : status))
  }

  /// Each unusable line of a table is counted, and the first one is named.
  @Test(arguments: [
    ("0,1\n1,\n2,x\n", "2 of 3 rows cannot be used. The first is line 3: missing_range_m."),
    ("0,1\n1,2,3\n", "Line 3 has 3 cells, the header 2."),
    ("0\n1,2\n1,2,3\n", "Line 2 has 1 cell, the header 2; 2 rows differ from it."),
  ])
  func rowsThatCannotBeUsedAreReported(_ rows: String, _ warning: String) throws {
    let table = try CSVTable(text: "time_s,range_m\n\(rows)").filteredRanges()
    #expect(table.warnings.contains(warning), "\(table.warnings)")
    #expect(table.problem == nil)
  }

  @Test(arguments: [
    ("", "The table has a header, but no rows.", nil as String?),
    (
      "x,1\ny,2\n", "None of the 2 rows can be used. The first is line 2: invalid_time_s.",
      "2026-11-22T18"
    ),
    ("1,\n", "The only row cannot be used. The first is line 2: missing_range_m.", nil),
  ])
  func aTableWithoutUsableRowsIsAProblem(
    _ rows: String, _ problem: String, _ advice: String?
  ) throws {
    let table = try CSVTable(text: "time_s,range_m\n\(rows)").filteredRanges()
    #expect(table.problem?.description == problem && table.problem?.code == .badTable)
    if let advice { #expect(table.problem?.recoverySuggestion?.contains(advice) == true) }
  }
}
