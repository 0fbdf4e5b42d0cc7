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
  /// The line of the header, counted from 1.
  private(set) var headerLine = 1
  /// The line at which each row begins.
  private var lines: [UInt32] = []
  /// The number of rows whose cells differ in number from the header's, and the first such row.
  package private(set) var ragged: (count: Int, line: Int, cells: Int)?
  private var bytes: [UInt8]
  private var hasQuotes: Bool
  /// The bounds of each cell, `header.count` cells for each row. Missing cells are empty; surplus
  /// cells are left out.
  private var bounds: [UInt32] = []
  private(set) var separator = UInt8(ascii: ",")
  /// Whether the first number with a fraction has a decimal comma, so that computed numbers have
  /// it, too.
  private(set) var hasDecimalCommas = false
  private var knowsDecimals = false

  /// Parses a table in UTF-8.
  ///
  /// - Throws: `LabError` with `.badTable`.
  public init(_ bytes: [UInt8]) throws(LabError) { try self.init(bytes, line: 1) }

  /// - Parameter line: the line of the first byte.
  init(_ bytes: [UInt8], line first: Int) throws(LabError) {
    guard bytes.count < Int(UInt32.max) else {
      throw LabError(
        .badTable, "The input is longer than 4 GiB.",
        suggestion: "Split it into parts, each with the header.")
    }
    let isUTF16 = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    if let zero = isUTF16 ? 0 : bytes.firstIndex(of: 0) {
      throw .table(
        first + bytes[..<zero].count { $0 == 10 },
        "not text: " + (isUTF16 ? "the encoding is UTF-16." : "it contains a zero byte."),
        suggestion: "Save the table as CSV in UTF-8.")
    }
    self.bytes = bytes
    hasQuotes = bytes.contains(UInt8(ascii: "\""))
    let start = Self.header(in: bytes, line: first)
    var (cursor, cells) = (start, [UInt32]())
    guard let line = try cursor.takeRow(of: bytes, separator, &cells) else {
      throw LabError(.badTable, "The input is empty: it has no header.")
    }
    headerLine = line
    if cells.count == 2 {
      let head = bytes[Int(cells[0])..<Int(cells[1])]
      for other in [UInt8(ascii: ";"), UInt8(ascii: "\t")] where head.contains(other) {
        separator = other
      }
      cursor = start
      _ = try cursor.takeRow(of: bytes, separator, &cells)
    }
    header = stride(from: 0, to: cells.count, by: 2).map {
      plain(Int(cells[$0])..<Int(cells[$0 + 1]))
    }
    // Some tools mark the header as a comment.
    if let mark = header[0].first, mark == "#" || mark == "%" {
      let name = header[0].drop { "#% \t\"".contains($0) }
      header[0] = String(name.reversed().drop { " \t\"".contains($0) }.reversed())
    }
    bounds.reserveCapacity(bytes.count / 6)
    while let line = try cursor.takeRow(of: bytes, separator, skipsComments: true, &cells) {
      append(cells, line: line)
      guard rowCount <= Self.rowLimit else {
        throw LabError(
          .badTable, line: line, "The table has more than \(Self.rowLimit) rows.",
          suggestion: "Split it into parts, each with the header.")
      }
    }
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
    if !knowsDecimals, separator != UInt8(ascii: ",") { findDecimals() }
  }

  /// Looks for a number with a fraction in the last row.
  private mutating func findDecimals() {
    for column in header.indices {
      let cell = bytes[unquoted(range(rowCount - 1, column))]
      let isNumber = cell.allSatisfy {
        48...57 ~= $0 || [.comma, .point, UInt8(ascii: "-")].contains($0)
      }
      guard isNumber, let mark = cell.first(where: { [.comma, .point].contains($0) }) else {
        continue
      }
      (knowsDecimals, hasDecimalCommas) = (true, mark == .comma)
      return
    }
  }

  /// Finds the header: the first line that is not a comment, or a comment above it that is a
  /// header.
  private static func header(in bytes: [UInt8], line first: Int) -> Cursor {
    var position = bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
    var (line, comments, starts) = (first, [ArraySlice<UInt8>](), [Cursor]())
    while position < bytes.count {
      let text = bytes[position...].prefix { $0 != 10 }
      let here = Cursor(position: position, line: line)
      if text.first == UInt8(ascii: "#") {
        comments.append(text)
        starts.append(here)
      } else if !text.isEmpty, text != [13] {
        return header(among: comments, above: text).map { starts[$0] } ?? here
      }
      position = text.endIndex + 1
      line += 1
    }
    return header(among: comments, above: nil).map { starts[$0] }
      ?? Cursor(position: bytes.count, line: line)
  }

  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the comment above the first row that is the header, which some tools mark as a
  /// comment. It has as many cells as that row, of which one is a number. The last one with one
  /// word in each cell is preferred, or else the last one, unless the row begins with a word. Nil:
  /// the row itself is the header.
  static func header(
    among comments: [ArraySlice<UInt8>], above row: ArraySlice<UInt8>?
  ) -> Int? {
    let separators: [UInt8] = [.comma, UInt8(ascii: ";"), UInt8(ascii: "\t")]
    func cells(_ line: ArraySlice<UInt8>, _ separator: UInt8) -> [ArraySlice<UInt8>] {
      var (cells, quotes) = ([line[line.startIndex..<line.startIndex]], QuoteState())
      for index in line.indices {
        if line[index] == separator, !quotes.isOpen {
          cells.append(line[(index + 1)..<(index + 1)])
        } else {
          cells[cells.count - 1] = line[cells[cells.count - 1].startIndex...index]
        }
        quotes.take(line[index], separator)
      }
      return cells
    }
    func word(_ cell: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
      let ignored = Array("# \t\"\r".utf8)
      let end = cell.lastIndex { !ignored.contains($0) }.map { $0 + 1 } ?? cell.startIndex
      return cell[..<end].drop { ignored.contains($0) }
    }
    func isNumber(_ cell: ArraySlice<UInt8>, _ separator: UInt8) -> Bool {
      decimal(word(cell), mayHaveComma: separator != .comma) != nil
        || secondsSince1970(word(cell)) != nil
    }
    func isMeasured(_ row: ArraySlice<UInt8>, below comment: ArraySlice<UInt8>) -> Bool {
      separators.contains { separator in
        let (names, values) = (cells(comment, separator), cells(row, separator))
        return names.count > 1 && names.count == values.count
          && values.contains { isNumber($0, separator) }
      }
    }
    func isOfWords(_ comment: ArraySlice<UInt8>) -> Bool {
      separators.contains { separator in
        let names = cells(comment, separator).map(word)
        return names.count > 1 && names.allSatisfy { !$0.isEmpty && !$0.contains(32) }
      }
    }
    if let row {
      let fitting = comments.indices.filter { isMeasured(row, below: comments[$0]) }
      let best = fitting.last { isOfWords(comments[$0]) }
      if let index = best ?? fitting.last { return index }
      let first = word(row).first ?? 0
      if 65...90 ~= first || 97...122 ~= first || first >= 128 { return nil }
    }
    return comments.lastIndex(where: isOfWords)
  }

  /// Replaces all rows by one.
  ///
  /// - Parameter line: the line at which it begins.
  /// - Returns: whether it is a row, rather than a comment or an empty line.
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

  /// Returns whether a quotation mark is open at the end of these bytes, so that the row continues.
  func isOpen(_ row: [UInt8]) -> Bool {
    if row.first == UInt8(ascii: "#") { return false }
    var quotes = QuoteState()
    for byte in row { quotes.take(byte, separator) }
    return quotes.isOpen
  }

  /// The most bytes of a file, and rows: the results of a row take some 400 bytes of memory.
  private static let limit = 64 << 20
  private static let rowLimit = 2_000_000

  /// Reads a table from a file.
  ///
  /// - Parameter path: nil or `-` is standard input.
  /// - Throws: `LabError` with `.unreadable` or `.badTable`.
  public init(file path: String?) throws(LabError) {
    let bytes: [UInt8]
    do throws(FormatError) { bytes = try contents(ofFile: path, limit: Self.limit) } catch {
      throw LabError(error)
    }
    try self.init(bytes)
  }

  private struct Cursor {
    var position: Int
    var line: Int

    /// Finds the bounds of the cells of the next row that is not empty.
    ///
    /// - Returns: the line at which the row begins; nil at the end of the table.
    mutating func takeRow(
      of bytes: [UInt8], _ separator: UInt8, skipsComments: Bool = false, _ cells: inout [UInt32]
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

  /// Returns the bytes of a cell as in the file, quotes included.
  func raw(_ row: Int, _ column: Int) -> ArraySlice<UInt8> { bytes[range(row, column)] }

  /// Returns the text of a cell without surrounding quotes and spaces.
  public func text(_ row: Int, _ column: Int) -> String { plain(range(row, column)) }

  /// Returns the line at which a row begins.
  package func line(_ row: Int) -> Int { Int(lines[row]) }

  func isEmpty(_ row: Int, _ column: Int) -> Bool { unquoted(range(row, column)).isEmpty }

  /// Returns the finite decimal number in a cell; nil for any other content.
  public func number(_ row: Int, _ column: Int) -> Double? {
    decimal(bytes[unquoted(range(row, column))], mayHaveComma: separator != .comma)
  }

  /// Returns the date and time in a cell, in the form of RFC 3339 and ISO 8601, in seconds since
  /// 1970; nil for any other content. Without an offset it is in UTC.
  func date(_ row: Int, _ column: Int) -> Double? {
    secondsSince1970(bytes[unquoted(range(row, column))])
  }

  /// Returns the integer in a cell; nil for any other content.
  func integer(_ row: Int, _ column: Int) -> Int64? { Int64(text(row, column)) }

  private func range(_ row: Int, _ column: Int) -> Range<Int> {
    let index = 2 * (row * header.count + column)
    return Int(bounds[index])..<Int(bounds[index + 1])
  }

  /// Returns the text without surrounding quotes and spaces; doubled quotes become single ones.
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

/// Tracks open quotes. A quote opens only at the beginning of a cell, so the inch mark of 5" does
/// not.
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
      // The second of two belongs to the text.
      (isOpen, isAtStart, wasQuote) = (true, false, false)
    } else {
      isAtStart = byte == separator || (isAtStart && (byte == 32 || byte == 9))
      wasQuote = false
    }
  }
}

