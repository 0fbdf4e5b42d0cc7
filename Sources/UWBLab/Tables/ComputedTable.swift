// SPDX-License-Identifier: Apache-2.0

/// What was computed for a row of a table.
public struct ComputedRow<Value> {
  /// The row of the input; the first, where several were computed together.
  public let row: Int
  /// As the column `peer` has it; empty without one.
  public let peer: String
  /// Seconds; nil where the row has none.
  public let time: Double?
  /// nil where the row could not be computed.
  public internal(set) var value: Value?
  var state = RowStatus()

  /// `ok`, or one word that says what is wrong.
  public var status: String { state.word }
}

/// The results computed from a table. Written as CSV, the columns of the input are followed by
/// computed ones and `status`.
public struct ComputedTable<Value> {
  /// The results, in the order of the input.
  public let rows: [ComputedRow<Value>]
  /// Sentences about rows and columns that could not be used.
  public let warnings: [String]
  /// Set when the table has rows, but none of them can be used; their statuses say why.
  public let problem: LabError?
  private let input: CSVTable
  private let columns: [OutputColumn<Value>]
  private let draw: ([ComputedRow<Value>]) -> [Chart]

  init(
    _ reader: TableReader, _ rows: [ComputedRow<Value>], _ columns: [OutputColumn<Value>],
    draw: @escaping ([ComputedRow<Value>]) -> [Chart]
  ) {
    (input, self.rows, self.columns, self.draw) = (reader.table, rows, columns, draw)
    var problems = RowProblems()
    for row in rows { problems.add(row.status, row: row.row) }
    do throws(LabError) {
      warnings = reader.warnings + (try problems.warnings(for: input))
      problem = nil
    } catch {
      (warnings, problem) = (reader.warnings, error)
    }
  }

  /// The results drawn.
  public var charts: [Chart] { draw(rows) }

  /// Writes the table as CSV, with the separator of the input. A column of the input that has the
  /// name of a computed one is renamed to `input_…`.
  ///
  /// - Parameter path: nil or `-` is standard output.
  public func write(to path: String?) throws(LabError) {
    var writer = try CSVWriter(to: path, separator: input.separator)
    let computed = Set(columns.map(\.name) + ["status"])
    for name in input.header { writer.add(computed.contains(name) ? "input_" + name : name) }
    for column in columns { writer.add(column.name) }
    writer.add("status")
    try writer.endRow()
    for row in rows {
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
    try writer.finish()
  }
}

/// A computed column: its name, and its cell for a row.
struct OutputColumn<Value> {
  enum Cell {
    /// nil is an empty cell.
    case number(Double?, digits: Int)
    case text(String)
  }

  let name: String
  let cell: (ComputedRow<Value>) -> Cell

  static func number(
    _ name: String, digits: Int = 4, _ number: @escaping (Value) -> Double?
  ) -> OutputColumn {
    OutputColumn(name: name) { .number($0.value.flatMap(number), digits: digits) }
  }

  /// An angle, in radians, written in degrees.
  static func degrees(_ name: String, _ angle: @escaping (Value) -> Double) -> OutputColumn {
    number(name, digits: 3) { angle($0) * 180 / .pi }
  }

  static func text(_ name: String, _ text: @escaping (Value) -> String) -> OutputColumn {
    OutputColumn(name: name) { .text($0.value.map(text) ?? "") }
  }

  static func flag(_ name: String, _ isSet: @escaping (Value) -> Bool) -> OutputColumn {
    OutputColumn(name: name) { .text($0.value.map(isSet) == true ? "1" : "0") }
  }
}
