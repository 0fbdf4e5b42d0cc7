// SPDX-License-Identifier: Apache-2.0

import Formats
import System
import SystemPackage
import UWBLink

/// A CSV file in memory: a header, and cells that are converted on access.
///
/// Cells are separated by commas, or by semicolons or tabs when the header has no comma. Quoted
/// cells may contain line breaks. Empty lines and lines that begin with `#` are skipped. Where
/// commas do not separate cells, numbers may have a decimal comma.
public struct CSVTable: Sendable {
  /// The names of the columns, without surrounding spaces.
  public private(set) var header: [String] = []
  /// The number of rows below the header.
  public private(set) var rowCount = 0
  /// The line number of the header, counted from 1.
  private(set) var headerLine = 1
  /// The line number of the last comment above the header.
  private(set) var commentLine: Int?
  /// Whether the header is output of another form: JSON, or the text that `uwbctl range` prints to
  /// a pipe.
  var isOtherOutput: Bool {
    header.first.map { $0.hasPrefix("{") || $0.contains(" s  #") } ?? false
  }
  /// The names in lower case. Names without a unit have the unit of `Format` appended.
  private(set) var names: [String] = []
  /// The line at which each row begins.
  private var lines: [UInt32] = []
  /// The number of rows with more or fewer cells than the header, and the first such row.
  package private(set) var ragged: (count: Int, line: Int, cells: Int)?
  private var bytes: [UInt8]
  private var hasQuotes: Bool
  /// The first byte after the last row.
  private var rest = Cursor(position: 0, line: 1)
  /// The bounds of each cell, `header.count` for each row. Missing cells are empty, and surplus
  /// cells are ignored.
  private var bounds: [UInt32] = []
  private(set) var separator = UInt8.comma
  /// Whether the first number with a fraction has a decimal comma; nil until there is one. Computed
  /// numbers are then written with decimal commas.
  private(set) var hasDecimalCommas: Bool?

  /// The properties of a table that its text does not state.
  package struct Format: Sendable {
    /// The line of the header, which may be a comment; nil: the first line that is not a comment.
    package var header: Int?
    /// The units of columns, such as `deg`, by the names of the columns.
    package private(set) var units: [String: String] = [:]

    package init() {}

    /// The units that columns can have.
    package static let allUnits = Quantity.units

    /// Sets the unit of columns.
    ///
    /// - Parameter text: `azimuth=deg`, or `t1,t2,t3,t4=ns`.
    /// - Returns: false if the text has another form, or the unit is unknown.
    package mutating func setUnits(_ text: String) -> Bool {
      let parts = text.split(separator: "=").map(String.init)
      guard parts.count == 2, Quantity.allUnits.contains(parts[1]) else { return false }
      for name in parts[0].split(separator: ",") { units[String(name)] = parts[1] }
      return true
    }
  }

  /// Parses a table in UTF-8.
  ///
  /// - Throws: `LabError` with `.badTable`.
  public init(_ bytes: [UInt8]) throws(LabError) { try self.init(bytes, Format()) }

  /// - Parameters:
  ///   - line: the line number of the first byte.
  ///   - comment: the line number of the last comment above.
  package init(
    _ bytes: [UInt8], _ format: Format, line first: Int = 1, below comment: Int? = nil
  ) throws(LabError) {
    try self.init(beginning: bytes, isWhole: true, format, line: first, below: comment)
  }

  /// Parses the header and the complete rows in the first piece of a table.
  ///
  /// - Parameter isWhole: whether the table ends with these bytes.
  init(
    beginning bytes: [UInt8], isWhole: Bool, _ format: Format, line first: Int = 1,
    below comment: Int? = nil
  ) throws(LabError) {
    (self.bytes, commentLine) = (bytes, comment)
    hasQuotes = bytes.contains(UInt8(ascii: "\""))
    try checkText(line: first)
    let start = findHeader(line: first, wanted: format.header)
    var cells: [UInt32] = []
    rest = start
    guard let line = try rest.takeRow(of: bytes, separator, isWhole: isWhole, &cells) else {
      let place = format.header.map { " in line \($0)" } ?? ""
      throw LabError(
        .badTable, "The input has no header\(place).", suggestion: commentLine.map(Self.advice))
    }
    headerLine = line
    if cells.count == 2 {
      let head = bytes[Int(cells[0])..<Int(cells[1])]
      for other in [UInt8(ascii: ";"), UInt8(ascii: "\t")] where head.contains(other) {
        separator = other
      }
      rest = start
      _ = try rest.takeRow(of: bytes, separator, isWhole: isWhole, &cells)
    }
    header = stride(from: 0, to: cells.count, by: 2).map {
      plain(Int(cells[$0])..<Int(cells[$0 + 1]))
    }
    // Some tools mark the header as a comment.
    if let mark = header[0].first, mark == "#" || mark == "%" {
      header[0] = String(header[0].drop { "#% \t\"".contains($0) }.prefix { $0 != "\"" })
    }
    try setNames(format.units)
    try takeRows(isWhole: isWhole)
  }

