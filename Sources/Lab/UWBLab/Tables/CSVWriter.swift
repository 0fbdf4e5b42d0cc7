// SPDX-License-Identifier: Apache-2.0

import System
import SystemPackage
import UWBLink

/// Writes rows of CSV. Collects them into large pieces unless `flush` is called.
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

  /// Adds a number with `digits` decimal places; nil becomes an empty cell.
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
        ? LabError(.outputClosed, "The reader of the output has exited.") : .notWritten(error)
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Writes the remaining rows and closes the file.
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
