// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A CSV file in memory: a header, and cells that are read when they are asked for.
///
/// Commas, or the semicolons or tabulators of a header that has none; quotes around cells, in which
/// there may be ends of lines; either end of line; a byte order mark; empty lines and those that
/// begin with `#` are skipped.
struct CSVTable {
  /// The names of the columns, without spaces around them.
  private(set) var header: [String] = []
  private(set) var rowCount = 0
  /// The line of the header, and of each row: where it begins, counted from 1.
  private(set) var headerLine = 1
  private var lines: [UInt32] = []
  /// Rows with another number of cells than the header has: how many, and the first.
  private(set) var ragged: (count: Int, line: Int, cells: Int)?
  private let bytes: [UInt8]
  private let hasQuotes: Bool
  private var lineNumber = 0
  /// Ends of lines within the quotes of the line before.
  private var extraLines = 0
  /// Where each cell begins and ends, `header.count` of them for each row. Rows that are too short
  /// have empty cells; what is too much is left out.
  private var bounds: [UInt32] = []
  private(set) var separator = UInt8(ascii: ",")

  init(_ bytes: [UInt8]) throws(ComputeError) {
    guard bytes.count < Int(UInt32.max) else { throw .tooLong }
    self.bytes = bytes
    hasQuotes = bytes.contains(UInt8(ascii: "\""))
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      throw .notText(line: 1, "it is UTF-16")
    }
    if let zero = bytes.firstIndex(of: 0) {
      throw .notText(line: 1 + bytes[..<zero].count { $0 == 10 }, "there is a zero byte")
    }
    var position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    var line = try takeLine(&position)
    while let found = line, isSkipped(found) { line = try takeLine(&position) }
    guard let first = line else { throw .noHeader }
    headerLine = lineNumber
    let head = bytes[first]
    if !head.contains(separator) {
      for other in [UInt8(ascii: ";"), UInt8(ascii: "\t")] where head.contains(other) {
        separator = other
      }
    }
    var cells: [UInt32] = []
    Self.split(bytes, separator, first, atMost: .max, into: &cells)
    for index in 0..<(cells.count / 2) {
      var name = plain(Int(cells[2 * index])..<Int(cells[2 * index + 1]))
      // Some tools mark the header as a comment.
      if index == 0, let mark = name.first, mark == "#" || mark == "%" { name.removeFirst() }
      header.append(name)
    }
    bounds.reserveCapacity(bytes.count / 6)
    while let line = try takeLine(&position) {
      if isSkipped(line) { continue }
      let before = bounds.count
      let cells = Self.split(bytes, separator, line, atMost: header.count, into: &bounds)
      lines.append(UInt32(lineNumber))
      if cells != header.count {
        let (count, line, first) = ragged ?? (0, lineNumber, cells)
        ragged = (count + 1, line, first)
      }
      let missing = 2 * header.count - (bounds.count - before)
      if missing > 0 {
        bounds.append(contentsOf: repeatElement(UInt32(line.upperBound), count: missing))
      }
      rowCount += 1
    }
  }

  /// The text of a cell as the file has it, quotes included.
  func raw(_ row: Int, _ column: Int) -> ArraySlice<UInt8> { bytes[range(row, column)] }

  /// The text of a cell without quotes and spaces around it.
  func text(_ row: Int, _ column: Int) -> String {
    plain(range(row, column))
  }

  /// The line at which a row begins.
  func line(_ row: Int) -> Int { Int(lines[row]) }

  func isEmpty(_ row: Int, _ column: Int) -> Bool { unquoted(range(row, column)).isEmpty }

  /// The finite number in a cell; nil when it is something else.
  func number(_ row: Int, _ column: Int) -> Double? {
    bytes.withUnsafeBufferPointer { all in
      decimal(UnsafeBufferPointer(rebasing: all[unquoted(range(row, column))]))
    }
  }

  /// The whole number in a cell; nil when it is something else or does not fit.
  func whole(_ row: Int, _ column: Int) -> Int64? {
    Int64(text(row, column))
  }

  private func range(_ row: Int, _ column: Int) -> Range<Int> {
    let index = 2 * (row * header.count + column)
    return Int(bounds[index])..<Int(bounds[index + 1])
  }

  /// The next line without its end; the number of where it begins is then `lineNumber`.
  private mutating func takeLine(_ position: inout Int) throws(ComputeError) -> Range<Int>? {
    guard position < bytes.count else { return nil }
    lineNumber += 1 + extraLines
    extraLines = 0
    let start = position
    var end = lineEnd(from: start)
    // Quoted cells may have ends of lines in them.
    while hasQuotes, isOpen(start..<end) {
      guard end < bytes.count else { throw .openQuote(line: lineNumber) }
      extraLines += 1
      end = lineEnd(from: end + 1)
    }
    position = end + 1
    return start..<(end > start && bytes[end - 1] == 13 ? end - 1 : end)
  }

  private func lineEnd(from start: Int) -> Int {
    bytes.withUnsafeBytes { all in
      guard start < all.count, let base = all.baseAddress else { return all.count }
      return memchr(base + start, 10, all.count - start).map { UnsafeRawPointer($0) - base }
        ?? all.count
    }
  }

  /// Whether a line ends within quotes.
  private func isOpen(_ line: Range<Int>) -> Bool {
    var quotes = QuoteState()
    for index in line { quotes.take(bytes[index], separator) }
    return quotes.isOpen
  }

  private func isSkipped(_ line: Range<Int>) -> Bool {
    if rowCount == 0, header.isEmpty { return line.isEmpty }
    return line.isEmpty || bytes[line.lowerBound] == UInt8(ascii: "#")
  }

  /// Static, so that `cells` may be a property: it is not copied then.
  ///
  /// - Returns: how many cells the line has, also those beyond `limit`.
  @discardableResult
  private static func split(
    _ bytes: [UInt8], _ separator: UInt8, _ line: Range<Int>, atMost limit: Int,
    into cells: inout [UInt32]
  ) -> Int {
    bytes.withUnsafeBufferPointer { all in
      var start = line.lowerBound
      var quotes = QuoteState()
      var count = 0
      for index in line.lowerBound...line.upperBound {
        if index == line.upperBound || (all[index] == separator && !quotes.isOpen) {
          if count < limit {
            cells.append(UInt32(start))
            cells.append(UInt32(index))
          }
          count += 1
          start = index + 1
        }
        if index < line.upperBound { quotes.take(all[index], separator) }
      }
      return count
    }
  }

  /// Without quotes and spaces around, and with single quotes for double ones.
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

