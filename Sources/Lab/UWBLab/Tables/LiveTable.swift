// SPDX-License-Identifier: Apache-2.0

import System
import SystemPackage
import UWBLink

/// The computation of a table, either of the whole or row by row.
package struct RowComputation<Value> {
  var reader: TableReader
  let columns: [OutputColumn<Value>]
  /// Computes a row of the table of this reader. Must be called once for each row, in their order.
  let compute: (TableReader, Int) -> ComputedRow<Value>
  /// Improves the results of a whole table with its later rows.
  private let finish: ((inout [ComputedRow<Value>]) -> Void)?
  private let draw: ([ComputedRow<Value>]) -> [Chart]

  init(
    _ reader: TableReader, _ columns: [OutputColumn<Value>],
    compute: @escaping (TableReader, Int) -> ComputedRow<Value>,
    finish: ((inout [ComputedRow<Value>]) -> Void)? = nil,
    draw: @escaping ([ComputedRow<Value>]) -> [Chart]
  ) {
    (self.reader, self.columns, self.compute) = (reader, columns, compute)
    (self.finish, self.draw) = (finish, draw)
  }

  /// Computes the whole table.
  package func table() -> ComputedTable<Value> {
    var rows: [ComputedRow<Value>] = []
    rows.reserveCapacity(reader.table.rowCount)
    for row in 0..<reader.table.rowCount { rows.append(compute(reader, row)) }
    finish?(&rows)
    return ComputedTable(reader, rows, columns, draw: draw)
  }

  /// Reads a table row by row, and writes the results of each row before it waits for the next one.
  /// Holds one row at a time, and ends with the table, or when the task is cancelled.
  ///
  /// - Parameters:
  ///   - input: nil or `-` is standard input.
  ///   - output: nil or `-` is standard output.
  ///   - format: the facts that the input does not state.
  ///   - begin: receives a table with the header alone.
  /// - Returns: sentences about rows and columns that could not be used.
  /// - Throws: `LabError`, also when nothing could be computed.
  package static func run(
    from input: String?, to output: String?, _ format: CSVTable.Format = .init(),
    _ begin: (CSVTable) throws(LabError) -> RowComputation
  ) throws(LabError) -> [String] {
    var rows = try TableRows(input, format)
    var computation = try begin(rows.table)
    var writer = try ComputedWriter(to: output, rows.table, computation.columns)
    var problems = RowProblems()
    var (total, computed) = (0, 0)
    var first: (line: Int, status: RowStatus)?
    do throws(LabError) {
      while try rows.next(beforeWaiting: { () throws(LabError) in try writer.flush() }) {
        // The only reference to the row, so that the next row can use its memory.
        swap(&computation.reader.table, &rows.table)
        let row = computation.compute(computation.reader, 0)
        let line = computation.reader.table.line(0)
        problems.add(row.state, line: line)
        try writer.add(row, of: computation.reader.table)
        swap(&computation.reader.table, &rows.table)
        total += 1
        if row.value != nil { computed += 1 }
        first = first ?? (line, row.state)
      }
    } catch {
      if error.code != .outputClosed { try writer.finish() }
      throw error
    }
    try writer.finish()
    let (isCut, warnings) = (Task.isCancelled, computation.reader.warnings)
    guard let first else {
      if isCut { return warnings }
      throw .noRows(rows.table)
    }
    let others = try problems.warnings(for: rows.table, of: total)
    if computed == 0, !isCut {
      throw .nothingComputed(of: total, firstLine: first.line, first.status)
    }
    return warnings + others
  }
}

/// The rows of a table as they arrive.
struct TableRows: ~Copyable {
  /// The header, and the last row.
  var table: CSVTable
  private let name: String
  private var lines: InputLines
  /// The last line that was read.
  private var line: Int

  init(_ path: String?, _ format: CSVTable.Format) throws(LabError) {
    let name = path ?? "-"
    var lines = try Self.open(name)
    (table, line) = try Self.header(&lines, name, format)
    self.name = name
    self.lines = lines
  }

  private static func open(_ name: String) throws(LabError) -> InputLines {
    do throws(FileError) { return try InputLines(name) } catch { throw unreadable(name, error) }
  }

  private static func header(
    _ lines: inout InputLines, _ name: String, _ format: CSVTable.Format
  ) throws(LabError) -> (CSVTable, line: Int) {
    var (line, comment) = (0, Int?.none)
    while var text = try take(&lines, name) {
      line += 1
      if line == 1, text.starts(with: CSVTable.byteOrderMark) {
        text.removeFirst(CSVTable.byteOrderMark.count)
      }
      guard format.header.map({ $0 == line }) ?? !CSVTable.isSkipped(text[...]) else {
        if text.first == UInt8(ascii: "#") { comment = line }
        continue
      }
      return (try CSVTable(text, format, line: line, below: comment), line)
    }
    if Task.isCancelled { throw unreadable(name, .system(.canceled)) }
    return (try CSVTable([], format, below: comment), line)
  }

  private static func unreadable(_ name: String, _ error: FileError) -> LabError {
    .unreadable(name == "-" ? "standard input" : name, error)
  }

  /// Reads the next row; false after the last.
  mutating func next(
    beforeWaiting prepare: () throws(LabError) -> Void
  ) throws(LabError) -> Bool {
    while true {
      if !lines.hasLine { try prepare() }
      line += 1
      guard var row = try Self.take(&lines, name) else { return false }
      let first = line
      while table.isOpen(row), let more = try Self.take(&lines, name) {
        row += [0x0A] + more
        line += 1
        guard row.count <= 1 << 20 else {
          throw .table(first, "a quotation mark is not closed within a million bytes.")
        }
      }
      if try table.replaceRows(row, line: first) { return true }
    }
  }

  /// Reads one row; nil at the end of the input, and when the task is cancelled.
  private static func take(
    _ lines: inout InputLines, _ name: String
  ) throws(LabError) -> [UInt8]? {
    if Task.isCancelled { return nil }
    do throws(FileError) { return try lines.next().map(Array.init) } catch {
      if error.errno == .canceled { return nil }
      throw unreadable(name, error)
    }
  }
}
