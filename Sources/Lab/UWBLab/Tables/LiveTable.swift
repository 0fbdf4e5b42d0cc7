// SPDX-License-Identifier: Apache-2.0

import System
import SystemPackage
import UWBLink

/// The computation of a table: as a whole, in pieces, or row by row.
package struct RowComputation<Value> {
  var reader: TableReader
  let columns: [OutputColumn<Value>]
  /// The first pass, if results need later rows; nil: there is only one pass.
  let preparation: Preparation?
  /// Computes a row of the reader's table. Must be called once for each row, in order.
  let compute: (TableReader, Int) -> ComputedRow<Value>
  private let draw: ([ComputedRow<Value>]) -> [Chart]

  /// The first pass over the rows, before any result is computed.
  struct Preparation {
    /// Adds a row. Must be called once for each row, in order.
    let take: (TableReader, Int) -> Void
    /// Ends the pass. Must be called after the last row.
    var finish: () -> Void = {}
  }

  init(
    _ reader: TableReader, _ columns: [OutputColumn<Value>], prepare: Preparation? = nil,
    compute: @escaping (TableReader, Int) -> ComputedRow<Value>,
    draw: @escaping ([ComputedRow<Value>]) -> [Chart]
  ) {
    (self.reader, self.columns, self.compute) = (reader, columns, compute)
    (preparation, self.draw) = (prepare, draw)
  }

  /// Computes the whole table.
  package func table() -> ComputedTable<Value> {
    let indices = 0..<reader.table.rowCount
    for row in indices { preparation?.take(reader, row) }
    preparation?.finish()
    var rows: [ComputedRow<Value>] = []
    rows.reserveCapacity(indices.count)
    for row in indices { rows.append(compute(reader, row)) }
    return ComputedTable(reader, rows, columns, draw: draw)
  }

  /// Reads a table row by row, and writes the results of each row before it waits for the next one.
  /// Holds one row in memory. Ends with the table, or if the task is cancelled.
  ///
  /// - Parameters:
  ///   - input: nil or `-` is standard input.
  ///   - output: nil or `-` is standard output.
  ///   - format: the properties that the input does not state.
  ///   - begin: receives a table with the header only.
  /// - Returns: sentences about rows and columns that could not be used.
  /// - Throws: `LabError`, also if nothing could be computed.
  package static func run(
    from input: String?, to output: String?, _ format: CSVTable.Format = .init(),
    _ begin: (CSVTable) throws(LabError) -> RowComputation
  ) throws(LabError) -> [String] {
    var rows = try TableRows(input, to: output, format)
    var computation = try begin(rows.table)
    var writer = try ComputedWriter(
      to: output, rows.table, computation.columns,
      brief: OutputFile.isTerminal(output ?? "-") ? ["time", "peer"] : nil)
    var tally = RowTally()
    do throws(LabError) {
      while try rows.next(beforeWaiting: { () throws(LabError) in try writer.flush() }) {
        try computation.write(&rows.table, &writer, &tally)
      }
    } catch {
      if error.code != .outputClosed { try writer.finish() }
      throw error
    }
    try writer.finish()
    return try tally.warnings(
      after: computation.reader.warnings, of: rows.table, isCut: Task.isCancelled)
  }

  /// Computes a table and writes the results. Only one piece of the table is in memory. With a
  /// first pass, the input is read twice.
  ///
  /// - Parameters:
  ///   - input: nil or `-` is standard input.
  ///   - output: nil or `-` is standard output.
  ///   - format: the properties that the input does not state.
  ///   - piece: the number of bytes in a piece.
  ///   - begin: receives a table with the rows of the first piece.
  /// - Returns: sentences about rows and columns that could not be used, and the reason if nothing
  ///   could be computed.
  package static func compute(
    from input: String?, to output: String?, _ format: CSVTable.Format = .init(),
    piece: Int = 8 << 20, _ begin: (CSVTable) throws(LabError) -> RowComputation
  ) throws(LabError) -> (warnings: [String], problem: LabError?) {
    let overwrites = OutputFile.isSame(output ?? "-", as: input ?? "-")
    var pieces = try TablePieces(input, format, size: piece)
    var computation = try begin(pieces.table)
    if !pieces.isAtEnd, computation.preparation != nil && !pieces.canRestart || overwrites {
      try pieces.takeAll()
      computation = try begin(pieces.table)
    }
    if pieces.isAtEnd {
      let result = computation.table()
      try result.write(to: output)
      return (result.warnings, result.problem)
    }
    if computation.preparation != nil {
      try computation.prepare(&pieces)
      pieces = try pieces.restarted()
    }
    var writer = try ComputedWriter(to: output, pieces.table, computation.columns)
    var tally = RowTally()
    do throws(LabError) {
      repeat { try computation.write(&pieces.table, &writer, &tally) } while try pieces.next()
    } catch {
      if error.code != .outputClosed { try writer.finish() }
      throw error
    }
    try writer.finish()
    return (try tally.warnings(after: computation.reader.warnings, of: pieces.table), nil)
  }

  /// Runs the first pass over all pieces.
  private mutating func prepare(_ pieces: inout TablePieces) throws(LabError) {
    var count = 0
    repeat {
      swap(&reader.table, &pieces.table)
      let rows = 0..<reader.table.rowCount
      for row in rows { preparation?.take(reader, row) }
      swap(&reader.table, &pieces.table)
      count += rows.count
      guard count <= CSVTable.rowLimit else { throw .tooManyRows(line: pieces.table.line(0)) }
    } while try pieces.next()
    preparation?.finish()
  }

  /// Computes and writes all rows of a table.
  private mutating func write(
    _ table: inout CSVTable, _ writer: inout ComputedWriter<Value>, _ tally: inout RowTally
  ) throws(LabError) {
    // There must be only one reference to the rows, so that the next rows can reuse their memory.
    swap(&reader.table, &table)
    defer { swap(&reader.table, &table) }
    for index in 0..<reader.table.rowCount {
      let row = compute(reader, index)
      tally.add(row.state, isComputed: row.value != nil, line: reader.table.line(index))
      try writer.add(row, of: reader.table)
    }
  }
}

