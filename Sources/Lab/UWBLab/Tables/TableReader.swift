// SPDX-License-Identifier: Apache-2.0

import Formats
import Ranging

/// The quantity of a column. The suffix of its name is the unit; without one it is the first unit
/// here.
enum Quantity {
  case time, length, angle, level, ratioOfLevels, ratio, ticks, number

  /// Suffixes, and the factor that converts each to seconds, metres, radians, parts or ticks.
  var units: [(suffix: String, factor: Double)] {
    switch self {
    case .time: [("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)]
    case .length: [("m", 1), ("cm", 0.01), ("mm", 0.001)]
    case .angle: [("rad", 1), ("deg", .pi / 180)]
    case .level: [("dbm", 1)]
    case .ratioOfLevels: [("db", 1)]
    case .ratio: [("ppm", 1e-6), ("ppb", 1e-9)]
    case .ticks:
      [
        ("ticks", 1), ("s", DeviceTick.perSecond), ("ms", DeviceTick.perSecond / 1e3),
        ("us", DeviceTick.perSecond / 1e6), ("ns", DeviceTick.perSecond / 1e9),
        ("ps", DeviceTick.perSecond / 1e12),
      ]
    case .number: []
    }
  }
}

struct Column {
  var index: Int
  /// Converts a number to seconds, metres, radians or parts.
  var factor: Double
  var name: String
  /// Whether its cells may hold a date instead.
  var isTime = false
  /// Whether its numbers are degrees if some are more than six turns in radians.
  var mayBeDegrees = false

  func seemsDegrees(_ number: Double) -> Bool { mayBeDegrees && abs(number) > 40 }
}

/// The status of a row: one word for programs, which names the first cell that could not be used.
struct RowStatus {
  var word = "ok"
  var isOK: Bool { word == "ok" }

  /// Records that a cell is empty or not a number, unless an earlier one already was.
  mutating func blame(_ column: String, isEmpty: Bool) {
    blame(column, isEmpty ? "missing_" : "invalid_")
  }

  /// The beginning of statuses for an angle that seems to be in degrees.
  static let tooLarge = "too_large_"

  mutating func blame(_ column: String, _ cause: String) {
    guard isOK else { return }
    word = cause + String(column.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }
}

/// Finds columns by quantity and reads cells in their units.
struct TableReader {
  var table: CSVTable
  /// Warnings about columns that resemble a wanted one, but have an unknown unit.
  private(set) var warnings: [String] = []
  private var peerColumn: Column?

  init(_ table: CSVTable) {
    self.table = table
    peerColumn = find("peer")
  }

  // MARK: columns

  /// Returns the column `name_UNIT` with a unit of the quantity, in any case, or one with another
  /// usual name of the quantity; nil when there is none.
  mutating func find(_ name: String, _ quantity: Quantity = .number) -> Column? {
    if let column = lookUp(name, quantity) { return column }
    if let other = unknownUnit(name, quantity) {
      warnings.append(
        "Line \(table.headerLine): ignoring \(other), which has an unknown unit; known are "
          + "\(accepted(name, quantity)).")
    }
    return nil
  }

  func has(_ name: String, _ quantity: Quantity) -> Bool { lookUp(name, quantity) != nil }

  /// Returns the column, which the computation needs.
  func require(_ name: String, _ quantity: Quantity = .number) throws(LabError) -> Column {
    guard let column = lookUp(name, quantity) else {
      if let other = unknownUnit(name, quantity) {
        throw .table(
          table.headerLine, "the unit of the column \(other) is unknown.",
          suggestion: "Use one of \(accepted(name, quantity))."
            + (quantity == .length && other.lowercased().hasSuffix("s")
              ? " A nanosecond is 0.2998 m." : ""))
      }
      let unit = quantity.units.first.map { "_" + $0.suffix } ?? ""
      throw .missingColumn(quantity == .ticks ? name : name + unit, has: table.header)
    }
    return column
  }

  /// Returns the column of exactly this name with phases, in radians unless the name ends in
  /// `_deg`.
  func phaseColumn(_ name: String) throws(LabError) -> Column {
    guard let index = table.header.firstIndex(of: name) else {
      throw .missingColumn(name, has: table.header)
    }
    let isDegrees = name.lowercased().hasSuffix("_deg")
    // Two antennas are a few wavelengths apart at most.
    let column = Column(
      index: index, factor: isDegrees ? .pi / 180 : 1, name: name, mayBeDegrees: !isDegrees)
    try checkUnit(of: column, "phase")
    return column
  }

  /// Rejects a column of angles without a unit if several are more than six turns in radians, and
  /// most are more than one turn. Otherwise, only the rows of the few large ones have a problem.
  func checkUnit(of column: Column?, _ quantity: String) throws(LabError) {
    guard let column, column.mayBeDegrees else { return }
    var (count, many, tooMany, first) = (0, 0, 0, 0)
    for row in 0..<table.rowCount {
      guard let number = table.number(row, column.index) else { continue }
      count += 1
      if abs(number) > 2 * .pi { many += 1 }
      guard column.seemsDegrees(number) else { continue }
      if tooMany == 0 { first = row }
      tooMany += 1
    }
    guard tooMany > 0, tooMany >= min(3, count), 10 * many >= count else { return }
    throw .table(
      table.line(first),
      "the \(quantity) in \(printable(column.name)) is more than six turns: it seems to be in degrees.",
      suggestion: Self.unitAdvice(for: column.name))
  }

  fileprivate static func unitAdvice(for name: String) -> String {
    let stem = name.lowercased().hasSuffix("_rad") ? String(name.dropLast(4)) : name
    return "Call the column \(printable(stem))_deg; if a file names it, there as well."
  }

  /// - Parameter name: the name, with or without a unit.
  func lookUp(_ name: String, _ quantity: Quantity) -> Column? {
    let name = name.lowercased()
    let ownUnit = quantity.units.first { name.hasSuffix("_" + $0.suffix) }
    for name in [name, Self.otherNames[name]].compactMap({ $0 }) {
      let names =
        quantity.units.map { ("\(name)_\($0.suffix)", $0.factor) }
        + [(name, (ownUnit ?? quantity.units.first)?.factor ?? 1)]
      for (name, factor) in names {
        if let index = table.header.firstIndex(where: { $0.lowercased() == name }) {
          return Column(
            index: index, factor: factor, name: table.header[index], isTime: quantity == .time,
            mayBeDegrees: quantity == .angle && factor == 1 && !name.hasSuffix("_rad"))
        }
      }
    }
    return nil
  }

  private static let otherNames = ["range": "distance", "time": "timestamp"]

  private func accepted(_ name: String, _ quantity: Quantity) -> String {
    quantity.units.map { "\(name)_\($0.suffix)" }.joined(separator: ", ")
  }

  /// Returns a column that seems to be the wanted one in an unknown unit.
  private func unknownUnit(_ name: String, _ quantity: Quantity) -> String? {
    guard !quantity.units.isEmpty else { return nil }
    return table.header.first { column in
      let lower = column.lowercased()
      guard lower.hasPrefix(name + "_") else { return false }
      let unit = lower.dropFirst(name.count + 1)
      return (1...4).contains(unit.count) && unit.allSatisfy { $0.isLetter || $0 == "µ" }
    }
  }

  // MARK: cells

  /// Returns the number in a cell, in the unit of the quantity. Nil when there is none; `status`
  /// then records it.
  func value(_ row: Int, _ column: Column, _ status: inout RowStatus) -> Double? {
    if let number = optional(row, column, &status) { return number }
    status.blame(column.name, isEmpty: table.isEmpty(row, column.index))
    return nil
  }

  /// Returns the number in a cell that may have none.
  func optional(_ row: Int, _ column: Column?, _ status: inout RowStatus) -> Double? {
    guard let column else { return nil }
    if let number = number(row, column) { return number }
    if let number = table.number(row, column.index), column.seemsDegrees(number) {
      status.blame(column.name, RowStatus.tooLarge)
    }
    return nil
  }

  /// Returns the number in a cell that may be empty, or whose column may be missing.
  func value(_ row: Int, _ column: Column?) -> Double? {
    column.flatMap { number(row, $0) }
  }

  private func number(_ row: Int, _ column: Column) -> Double? {
    guard let number = table.number(row, column.index) else {
      return column.isTime ? table.date(row, column.index) : nil
    }
    let value = number * column.factor
    // Larger numbers cannot be measurements, and their squares exceed the precision.
    return abs(value) <= 1e12 && !column.seemsDegrees(number) ? value : nil
  }

  /// Returns the standard deviation in a cell, without the part in the column `constant`; `usual`
  /// where it is missing or not positive.
  func deviation(_ row: Int, _ column: Column?, constant: Column?, usual: Double) -> Double {
    guard let whole = value(row, column), whole > 0 else { return usual }
    guard let part = value(row, constant) else { return whole }
    // At least a centimetre: both are rounded.
    return min(whole, max(0.01, max(0, whole * whole - part * part).squareRoot()))
  }

  /// Returns the stamp in a cell. Ticks are an integer, negative if written as signed, or a number
  /// with a fraction. In other units, numbers too large for centimetres are rejected.
  func stamp(_ row: Int, _ column: Column, _ status: inout RowStatus) -> TickStamp? {
    if column.factor == 1 {
      if let ticks = table.integer(row, column.index) { return TickStamp(ticks) }
      if let ticks = table.number(row, column.index), let stamp = TickStamp(exactly: ticks) {
        return stamp
      }
    } else if let ticks = table.number(row, column.index).map({ $0 * column.factor }),
      abs(ticks) < 0x1p50, let stamp = TickStamp(exactly: ticks)
    {
      return stamp
    }
    status.blame(column.name, isEmpty: table.isEmpty(row, column.index))
    return nil
  }

  func text(_ row: Int, _ column: Column) -> String { table.text(row, column.index) }

  /// Returns the peer of a row; empty where the table has no such column.
  func peer(_ row: Int) -> String { peerColumn.map { text(row, $0) } ?? "" }

  // MARK: rows

  /// Returns the usable rows, in their order.
  ///
  /// - Throws: `LabError` when there are rows, but none can be used.
  func rows<T>(_ body: (Int, inout RowStatus) -> T?) throws(LabError) -> LabRows<T> {
    var result = LabRows<T>(values: [], warnings: warnings)
    var problems = RowProblems()
    for row in 0..<table.rowCount {
      var status = RowStatus()
      if let value = body(row, &status), status.isOK { result.values.append(value) }
      problems.add(status, line: table.line(row))
    }
    if table.rowCount == 0 { throw .noRows(table) }
    result.warnings += try problems.warnings(for: table, of: table.rowCount)
    return result
  }
}

/// The contents of the usable rows of a table.
public struct LabRows<Value> {
  /// The value of each usable row.
  public internal(set) var values: [Value]
  /// Sentences about rows and columns that could not be used.
  public internal(set) var warnings: [String]
}

/// Counts the rows of a table that could not be used.
struct RowProblems {
  private var count = 0
  private var first: (line: Int, word: String)?
  /// Rows with angles that seem to be in degrees, and the first of their columns.
  private(set) var angles = 0
  private var angle: String?

  /// Adds the status of a row. Only unreadable cells and unknown names are problems, not the
  /// results of a computation.
  mutating func add(_ state: RowStatus, line: @autoclosure () -> Int) {
    guard !state.isOK else { return }
    let status = state.word
    let prefixes = ["missing_", "invalid_", RowStatus.tooLarge, "unknown_b", "unknown_anchor"]
    guard prefixes.contains(where: status.hasPrefix) else { return }
    count += 1
    if first == nil { first = (line(), status) }
    guard status.hasPrefix(RowStatus.tooLarge) else { return }
    angles += 1
    angle = angle ?? String(status.dropFirst(RowStatus.tooLarge.count))
  }

  /// The error of a table with too many such rows.
  var unitError: LabError? {
    angle.map {
      LabError(
        .badTable, "\($0) is often more than six turns: it seems to be in degrees.",
        suggestion: TableReader.unitAdvice(for: $0))
    }
  }

  /// - Parameter total: the number of rows.
  /// - Throws: `LabError` when none of them could be used.
  func warnings(for table: CSVTable, of total: Int) throws(LabError) -> [String] {
    var warnings: [String] = []
    if let ragged = table.ragged {
      let others = ragged.count > 1 ? "; \(ragged.count) rows differ from it" : ""
      warnings.append(
        "Line \(ragged.line) has \(ragged.cells) cells, the header \(table.header.count)\(others).")
    }
    guard let first else { return warnings }
    let example = "The first is line \(first.line): \(first.word)."
    let advice = angle.map { TableReader.unitAdvice(for: $0) }
    if count == total {
      throw LabError(
        .badTable, line: first.line,
        "None of the \(count) rows can be used. \(example)",
        suggestion: first.word.hasPrefix("invalid_time")
          ? "Times are seconds, or in the unit of the column's name such as time_ms, or dates such as "
            + "2026-11-22T18:30:05.25." : advice)
    }
    return warnings
      + ["\(count) of \(total) rows cannot be used. \(example)\(advice.map { " " + $0 } ?? "")"]
  }
}

/// The result for a row of a table.
public struct ComputedRow<Value> {
  /// The row of the input; the first one, where several were computed together.
  public let row: Int
  /// The value of the column `peer`; empty without one.
  public let peer: String
  /// The time in seconds; nil where the row has none.
  public let time: Double?
  /// The result; nil where the row could not be computed.
  public internal(set) var value: Value?
  var state = RowStatus()
  /// The probability that the direct path was blocked; nil without any evidence.
  var blocked: Double?

  /// `ok`, or one word for the problem.
  public var status: String { state.word }
}

/// The results computed from a table. Written as CSV, the columns of the input are followed by
/// computed ones and `status`.
public struct ComputedTable<Value> {
  /// The results, in the order of the input.
  public let rows: [ComputedRow<Value>]
  /// Sentences about rows and columns that could not be used.
  public let warnings: [String]
  /// The problem when nothing could be computed, or when a file lacks a name that the rows use.
  public let problem: LabError?
  let reader: TableReader
  let columns: [OutputColumn<Value>]
  private let draw: ([ComputedRow<Value>]) -> [Chart]

  init(
    _ reader: TableReader, _ rows: [ComputedRow<Value>], _ columns: [OutputColumn<Value>],
    missing: LabError? = nil, draw: @escaping ([ComputedRow<Value>]) -> [Chart]
  ) {
    (self.reader, self.rows, self.columns, self.draw) = (reader, rows, columns, draw)
    let input = reader.table
    var problems = RowProblems()
    for row in rows { problems.add(row.state, line: input.line(row.row)) }
    do throws(LabError) {
      warnings = reader.warnings + (try problems.warnings(for: input, of: input.rowCount))
      problem = missing ?? Self.emptiness(input, rows)
    } catch {
      (warnings, problem) = (reader.warnings, error)
    }
  }

  private static func emptiness(
    _ table: CSVTable, _ rows: [ComputedRow<Value>]
  ) -> LabError? {
    guard let first = rows.first else { return .noRows(table) }
    guard rows.allSatisfy({ $0.value == nil }) else { return nil }
    return .nothingComputed(
      of: table.rowCount, firstLine: table.line(first.row), first.status)
  }

  /// The charts of the results.
  public var charts: [Chart] { draw(rows) }

  /// Returns the charts of the results, with the share of errors within the stated deviations.
  ///
  /// - Parameter scores: the result of `scores(truth:)`.
  public func charts(with scores: [Score]) -> [Chart] {
    scores.isEmpty ? charts : charts + [.honesty(scores)]
  }

  /// Writes the table as CSV, with the separator of the input. A column of the input that has the
  /// name of a computed one is renamed to `input_…`.
  ///
  /// - Parameter path: nil or `-` is standard output.
  public func write(to path: String?) throws(LabError) {
    var writer = try ComputedWriter(to: path, reader.table, columns)
    for row in rows { try writer.add(row, of: reader.table) }
    try writer.finish()
  }
}

/// Writes computed rows, each after its columns of the input.
struct ComputedWriter<Value> {
  private var writer: CSVWriter
  private let columns: [OutputColumn<Value>]

  /// Writes the header.
  init(
    to path: String?, _ input: CSVTable, _ columns: [OutputColumn<Value>]
  ) throws(LabError) {
    self.columns = columns
    writer = try CSVWriter(to: path, separator: input.separator)
    let computed = Set(columns.map(\.name) + ["status"])
    for name in input.header { writer.add(computed.contains(name) ? "input_" + name : name) }
    for column in columns { writer.add(column.name) }
    writer.add("status")
    try writer.endRow()
  }

  @inline(__always)
  mutating func add(_ row: ComputedRow<Value>, of input: CSVTable) throws(LabError) {
    writer.hasDecimalCommas = input.hasDecimalCommas
    for column in input.header.indices { writer.add(raw: input.raw(row.row, column)) }
    for column in columns {
      switch column.cell(row) {
      case .number(let value, let digits): writer.add(value, digits: digits)
      case .text(let text): writer.add(text)
      }
    }
    writer.add(row.status)
    try writer.endRow()
  }

  mutating func flush() throws(LabError) { try writer.flush() }

  mutating func finish() throws(LabError) { try writer.finish() }
}

/// A computed number with its standard deviation, in metres or radians.
struct StatedEstimate<Value> {
  /// The name without the unit.
  let name: String
  let quantity: Quantity
  let value: (Value) -> Double
  let deviation: (Value) -> Double
}

/// A computed column: its name, and its cell for a row.
struct OutputColumn<Value> {
  enum Cell {
    /// A number; nil is an empty cell.
    case number(Double?, digits: Int)
    case text(String)
  }

  let name: String
  /// The estimate, where it can be compared with a truth.
  var estimate: StatedEstimate<Value>?
  let cell: (ComputedRow<Value>) -> Cell

  static func number(
    _ name: String, digits: Int = 4, _ number: @escaping (Value) -> Double?
  ) -> OutputColumn {
    OutputColumn(name: name) { .number($0.value.flatMap(number), digits: digits) }
  }

  /// Returns a column with an angle, in radians, written in degrees.
  static func degrees(_ name: String, _ angle: @escaping (Value) -> Double) -> OutputColumn {
    number(name, digits: 3) { angle($0) * 180 / .pi }
  }

  /// Returns columns with a length and its deviation.
  ///
  /// - Parameters:
  ///   - truth: the name of the column of its truth, without the unit.
  ///   - name: the name of the computed column; nil: the same.
  static func length(
    _ truth: String, as name: String? = nil, _ value: @escaping (Value) -> Double,
    deviation: @escaping (Value) -> Double
  ) -> OutputColumn {
    var column = number(name ?? truth + "_m", value)
    column.estimate = StatedEstimate(
      name: truth, quantity: .length, value: value, deviation: deviation)
    return column
  }

  /// Returns columns with an angle and its deviation, in radians, written in degrees.
  static func angle(
    _ truth: String, _ value: @escaping (Value) -> Double, deviation: @escaping (Value) -> Double
  ) -> OutputColumn {
    var column = degrees(truth + "_deg", value)
    column.estimate = StatedEstimate(
      name: truth, quantity: .angle, value: value, deviation: deviation)
    return column
  }

  /// A column with the probability that the direct path was blocked.
  static var blocked: OutputColumn {
    OutputColumn(name: "nlos_probability") { .number($0.blocked, digits: 3) }
  }

  static func text(_ name: String, _ text: @escaping (Value) -> String) -> OutputColumn {
    OutputColumn(name: name) { .text($0.value.map(text) ?? "") }
  }

  static func flag(_ name: String, _ isSet: @escaping (Value) -> Bool) -> OutputColumn {
    OutputColumn(name: name) { .text($0.value.map(isSet) == true ? "1" : "0") }
  }
}

extension LabError {
  static func noRows(_ table: CSVTable) -> LabError {
    LabError(.badTable, line: table.headerLine, "The table has a header, but no rows.")
  }

  static func nothingComputed(of count: Int, firstLine line: Int, _ status: String) -> LabError {
    LabError(
      .badTable, line: line,
      "Nothing could be computed from any of the \(count) rows. The first is line \(line): "
        + "\(status).",
      suggestion: hint(status))
  }

  /// Returns the likely mistake where all stamps of a table are rejected.
  private static func hint(_ status: String) -> String? {
    let ends =
      "whether two columns were exchanged: t1, t4 and t5 are the initiator's, t2, t3 and t6 the responder's, "
      + "and of a second response t5 the responder's and t6 the initiator's."
    return switch status {
    case "implausible_reply":
      "Look at the unit, which is ticks of 15.65 ps unless the name says another (t1_ns), and \(ends)"
    case "implausible_clocks":
      "Look whether all stamps have one unit, whether polls are more than a turn of the counter apart (17 s "
        + "with 40 bits), which needs the column time, and \(ends)"
    case "exchanged_stamps": "Look \(ends)"
    case "no_position":
      "A position takes three anchors. Rows of one epoch need the same time; without --single, one after the "
        + "other will do."
    default: nil
    }
  }
}
