// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// Turns lines of JSON or rows of a table into items.
package struct LineParser: Sendable {
  package enum Format: Sendable, Hashable { case json, table }

  private let format: Format
  /// The board at this end, for lines that name only their peer.
  private let board: String?
  private var columns: [String]?
  private var line = 0

  package init(_ format: Format, board: String? = nil) {
    (self.format, self.board) = (format, board)
  }

  /// Parses a line without its end; nil for an empty line and for the header of a table.
  package mutating func parse(_ bytes: [UInt8]) -> SourceItem? {
    line += 1
    guard bytes.contains(where: { $0 > 32 }) else { return nil }
    guard bytes.count <= LineSplitter.longest else {
      return .bad("line \(line): is longer than \(LineSplitter.longest) octets")
    }
    do throws(RangeLine.Problem) {
      switch format {
      case .json: return try SourceItem(device: board, json(bytes))
      case .table:
        let cells = Self.cells(line == 1 ? bytes.withoutByteOrderMark : bytes[...])
        guard let columns else {
          self.columns = cells
          return nil
        }
        return try SourceItem(device: board) { key in
          guard let index = columns.firstIndex(of: key), index < cells.count, !cells[index].isEmpty
          else { return nil }
          return .text(cells[index])
        }
      }
    } catch {
      return .bad("line \(line): \(error)")
    }
  }

  private func json(_ bytes: [UInt8]) throws(RangeLine.Problem) -> (String) -> RangeLine.Field? {
    let value: JSONValue
    do { value = try JSONValue(bytes) } catch {
      throw RangeLine.Problem(field: "column \(error.column)", reason: error.reason)
    }
    guard case .object = value else {
      throw RangeLine.Problem(field: "", reason: "a line is an object of JSON")
    }
    return { key in RangeLine.Field(value[key]) }
  }

  private static func cells(_ bytes: ArraySlice<UInt8>) -> [String] {
    bytes.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { cell in
      var text = String(decoding: cell, as: UTF8.self)[...]
      while text.first == " " || text.first == "\"" { text.removeFirst() }
      while text.last == " " || text.last == "\"" || text.last == "\r" { text.removeLast() }
      return String(text)
    }
  }
}

/// Divides bytes into lines.
package struct LineSplitter: Sendable {
  /// The length in bytes at which lines are cut. The rest of a longer line is dropped.
  package static let longest = 65_536

  private var buffer: [UInt8] = []
  private var start = 0
  /// Whether the next bytes are the rest of a line that was cut.
  private var isCut = false

  package init() {}

  package mutating func add(_ bytes: ArraySlice<UInt8>) {
    buffer.removeFirst(start)
    start = 0
    buffer += bytes
  }

  /// Returns the next whole line without its end.
  package mutating func next() -> [UInt8]? {
    if isCut { dropRest() }
    if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
      defer { start = end + 1 }
      return Array(buffer[start..<end])
    }
    guard buffer.count - start > Self.longest else { return nil }
    defer { isCut = true }
    return rest()
  }

  /// Drops the bytes up to the end of a line that was cut.
  private mutating func dropRest() {
    let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n"))
    start = end.map { $0 + 1 } ?? buffer.count
    isCut = end == nil
  }

  /// Returns the bytes after the last line, once the input has ended.
  package mutating func rest() -> [UInt8]? {
    if isCut { dropRest() }
    guard start < buffer.count else { return nil }
    defer { start = buffer.count }
    return Array(buffer[start...])
  }
}
