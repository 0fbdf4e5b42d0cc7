// SPDX-License-Identifier: Apache-2.0

import System
import SystemPackage
import UWBLink

/// A computation whose results need only their own row and earlier ones.
package struct RowComputation<Value> {
  var reader: TableReader
  let columns: [OutputColumn<Value>]
  /// The computation of a row of the table of this reader. Must be called once for each row, in
  /// their order.
  let compute: (TableReader, Int) -> ComputedRow<Value>

  init(
    _ reader: TableReader, _ columns: [OutputColumn<Value>],
    compute: @escaping (TableReader, Int) -> ComputedRow<Value>
  ) {
    (self.reader, self.columns, self.compute) = (reader, columns, compute)
  }

  /// All rows of the table.
  var rows: [ComputedRow<Value>] { (0..<reader.table.rowCount).map { compute(reader, $0) } }

  /// Reads a table row by row, and writes the results of each row before it waits for the next one.
  /// Holds one row at a time, and ends with the table, or when the task is cancelled.
  ///
  /// - Parameters:
  ///   - input: nil or `-` is standard input.
  ///   - output: nil or `-` is standard output.
  ///   - begin: receives a table with the header alone.
  /// - Returns: sentences about rows and columns that could not be used.
  /// - Throws: `LabError`, also when nothing could be computed.
  package static func run(
    from input: String?, to output: String?,
    _ begin: (CSVTable) throws(LabError) -> RowComputation
  ) throws(LabError) -> [String] {
    var rows = try TableRows(input)
    var computation = try begin(rows.table)
    var writer = try ComputedWriter(to: output, rows.table, computation.columns)
    var problems = RowProblems()
    var (total, computed) = (0, 0)
    var first: (line: Int, status: String)?
    while true {
      do throws(LabError) {
        guard try rows.next(beforeWaiting: { () throws(LabError) in try writer.flush() }) else {
          break
        }
      } catch {
        if error.code != .outputClosed { try writer.finish() }
        throw error
      }
      // The only reference to the row, so that the next row can use its memory.
      swap(&computation.reader.table, &rows.table)
      let row = computation.compute(computation.reader, 0)
      try writer.add(row, of: computation.reader.table)
      swap(&computation.reader.table, &rows.table)
      let line = rows.table.line(0)
      total += 1
      if row.value != nil { computed += 1 }
      first = first ?? (line, row.status)
      problems.add(row.state, line: line)
      // The rows before were wrong as well.
      if problems.angles == 3, total <= 30 { break }
    }
    try writer.finish()
    let isCut = Task.isCancelled
    guard let first else {
      if isCut { return computation.reader.warnings }
      throw .noRows(rows.table)
    }
    if problems.angles >= 3, total <= 30, let error = problems.unitError { throw error }
    let warnings = try problems.warnings(for: rows.table, of: total)
    if computed == 0, !isCut {
      throw .nothingComputed(of: total, firstLine: first.line, first.status)
    }
    return computation.reader.warnings + warnings
  }
}

/// The rows of a table as they arrive.
private struct TableRows: ~Copyable {
  /// The header, and the last row.
  var table: CSVTable
  private let name: String
  private var lines: InputLines
  /// The last line that was read.
  private var line: Int
  /// The next row, if it has already been read while the header was determined.
  // `[UInt8]?` begins as nil, which Swift 6.2 destroys twice when the initialiser throws.
  private var row: Optional<[UInt8]>

  init(_ path: String?) throws(LabError) {
    let name = path ?? "-"
    var lines = try Self.open(name)
    (table, line, row) = try Self.header(&lines, name)
    self.name = name
    self.lines = lines
  }

  private static func open(_ name: String) throws(LabError) -> InputLines {
    do throws(FileError) { return try InputLines(name) } catch { throw unreadable(name, error) }
  }

  private static func header(
    _ lines: inout InputLines, _ name: String
  ) throws(LabError) -> (CSVTable, line: Int, row: [UInt8]?) {
    var (line, comments) = (0, [(text: [UInt8], line: Int)]())
    func header(above row: [UInt8]?) -> (text: [UInt8], line: Int)? {
      CSVTable.header(among: comments.map { $0.text[...] }, above: row.map { $0[...] })
        .map { (Array(comments[$0].text.drop { $0 == UInt8(ascii: "#") }), comments[$0].line) }
    }
    while var text = try take(&lines, name) {
      line += 1
      if line == 1, text.starts(with: CSVTable.byteOrderMark) {
        text.removeFirst(CSVTable.byteOrderMark.count)
      }
      if text.first == UInt8(ascii: "#") {
        comments.append((text, line))
      } else if !text.isEmpty, text != [0x0D] {
        if let marked = header(above: text) {
          return (try CSVTable(marked.text, line: marked.line), line, text)
        }
        return (try CSVTable(text, line: line), line, nil)
      }
    }
    if Task.isCancelled { throw unreadable(name, .system(.canceled)) }
    let marked = header(above: nil)
    return (try CSVTable(marked?.text ?? [], line: marked?.line ?? 1), line, nil)
  }

  private static func unreadable(_ name: String, _ error: FileError) -> LabError {
    .unreadable(name == "-" ? "standard input" : name, error)
  }

  /// Reads the next row; false after the last.
  mutating func next(
    beforeWaiting prepare: () throws(LabError) -> Void
  ) throws(LabError) -> Bool {
    while true {
      if !lines.hasLine, row == nil { try prepare() }
      if row == nil { line += 1 }
      var next = row.take()
      if next == nil { next = try Self.take(&lines, name) }
      guard var row = next else { return false }
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
