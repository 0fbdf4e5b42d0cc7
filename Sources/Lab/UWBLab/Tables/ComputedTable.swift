// SPDX-License-Identifier: Apache-2.0

import Formats
import Ranging

/// The result for a row of a table.
public struct ComputedRow<Value> {
  /// The row of the input; the first row if several were computed together.
  public let row: Int
  /// The cell in the column `peer`; empty without such a column.
  public let peer: String
  /// The time in seconds; nil if the row has none.
  public let time: Double?
  /// The result; nil if the row could not be computed.
  public internal(set) var value: Value?
  var state = RowStatus.ok
  /// The probability that the direct path was blocked; nil without any evidence.
  var blocked: Double?
  /// The number of measurements that a position uses.
  var used = 0

  /// `ok`, or one word that names the problem.
  public var status: String { state.word }
}

/// The results computed from a table. As CSV, it has the columns of the input, then the computed
/// ones and `status`.
public struct ComputedTable<Value> {
  /// The results, in the order of the input.
  public let rows: [ComputedRow<Value>]
  /// Sentences about rows and columns that could not be used.
  public let warnings: [String]
  /// The reason why nothing could be computed; also set if a file lacks a name that rows use.
  public let problem: LabError?
  let reader: TableReader
  let columns: [OutputColumn<Value>]
  private let draw: ([ComputedRow<Value>]) -> [Chart]

  init(
    _ reader: TableReader, _ rows: [ComputedRow<Value>], _ columns: [OutputColumn<Value>],
    warnings: [String] = [], missing: LabError? = nil,
    draw: @escaping ([ComputedRow<Value>]) -> [Chart]
  ) {
    (self.reader, self.rows, self.columns, self.draw) = (reader, rows, columns, draw)
    let input = reader.table
    var problems = RowProblems()
    for row in rows { problems.add(row.state, line: input.line(row.row)) }
    do throws(LabError) {
      self.warnings =
        reader.warnings + (try problems.warnings(for: input, of: input.rowCount)) + warnings
      problem = missing ?? Self.emptiness(input, rows)
    } catch {
      (self.warnings, problem) = (reader.warnings, missing ?? error)
    }
  }

  private static func emptiness(
    _ table: CSVTable, _ rows: [ComputedRow<Value>]
  ) -> LabError? {
    guard let first = rows.first else { return .noRows(table) }
    guard rows.allSatisfy({ $0.value == nil }) else { return nil }
    return .nothingComputed(
      of: table.rowCount, firstLine: table.line(first.row), first.state)
  }

  /// The charts of the results.
  public var charts: [Chart] { draw(rows) }

  /// Returns the charts of the results, and a chart of the errors within the stated deviations.
  ///
  /// - Parameter scores: the result of `scores(truth:)`.
  package func charts(with scores: [Score]) -> [Chart] {
    scores.isEmpty ? charts : charts + [.honesty(scores)]
  }

  /// Writes the table as CSV, with the separator of the input. Renames columns of the input that
  /// have the name of a computed one to `input_…`.
  ///
  /// - Parameter path: nil or `-` is standard output.
  public func write(to path: String?) throws(LabError) {
    var writer = try ComputedWriter(to: path, reader.table, columns)
    for row in rows { try writer.add(row, of: reader.table) }
    try writer.finish()
  }
}

/// Writes computed rows, each after the columns of its row of the input.
struct ComputedWriter<Value> {
  private var writer: CSVWriter
  private let columns: [OutputColumn<Value>]
  /// The columns of the input that are written.
  private let kept: [Int]

  /// Writes the header.
  ///
  /// - Parameter brief: the columns of the input to write, by their names without units; nil: all.
  ///   If given, covariances are not written either.
  init(
    to path: String?, _ input: CSVTable, _ columns: [OutputColumn<Value>], brief: [String]? = nil
  ) throws(LabError) {
    self.columns = columns.filter { brief == nil || !$0.name.hasPrefix("cov_") }
    kept = input.header.indices.filter { index in
      let name = input.header[index].lowercased()
      return brief?.contains { name == $0 || name.hasPrefix($0 + "_") } ?? true
    }
    writer = try CSVWriter(to: path, separator: input.separator)
    let computed = Set(columns.map(\.name) + ["status"])
    for name in kept.map({ input.header[$0] }) {
      writer.add(computed.contains(name) ? "input_" + name : name)
    }
    for column in self.columns { writer.add(column.name) }
    writer.add("status")
    try writer.endRow()
  }

  @inline(__always)
  mutating func add(_ row: ComputedRow<Value>, of input: CSVTable) throws(LabError) {
    writer.hasDecimalCommas = input.hasDecimalCommas ?? false
    for column in kept { writer.add(raw: input.raw(row.row, column)) }
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
  /// The estimate, if it can be compared with a truth.
  var estimate: StatedEstimate<Value>?
  let cell: (ComputedRow<Value>) -> Cell

  static func number(
    _ name: String, digits: Int = 4, _ number: @escaping (Value) -> Double?
  ) -> OutputColumn {
    OutputColumn(name: name) { .number($0.value.flatMap(number), digits: digits) }
  }

  /// Returns a column with an angle. `angle` returns radians, and the column has degrees.
  static func degrees(_ name: String, _ angle: @escaping (Value) -> Double) -> OutputColumn {
    number(name, digits: 3) { angle($0) * 180 / .pi }
  }

  /// Returns columns with a length and its standard deviation.
  ///
  /// - Parameters:
  ///   - truth: the name of the column with the truth, without the unit.
  ///   - name: the name of the computed column; nil: the name of the truth.
  static func length(
    _ truth: String, as name: String? = nil, _ value: @escaping (Value) -> Double,
    deviation: @escaping (Value) -> Double
  ) -> OutputColumn {
    var column = number(name ?? truth + "_m", value)
    column.estimate = StatedEstimate(
      name: truth, quantity: .length, value: value, deviation: deviation)
    return column
  }

  /// Returns columns with an angle and its standard deviation. They are computed in radians and
  /// written in degrees.
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