/// The rows of a table while it is being written by another program.
struct TableRows: ~Copyable {
  /// A table with the header and the last row.
  var table: CSVTable
  private let name: String
  private var lines: InputLines
  /// The line number of the last line that was read.
  private var line: Int

  /// Reads the header.
  ///
  /// - Parameter output: the file of the results, which must not be the input.
  init(_ path: String?, to output: String?, _ format: CSVTable.Format) throws(LabError) {
    let name = path ?? "-"
    guard !OutputFile.isSame(output ?? "-", as: name) else {
      throw LabError(
        .usage, "The output is the file of the input, which --live would overwrite unread.",
        suggestion: "Give another file, or leave out --live.")
    }
    var lines = try Self.open(name)
    (table, line) = try Self.header(&lines, name, format)
    self.name = name
    self.lines = lines
  }

  private static func open(_ name: String) throws(LabError) -> InputLines {
    do throws(FileError) { return try InputLines(name) } catch { throw .unreadable(name, error) }
  }

  private static func header(
    _ lines: inout InputLines, _ name: String, _ format: CSVTable.Format
  ) throws(LabError) -> (CSVTable, line: Int) {
    var (line, comment) = (0, Int?.none)
    while let text = try take(&lines, line + 1, of: name) {
      line += 1
      guard format.header.map({ $0 == line }) ?? !CSVTable.isSkipped(text[...]) else {
        if text.first == UInt8(ascii: "#") { comment = line }
        continue
      }
      return (try CSVTable(text, format, line: line, below: comment), line)
    }
    if Task.isCancelled { throw .unreadable(name, FileError.system(.canceled)) }
    return (try CSVTable([], format, below: comment), line)
  }

  /// Reads the next row. Returns false after the last one.
  mutating func next(
    beforeWaiting prepare: () throws(LabError) -> Void
  ) throws(LabError) -> Bool {
    while true {
      if !lines.hasLine { try prepare() }
      line += 1
      guard var row = try Self.take(&lines, line, of: name) else { return false }
      let first = line
      while table.isOpen(row), let more = try Self.take(&lines, line + 1, of: name) {
        row += [0x0A] + more
        line += 1
        guard row.count <= 1 << 20 else {
          throw .table(first, "a quotation mark is not closed within a million bytes.")
        }
      }
      if try table.replaceRows(row, line: first) { return true }
    }
  }

  /// Reads one row. Returns nil at the end of the input, and if the task is cancelled.
  private static func take(
    _ lines: inout InputLines, _ number: Int, of name: String
  ) throws(LabError) -> [UInt8]? {
    if Task.isCancelled { return nil }
    do throws(FileError) { return try lines.next().map(Array.init) } catch {
      if error.errno == .canceled { return nil }
      if case .tooLong = error { throw .table(number, "\(error).") }
      throw .unreadable(name, error)
    }
  }
}