  /// Adds the complete rows in the next piece of the table.
  ///
  /// - Parameters:
  ///   - isLast: whether the table ends with these bytes.
  ///   - keepsRows: whether earlier rows are kept.
  mutating func add(_ piece: [UInt8], isLast: Bool, keepsRows: Bool) throws(LabError) {
    var line = 1
    if !keepsRows {
      bytes.removeFirst(min(bytes.count, rest.position))
      (rest.position, line, rowCount) = (0, rest.line, 0)
      lines.removeAll(keepingCapacity: true)
      bounds.removeAll(keepingCapacity: true)
    }
    bytes += piece
    hasQuotes = bytes.contains(UInt8(ascii: "\""))
    try checkText(line: line)
    try takeRows(isWhole: isLast)
  }

  private mutating func takeRows(isWhole: Bool) throws(LabError) {
    bounds.reserveCapacity(bounds.count + max(0, bytes.count - rest.position) / 6)
    var cells: [UInt32] = []
    while let line = try rest.takeRow(
      of: bytes, separator, isWhole: isWhole, skipsComments: true, &cells)
    {
      append(cells, line: line)
      guard rowCount <= Self.rowLimit else { throw .tooManyRows(line: line) }
    }
  }

  /// - Parameter line: the line number of the first byte.
  private func checkText(line: Int) throws(LabError) {
    guard bytes.count < Int(UInt32.max) else {
      throw LabError(
        .badTable, "The input is longer than 4 GiB.",
        suggestion: "Split it into parts, each with the header.")
    }
    let isUTF16 = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    guard let zero = isUTF16 ? 0 : bytes.firstIndex(of: 0) else { return }
    throw .table(
      line + bytes[..<zero].count { $0 == 10 },
      "not text: " + (isUTF16 ? "the encoding is UTF-16." : "it contains a zero byte."),
      suggestion: "Save the table as CSV in UTF-8.")
  }

  private mutating func setNames(_ units: [String: String]) throws(LabError) {
    names = header.map { $0.lowercased() }
    for (name, unit) in units.sorted(by: { $0.key < $1.key }) {
      guard let index = names.firstIndex(of: name.lowercased()) else {
        throw .missingColumn(name, of: self)
      }
      if ["peer", "anchor", "status", "board_a", "board_b"].contains(names[index]) {
        throw .table(
          headerLine,
          "--unit gives the column \(printable(name)) the unit \(unit), but it has no numbers.",
          suggestion: "Name a column of numbers, or leave out --unit.")
      }
      if let own = Quantity.unit(of: names[index], otherThan: unit) {
        throw .table(
          headerLine,
          "--unit gives the column \(printable(name)) the unit \(unit), but its name has \(own).",
          suggestion: "Leave out --unit, or rename the column.")
      }
      let others = Quantity.allUnits.map { "\(name)_\($0)".lowercased() }
      if let other = header.first(where: { others.contains($0.lowercased()) }) {
        throw .table(
          headerLine,
          "--unit gives the column \(printable(name)) the unit \(unit), but the table also has "
            + "the column \(printable(other)).",
          suggestion: "Take one of the two columns out of the table, or leave out --unit.")
      }
      names[index] += "_" + unit
    }
  }

  /// Returns the next step if the header may be a comment.
  static func advice(_ comment: Int) -> String {
    "If line \(comment), a comment, is the header, give --header \(comment)."
  }

