// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// Writes a table: every column of the input, then computed ones.
///
/// A column of the input that has the name of a computed one keeps its contents under another name,
/// `input_` before it.
struct CSVWriter {
  private let table: CSVTable
  private let descriptor: FileDescriptor
  private let mustClose: Bool
  private var buffer: [UInt8] = []
  private var cellsInRow = 0
  private var row: Int?
  private var problems = RowProblems()

  /// - Parameter path: where to; nil for standard output.
  init(_ table: CSVTable, to path: String?, adding columns: [String]) throws(ComputeError) {
    self.table = table
    (descriptor, mustClose) = try CSVWriter.open(path)
    buffer.reserveCapacity(1 << 16)
    let computed = Set(columns)
    let names = table.header.map { computed.contains($0) ? "input_" + $0 : $0 }
    for (index, name) in (names + columns).enumerated() {
      if index > 0 { buffer.append(table.separator) }
      buffer.append(contentsOf: quoted(name).utf8)
    }
    buffer.append(10)
  }

  /// A table that begins with nothing of the input.
  init(to path: String?, header: [String]) throws(ComputeError) {
    self.table = try CSVTable([UInt8](header.joined(separator: ",").utf8))
    (descriptor, mustClose) = try CSVWriter.open(path)
    for (index, name) in header.enumerated() {
      if index > 0 { buffer.append(table.separator) }
      buffer.append(contentsOf: quoted(name).utf8)
    }
    buffer.append(10)
  }

  private static func open(
    _ path: String?
  ) throws(ComputeError) -> (FileDescriptor, mustClose: Bool) {
    guard let path, path != "-" else { return (.standardOutput, false) }
    do {
      return (
        try FileDescriptor.open(
          FilePath(path), .writeOnly, options: [.create, .truncate],
          permissions: [.ownerReadWrite, .groupRead, .otherRead]), true
      )
    } catch { throw .notCreated(path, "\(error)") }
  }

  /// Begins a row with the cells of a row of the input.
  mutating func begin(copying row: Int) {
    self.row = row
    for column in table.header.indices {
      separate()
      buffer.append(contentsOf: table.raw(row, column))
    }
  }

  /// Adds a number with so many digits behind the point; nil is an empty cell.
  mutating func add(_ value: Double?, digits: Int) {
    separate()
    guard let value, value.isFinite else { return }
    var scale: UInt64 = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = (abs(value) * Double(scale)).rounded()
    guard scaled < 1e18 else {
      buffer.append(contentsOf: "\(value)".utf8)
      return
    }
    let whole = UInt64(scaled)
    if value < 0, whole > 0 { buffer.append(UInt8(ascii: "-")) }
    append(whole / scale, least: 1)
    if digits > 0 {
      buffer.append(UInt8(ascii: "."))
      append(whole % scale, least: digits)
    }
  }

  /// Adds a word; what it says of the input is counted when it is a status.
  mutating func add(_ text: String) {
    separate()
    problems.take(text, row: row)
    buffer.append(contentsOf: quoted(text).utf8)
  }

  /// Ends the row.
  mutating func end() throws(ComputeError) {
    buffer.append(10)
    cellsInRow = 0
    if buffer.count > 1 << 16 { try flush() }
  }

  /// Writes what is left, and says on standard error which rows could not be used.
  ///
  /// - Throws: also `.noRow` when that is all of them.
  mutating func finish() throws(ComputeError) {
    try flush()
    if mustClose { try? descriptor.close() }
    try problems.report(table)
  }

  private mutating func separate() {
    if cellsInRow > 0 { buffer.append(table.separator) }
    cellsInRow += 1
  }

  private mutating func append(_ number: UInt64, least: Int) {
    var rest = number
    let start = buffer.count
    repeat {
      buffer.append(UInt8(48 + rest % 10))
      rest /= 10
    } while rest > 0
    while buffer.count - start < least { buffer.append(48) }
    buffer[start...].reverse()
  }

  private mutating func flush() throws(ComputeError) {
    do { try descriptor.writeAll(buffer) } catch {
      // The reader has gone away, as `head` does.
      if error as? Errno == .brokenPipe { exit(0) }
      throw .notWritten("\(error)")
    }
    buffer.removeAll(keepingCapacity: true)
  }

  private func quoted(_ text: String) -> String {
    let needsQuotes = text.utf8.contains {
      $0 == table.separator || $0 == UInt8(ascii: "\"") || $0 < 32
    }
    guard needsQuotes else { return text }
    var result = "\""
    for character in text.unicodeScalars {
      if character == "\"" { result += "\"" }
      result.unicodeScalars.append(character)
    }
    return result + "\""
  }
}
