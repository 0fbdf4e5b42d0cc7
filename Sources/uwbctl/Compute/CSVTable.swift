// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A CSV file in memory: a header, and cells that are read when they are asked for.
///
/// Commas, or the semicolons or tabulators of a header that has none; quotes around cells; either
/// end of line; empty lines and those that begin with `#` are skipped.
struct CSVTable {
  /// The names of the columns, without spaces around them.
  private(set) var header: [String] = []
  private(set) var rowCount = 0
  private let octets: [UInt8]
  /// Where each cell begins and ends, `header.count` of them for each row. Rows that are too short
  /// have empty cells; what is too much is left out.
  private var bounds: [UInt32] = []
  private(set) var separator = UInt8(ascii: ",")

  init(_ octets: [UInt8]) throws(ComputeError) {
    guard octets.count < Int(UInt32.max) else { throw .tooLong }
    self.octets = octets
    var position = octets.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    var line = takeLine(&position)
    while let found = line, isSkipped(found) { line = takeLine(&position) }
    guard let first = line else { throw .noHeader }
    let head = octets[first]
    if !head.contains(separator) {
      for other in [UInt8(ascii: ";"), UInt8(ascii: "\t")] where head.contains(other) {
        separator = other
      }
    }
    var cells: [UInt32] = []
    Self.split(octets, separator, first, atMost: .max, into: &cells)
    for index in 0..<(cells.count / 2) {
      var name = String(
        decoding: octets[unquoted(Int(cells[2 * index])..<Int(cells[2 * index + 1]))],
        as: UTF8.self)
      // Some tools mark the header as a comment.
      if index == 0, let mark = name.first, mark == "#" || mark == "%" { name.removeFirst() }
      header.append(name)
    }
    bounds.reserveCapacity(octets.count / 6)
    while let line = takeLine(&position) {
      if isSkipped(line) { continue }
      let before = bounds.count
      Self.split(octets, separator, line, atMost: header.count, into: &bounds)
      let missing = 2 * header.count - (bounds.count - before)
      if missing > 0 {
        bounds.append(contentsOf: repeatElement(UInt32(line.upperBound), count: missing))
      }
      rowCount += 1
    }
  }

  /// The text of a cell as the file has it, quotes included.
  func raw(_ row: Int, _ column: Int) -> ArraySlice<UInt8> { octets[range(row, column)] }

  /// The text of a cell without quotes and spaces around it.
  func text(_ row: Int, _ column: Int) -> String {
    String(decoding: octets[unquoted(range(row, column))], as: UTF8.self)
  }

  func isEmpty(_ row: Int, _ column: Int) -> Bool { unquoted(range(row, column)).isEmpty }

  /// The finite number in a cell; nil when it is something else.
  func number(_ row: Int, _ column: Int) -> Double? {
    octets.withUnsafeBufferPointer { all in
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

  private func takeLine(_ position: inout Int) -> Range<Int>? {
    guard position < octets.count else { return nil }
    let start = position
    let end = octets.withUnsafeBytes { all in
      memchr(all.baseAddress! + start, 10, all.count - start).map {
        UnsafeRawPointer($0) - all.baseAddress!
      } ?? all.count
    }
    position = end + 1
    return start..<(end > start && octets[end - 1] == 13 ? end - 1 : end)
  }

  private func isSkipped(_ line: Range<Int>) -> Bool {
    if rowCount == 0, header.isEmpty { return line.isEmpty }
    return line.isEmpty || octets[line.lowerBound] == UInt8(ascii: "#")
  }

  /// Static, so that `cells` may be a property: it is not copied then.
  private static func split(
    _ octets: [UInt8], _ separator: UInt8, _ line: Range<Int>, atMost limit: Int,
    into cells: inout [UInt32]
  ) {
    let quote = UInt8(ascii: "\"")
    octets.withUnsafeBufferPointer { all in
      var start = line.lowerBound
      var isQuoted = false
      var count = 0
      var index = start
      while index <= line.upperBound, count < limit {
        if index == line.upperBound || (all[index] == separator && !isQuoted) {
          cells.append(UInt32(start))
          cells.append(UInt32(index))
          count += 1
          start = index + 1
        } else if all[index] == quote {
          isQuoted.toggle()
        }
        index += 1
      }
    }
  }

  private func unquoted(_ range: Range<Int>) -> Range<Int> {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high, octets[low] == 32 || octets[low] == 9 { low += 1 }
    while low < high, octets[high - 1] == 32 || octets[high - 1] == 9 { high -= 1 }
    let quote = UInt8(ascii: "\"")
    if high - low >= 2, octets[low] == quote, octets[high - 1] == quote {
      low += 1
      high -= 1
    }
    return low..<high
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
    let octet = text[index]
    if 48...57 ~= octet {
      digits = digits &* 10 &+ UInt64(octet - 48)
      if digits > 0 { count += 1 }
      if hasPoint { scale += 1 }
    } else if octet == UInt8(ascii: "."), !hasPoint {
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
  guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else {
    return nil
  }
  return value
}

private let powersOfTen: [Double] = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
  1e18, 1e19, 1e20, 1e21, 1e22,
]