  @inline(__always)
  private mutating func append(_ cells: [UInt32], line: Int) {
    let width = 2 * header.count
    lines.append(UInt32(truncatingIfNeeded: line))
    if cells.count == width {
      bounds.append(contentsOf: cells)
    } else {
      bounds.append(contentsOf: cells.prefix(width))
      let (count, line, first) = ragged ?? (0, line, cells.count / 2)
      ragged = (count + 1, line, first)
      let end = cells[cells.count - 1]
      bounds.append(contentsOf: repeatElement(end, count: max(0, width - cells.count)))
    }
    rowCount += 1
    if hasDecimalCommas == nil, separator != .comma { findDecimals() }
  }

  /// Determines the decimal comma from a number with a fraction in the last row.
  private mutating func findDecimals() {
    for column in header.indices where number(rowCount - 1, column) != nil {
      let mark = raw(rowCount - 1, column).first { $0 == .comma || $0 == .point }
      guard let mark else { continue }
      hasDecimalCommas = mark == .comma
      return
    }
  }

  /// Finds the header, and the last comment above it.
  ///
  /// - Parameter wanted: the line of the header; nil: the first line that is neither empty nor a
  ///   comment.
  private mutating func findHeader(line first: Int, wanted: Int?) -> Cursor {
    let start = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    var cursor = Cursor(position: start, line: first)
    while cursor.position < bytes.count {
      let text = bytes[cursor.position...].prefix { $0 != 10 }
      if wanted.map({ $0 == cursor.line }) ?? !Self.isSkipped(text) { break }
      if text.first == UInt8(ascii: "#") { commentLine = cursor.line }
      cursor = Cursor(position: min(bytes.count, text.endIndex + 1), line: cursor.line + 1)
    }
    return cursor
  }

