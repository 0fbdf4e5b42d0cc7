// SPDX-License-Identifier: Apache-2.0

/// A row of a table of ranges.
package struct RangeRow: Sendable, Hashable {
  package var from: String
  package var to: String
  package var distance: Double
  package var deviation: Double?
  package var blocked: Double?
  package var time: Double?
}

/// The first cell of a table that is not usable.
package struct RangeTableError: Error, Sendable, Hashable, CustomStringConvertible {
  package var line: Int
  package var field: String?
  package var reason: String

  package var description: String {
    "line \(line)" + (field.map { ", \($0)" } ?? "") + ": \(reason)"
  }
}

/// Reads tables of ranges: CSV with a header, or JSON lines, as `uwbctl range` prints them.
///
/// A row without a distance is a lost range, and is left out.
package enum RangeTable {
  /// The columns by their meaning. A column may have several names, of which the first with a value
  /// counts.
  enum Column: CaseIterable {
    case from, to, distance, deviation, blocked, time

    var names: [String] {
      switch self {
      case .from: ["from", "tag"]
      case .to: ["to", "anchor", "peer"]
      case .distance: ["computed_m", "distance_m", "range_m", "distance_cm", "range_cm"]
      case .deviation: ["sd_m", "sigma_m"]
      case .blocked: ["nlos_probability"]
      case .time: ["time_s"]
      }
    }

    /// The plausible range of the numbers, and its description.
    var limits: (range: ClosedRange<Double>, words: String) {
      switch self {
      case .distance: (0.001...10_000, "between 0.001 and 10000 m")
      case .deviation: (0.0001...100, "between 0.0001 and 100 m")
      case .blocked: (0...1, "a probability between 0 and 1")
      case .time, .from, .to: (-1e12...1e12, "a time in seconds")
      }
    }
  }

  /// Reads a table.
  ///
  /// - Parameter from: The anchor at which the table was recorded, for tables without `from`.
  package static func rows(
    _ text: [UInt8], from: String? = nil
  ) throws(RangeTableError) -> [RangeRow] {
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let first = lines.first { !$0.allSatisfy(isBlank) } ?? []
    return first.first { !isBlank($0) } == UInt8(ascii: "{")
      ? try jsonRows(lines, from: from) : try csvRows(lines, from: from)
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

  static func string(_ bytes: ArraySlice<UInt8>, _ line: Int) throws(RangeTableError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw RangeTableError(line: line, field: nil, reason: "the text is not UTF-8")
    }
    return text
  }

  // MARK: CSV

  /// The columns of a header.
  private struct Header {
    var cells: [String]
    var separator: Character
    /// For each column, the positions of its names in the order of preference.
    var columns: [Column: [Int]]
  }

  private static func csvRows(
    _ lines: [ArraySlice<UInt8>], from: String?
  ) throws(RangeTableError) -> [RangeRow] {
    var header: Header?
    var rows: [RangeRow] = []
    for (index, bytes) in lines.enumerated() {
      guard !bytes.allSatisfy(isBlank), bytes.first != UInt8(ascii: "#") else { continue }
      let line = try string(bytes, index + 1)
      if let header {
        if let row = try row(line, index + 1, header, from) { rows.append(row) }
      } else {
        header = try self.header(line, index + 1, from)
      }
    }
    guard header != nil else {
      throw RangeTableError(line: 1, field: nil, reason: "the table has no header")
    }
    return rows
  }

  private static func header(
    _ line: String, _ number: Int, _ from: String?
  ) throws(RangeTableError) -> Header {
    let separator =
      [",", ";", "\t"].max { one, other in
        line.count { $0 == one } < line.count { $0 == other }
      } ?? ","
    let cells = cells(line, separator).map { $0.lowercased() }
    var columns: [Column: [Int]] = [:]
    for column in Column.allCases {
      let places = column.names.compactMap { cells.firstIndex(of: $0) }
      if !places.isEmpty { columns[column] = places }
    }
    for column in [Column.from, .to, .distance] where columns[column] == nil {
      if column == .from && from != nil { continue }
      let name = column == .distance ? "distance_m" : column.names[0]
      var reason = "the column is missing"
      if column == .from { reason += "; give the anchor of the table as NAME=FILE" }
      throw RangeTableError(line: number, field: name, reason: reason)
    }
    return Header(cells: cells, separator: separator, columns: columns)
  }

  private static func cells(_ line: String, _ separator: Character) -> [String] {
    line.split(separator: separator, omittingEmptySubsequences: false).map { cell in
      var text = cell.drop(while: \.isWhitespace)
      while text.last?.isWhitespace == true { text.removeLast() }
      if text.count >= 2, text.first == "\"", text.last == "\"" {
        text = text.dropFirst().dropLast()
      }
      return String(text)
    }
  }

  private static func row(
    _ line: String, _ number: Int, _ header: Header, _ from: String?
  ) throws(RangeTableError) -> RangeRow? {
    let cells = cells(line, header.separator)
    guard cells.count == header.cells.count else {
      throw RangeTableError(
        line: number, field: nil,
        reason: "\(cells.count) cells stand here, and \(header.cells.count) in the header")
    }
    return try RangeRow(line: number, from: from) { column in
      guard let places = header.columns[column] else { return nil }
      let place = places.first { !cells[$0].isEmpty } ?? places[0]
      return (header.cells[place], .text(cells[place]))
    }
  }
}

extension RangeRow {
  /// The content of a cell.
  enum Cell {
    case text(String)
    case number(Double)
  }

  /// Reads the cells of a row; nil for a lost range.
  init?(
    line: Int, from known: String?,
    _ cell: @escaping (RangeTable.Column) -> (name: String, value: Cell)?
  ) throws(RangeTableError) {
    let reader = CellReader(line: line, cell: cell)
    guard let distance = try reader.number(.distance) else { return nil }
    self.distance = distance
    from = try reader.name(.from) ?? known ?? ""
    to = try reader.name(.to) ?? ""
    for (field, name) in [("from", from), ("to", to)] where name.isEmpty {
      throw RangeTableError(line: line, field: field, reason: "the name is missing")
    }
    guard from != to else {
      throw RangeTableError(line: line, field: "to", reason: "the range is from \(to) to itself")
    }
    deviation = try reader.number(.deviation)
    blocked = try reader.number(.blocked)
    time = try reader.number(.time)
  }

  /// Reads cells, and names the line in errors.
  private struct CellReader {
    let line: Int
    let cell: (RangeTable.Column) -> (name: String, value: Cell)?

    func name(_ column: RangeTable.Column) throws(RangeTableError) -> String? {
      guard let (name, value) = cell(column) else { return nil }
      guard case .text(let text) = value else {
        throw RangeTableError(
          line: line, field: name, reason: "a name in quotation marks belongs here")
      }
      guard text.count <= 64, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
        throw RangeTableError(
          line: line, field: name, reason: "a name has at most 64 printable characters")
      }
      return text.isEmpty ? nil : text
    }

    func number(_ column: RangeTable.Column) throws(RangeTableError) -> Double? {
      guard let (name, value) = cell(column) else { return nil }
      var number: Double
      switch value {
      case .number(let value): number = value
      case .text(""): return nil
      case .text(let text):
        guard let value = Double(text) else {
          throw RangeTableError(
            line: line, field: name, reason: "“\(text.prefix(40))” is not a number")
        }
        number = value
      }
      if name.hasSuffix("_cm") { number /= 100 }
      guard column.limits.range.contains(number) else {
        throw RangeTableError(
          line: line, field: name, reason: "\(number) is not \(column.limits.words)")
      }
      return number
    }
  }
}