extension UInt8 {
  fileprivate static let comma = UInt8(ascii: ",")
  fileprivate static let point = UInt8(ascii: ".")
}

/// Returns the finite number that `text` consists of; nil for anything else.
///
/// Only decimal numbers: the standard library also accepts 0x10, inf and nan.
private func decimal(_ text: ArraySlice<UInt8>, mayHaveComma: Bool) -> Double? {
  var hasComma = false
  let isDecimal = text.allSatisfy {
    if $0 == .comma, mayHaveComma, !hasComma {
      hasComma = true
      return true
    }
    return 48...57 ~= $0 || ($0 == .point && !hasComma) || $0 | 0x20 == UInt8(ascii: "e")
      || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+")
  }
  guard isDecimal, !hasComma || !text.contains(.point) else { return nil }
  let number =
    hasComma
    ? Double(String(decoding: text.map { $0 == .comma ? .point : $0 }, as: UTF8.self))
    : Double(String(decoding: text, as: UTF8.self))
  return number.flatMap { $0.isFinite ? $0 : nil }
}

/// Reads 2026-11-22T18:30:05.25+01:00 and similar forms: a space for the T, a comma in the
/// fraction, and offsets without a colon are usual, too.
private func secondsSince1970(_ text: ArraySlice<UInt8>) -> Double? {
  var rest = text
  func isDigit(_ byte: UInt8?) -> Bool { byte.map { 48...57 ~= $0 } ?? false }
  func take(_ count: Int, _ range: ClosedRange<Int>) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(isDigit) else { return nil }
    rest = rest.dropFirst(count)
    let number = digits.reduce(0) { 10 * $0 + Int($1 - 48) }
    return range.contains(number) ? number : nil
  }
  func take(_ marks: String) -> UInt8? {
    guard let byte = rest.first, marks.utf8.contains(byte) else { return nil }
    rest = rest.dropFirst()
    return byte
  }

  guard let year = take(4, 1...9999), take("-") != nil, let month = take(2, 1...12),
    take("-") != nil, let day = take(2, 1...days(in: month, of: year)), take("Tt ") != nil,
    let hour = take(2, 0...23), take(":") != nil, let minute = take(2, 0...59)
  else { return nil }
  var seconds = 0.0
  if take(":") != nil {
    // 60: a leap second.
    guard let second = take(2, 0...60) else { return nil }
    seconds = Double(second)
    if take(".,") != nil {
      let digits = rest.prefix(while: isDigit)
      guard !digits.isEmpty else { return nil }
      rest = rest.dropFirst(digits.count)
      seconds += digits.prefix(15).reversed().reduce(0) { ($0 + Double($1 - 48)) / 10 }
    }
  }
  var minutes = 60 * hour + minute
  if let sign = take("+-") {
    guard let hours = take(2, 0...23) else { return nil }
    let hasColon = take(":") != nil
    guard let more = rest.isEmpty && !hasColon ? 0 : take(2, 0...59) else { return nil }
    minutes += (sign == UInt8(ascii: "-") ? 1 : -1) * (60 * hours + more)
  } else {
    _ = take("Zz")
  }
  guard rest.isEmpty else { return nil }
  return 60 * Double(1440 * daysSince1970(year, month, day) + minutes) + seconds
}