/// Where quotes are open: they open at the beginning of a cell only, so that the inches of 5" do not.
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
      // The second of two is one that belongs to the text.
      (isOpen, isAtStart, wasQuote) = (true, false, false)
    } else {
      isAtStart = byte == separator || (isAtStart && (byte == 32 || byte == 9))
      wasQuote = false
    }
  }
}

/// The finite number that is all of `text`; nil when it is something else.
///
/// Numbers of up to 15 digits with a small exponent, which are nearly all, are exact without the
/// library's slow way: their digits and the power of ten are both exact in a Double.
func decimal(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
  var index = 0
  let isNegative = !text.isEmpty && text[0] == UInt8(ascii: "-")
  if isNegative || (!text.isEmpty && text[0] == UInt8(ascii: "+")) { index = 1 }
  var digits: UInt64 = 0
  var count = 0
  var scale = 0
  var hasPoint = false
  while index < text.count {
    let byte = text[index]
    if 48...57 ~= byte {
      digits = digits &* 10 &+ UInt64(byte - 48)
      if digits > 0 { count += 1 }
      if hasPoint { scale += 1 }
    } else if byte == UInt8(ascii: "."), !hasPoint {
      hasPoint = true
    } else {
      break
    }
    index += 1
  }
  if index == text.count, count <= 15, scale <= 22, text.contains(where: { 48...57 ~= $0 }) {
    let value = Double(digits) / powersOfTen[scale]
    return isNegative ? -value : value
  }
  // Only decimal numbers: the library also takes 0x10, inf and nan.
  let isDecimal = text.allSatisfy {
    48...57 ~= $0 || $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e")
      || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+")
  }
  guard isDecimal, let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else {
    return nil
  }
  return value
}

private let powersOfTen: [Double] = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
  1e18, 1e19, 1e20, 1e21, 1e22,
]