  /// Returns whether a line above the header is empty or a comment.
  static func isSkipped(_ line: ArraySlice<UInt8>) -> Bool {
    line.isEmpty || line == [13] || line.first == UInt8(ascii: "#")
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Replaces all rows with one row.
  ///
  /// - line: the line number at which the row begins.
  /// - Returns: false if the line is a comment or empty.
  mutating func replaceRows(_ row: [UInt8], line: Int) throws(LabError) -> Bool {
    if row.contains(0) {
      throw .table(
        line, "not text: it contains a zero byte.", suggestion: "Write the table as CSV in UTF-8.")
    }
    var (cursor, cells) = (Cursor(position: 0, line: line), [UInt32]())
    guard try cursor.takeRow(of: row, separator, skipsComments: true, &cells) != nil else {
      return false
    }
    (bytes, hasQuotes) = (row, row.contains(UInt8(ascii: "\"")))
    lines.removeAll(keepingCapacity: true)
    bounds.removeAll(keepingCapacity: true)
    rowCount = 0
    append(cells, line: line)
    return true
  }

  /// Returns whether a quotation mark is open at the end of the line, so that the row continues.
  func isOpen(_ row: [UInt8]) -> Bool {
    if row.first == UInt8(ascii: "#") { return false }
    var quotes = QuoteState()
    for byte in row { quotes.take(byte, separator) }
    return quotes.isOpen
  }

  /// The greatest number of rows of a table that is completely in memory. The results of a row take
  /// about 400 bytes.
  static let rowLimit = 2_000_000

  /// Reads a table from a file.
  ///
  /// - Parameter path: nil or `-` is standard input.
  /// - Throws: `LabError` with `.unreadable` or `.badTable`.
  public init(file path: String?) throws(LabError) { try self.init(file: path, Format()) }

  package init(file path: String?, _ format: Format) throws(LabError) {
    var pieces = try TablePieces(path, format)
    try pieces.takeAll()
    self = pieces.table
  }

  private struct Cursor {
    var position: Int
    var line: Int

    /// Finds the bounds of the cells in the next row that is not empty.
    ///
    /// - Parameter isWhole: whether the table ends with these bytes. Otherwise, a row without a
    ///   line break may continue.
    /// - Returns: the line number at which the row begins; nil at the end.
    mutating func takeRow(
      of bytes: [UInt8], _ separator: UInt8, isWhole: Bool = true, skipsComments: Bool = false,
      _ cells: inout [UInt32]
    ) throws(LabError) -> Int? {
      let all = bytes.span
      while position < all.count {
        let (start, first) = (position, line)
        let isComment = skipsComments && all[start] == UInt8(ascii: "#")
        var quotes = QuoteState()
        var cell = start
        cells.removeAll(keepingCapacity: true)
        while position < all.count {
          let byte = all[position]
          if byte == 10 {
            line += 1
            if isComment || !quotes.isOpen { break }
          } else if byte == separator, !quotes.isOpen {
            cells.append(UInt32(cell))
            cells.append(UInt32(position))
            cell = position + 1
          }
          quotes.take(byte, separator)
          position += 1
        }
        let end = position > start && all[position - 1] == 13 ? position - 1 : position
        let isEnd = position == all.count
        if isEnd, !isWhole {
          (position, line) = (start, first)
          return nil
        }
        position += 1
        if isComment || end == start { continue }
        if isEnd, quotes.isOpen { throw .table(first, "a quotation mark is never closed.") }
        cells.append(UInt32(cell))
        cells.append(UInt32(end))
        return first
      }
      return nil
    }
  }

  /// Returns the bytes of a cell as in the file, including quotes.
  func raw(_ row: Int, _ column: Int) -> ArraySlice<UInt8> { bytes[range(row, column)] }

  /// Returns the text of a cell without surrounding quotes and spaces.
  public func text(_ row: Int, _ column: Int) -> String { plain(range(row, column)) }

  /// Returns the line number at which a row begins.
  package func line(_ row: Int) -> Int { Int(lines[row]) }

  func isEmpty(_ row: Int, _ column: Int) -> Bool { unquoted(range(row, column)).isEmpty }

  /// Returns the decimal number in a cell; nil if it contains anything else or is not finite.
  public func number(_ row: Int, _ column: Int) -> Double? {
    decimal(bytes[unquoted(range(row, column))], mayHaveComma: separator != .comma)
  }

  /// Returns the date and time in a cell as seconds since 1970; nil if it contains anything else.
  /// The forms are RFC 3339 and ISO 8601. A time without an offset is UTC.
  func date(_ row: Int, _ column: Int) -> Double? {
    secondsSince1970(bytes[unquoted(range(row, column))])
  }

  /// Returns the integer in a cell; nil if it contains anything else.
  func integer(_ row: Int, _ column: Int) -> Int64? { Int64(text(row, column)) }

  private func range(_ row: Int, _ column: Int) -> Range<Int> {
    let index = 2 * (row * header.count + column)
    return Int(bounds[index])..<Int(bounds[index + 1])
  }

  /// Returns the text without surrounding quotes and spaces. Two quotes in it become one.
  private func plain(_ range: Range<Int>) -> String {
    let inner = unquoted(range)
    let text = bytes[inner]
    guard hasQuotes, inner.lowerBound > range.lowerBound,
      bytes[inner.lowerBound - 1] == UInt8(ascii: "\""), text.contains(UInt8(ascii: "\""))
    else { return String(decoding: text, as: UTF8.self) }
    var result: [UInt8] = []
    var isSecond = false
    for byte in text {
      isSecond = byte == UInt8(ascii: "\"") && !isSecond
      if !isSecond { result.append(byte) }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func unquoted(_ range: Range<Int>) -> Range<Int> {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high, bytes[low] == 32 || bytes[low] == 9 { low += 1 }
    while low < high, bytes[high - 1] == 32 || bytes[high - 1] == 9 { high -= 1 }
    let quote = UInt8(ascii: "\"")
    if high - low >= 2, bytes[low] == quote, bytes[high - 1] == quote {
      low += 1
      high -= 1
    }
    return low..<high
  }
}

/// Tracks open quotes. A quote is open only if it begins a cell. An inch mark, as in 5", does not
/// open one.
private struct QuoteState {
  private(set) var isOpen = false
  private var isAtStart = true
  private var wasQuote = false

  @inline(__always)
  mutating func take(_ byte: UInt8, _ separator: UInt8) {
    let isQuote = byte == UInt8(ascii: "\"")
    if isOpen {
      if isQuote { isOpen = false }
      wasQuote = isQuote
    } else if isQuote, isAtStart || wasQuote {
      // The second of two quotes belongs to the text.
      (isOpen, isAtStart, wasQuote) = (true, false, false)
    } else {
      isAtStart = byte == separator || (isAtStart && (byte == 32 || byte == 9))
      wasQuote = false
    }
  }
}