private func days(in month: Int, of year: Int) -> Int {
  let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  return switch month {
  case 2: isLeapYear ? 29 : 28
  case 4, 6, 9, 11: 30
  default: 31
  }
}

/// Years are counted from March, so that the day of a leap year comes last.
private func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
  let years = month > 2 ? year : year - 1
  let months = (month + 9) % 12
  let leapDays = years / 4 - years / 100 + years / 400
  return 365 * years + leapDays + (153 * months + 2) / 5 + day - 719_469
}

/// Writes rows of CSV, in large pieces unless it is flushed.
package struct CSVWriter: Sendable {
  private let descriptor: FileDescriptor
  private let mustClose: Bool
  private let separator: UInt8
  /// Whether numbers have a decimal comma.
  var hasDecimalCommas = false
  private var buffer: [UInt8] = []
  private var isRowEmpty = true

  /// - Parameter path: nil or `-` is standard output.
  package init(to path: String?, separator: UInt8 = UInt8(ascii: ",")) throws(LabError) {
    self.separator = separator
    mustClose = path ?? "-" != "-"
    guard let path, path != "-" else {
      descriptor = .standardOutput
      return
    }
    do { descriptor = try OutputFile.open(path) } catch { throw .notCreated(path, error) }
  }

  package mutating func add(raw bytes: some Sequence<UInt8>) {
    if !isRowEmpty { buffer.append(separator) }
    isRowEmpty = false
    buffer.append(contentsOf: bytes)
  }

  /// Adds a number with the given count of decimal places; nil is an empty cell.
  package mutating func add(_ value: Double?, digits: Int) {
    guard let value, value.isFinite else { return add(raw: []) }
    var scale: UInt64 = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = (abs(value) * Double(scale)).rounded()
    guard scaled < 1e18 else { return add(raw: "\(value)".utf8) }
    add(raw: [])
    let number = UInt64(scaled)
    if value < 0, number > 0 { buffer.append(UInt8(ascii: "-")) }
    append(number / scale, minimumDigits: 1)
    if digits > 0 {
      buffer.append(hasDecimalCommas ? .comma : .point)
      append(number % scale, minimumDigits: digits)
    }
  }

  /// Adds text, quoted if necessary.
  package mutating func add(_ text: String) {
    let needsQuotes = text.utf8.contains {
      $0 == separator || $0 == UInt8(ascii: "\"") || $0 < 32
    }
    guard needsQuotes else { return add(raw: text.utf8) }
    let inner = text.split(separator: "\"", omittingEmptySubsequences: false)
    add(raw: "\"\(inner.joined(separator: "\"\""))\"".utf8)
  }

  package mutating func endRow() throws(LabError) {
    buffer.append(10)
    isRowEmpty = true
    if buffer.count > 1 << 16 { try flush() }
  }

  package mutating func flush() throws(LabError) {
    do { try descriptor.writeAll(buffer) } catch {
      throw error as? Errno == .brokenPipe
        ? LabError(.outputClosed, "The reader of the output has gone away.") : .notWritten(error)
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Writes the rest and closes the file.
  package mutating func finish() throws(LabError) {
    try flush()
    if mustClose { try? descriptor.close() }
  }

  private mutating func append(_ number: UInt64, minimumDigits: Int) {
    var rest = number
    let start = buffer.count
    repeat {
      buffer.append(UInt8(48 + rest % 10))
      rest /= 10
    } while rest > 0
    while buffer.count - start < minimumDigits { buffer.append(48) }
    buffer[start...].reverse()
  }
}
