// SPDX-License-Identifier: Apache-2.0

extension RangeTable {
  /// Reads an object from each line.
  static func jsonRows(
    _ lines: [ArraySlice<UInt8>], from: String?
  ) throws(RangeTableError) -> [RangeRow] {
    var rows: [RangeRow] = []
    for (index, bytes) in lines.enumerated() where !bytes.allSatisfy(isBlank) {
      let number = index + 1
      let value: JSONValue
      do { value = try JSONValue(Array(bytes)) } catch {
        let reason = "column \(error.column): \(error.reason)"
        throw RangeTableError(line: number, field: nil, reason: reason)
      }
      if let row = try object(value, number, from) { rows.append(row) }
    }
    return rows
  }

  private static func object(
    _ value: JSONValue, _ line: Int, _ from: String?
  ) throws(RangeTableError) -> RangeRow? {
    guard case .object(let members) = value else {
      throw RangeTableError(line: line, field: nil, reason: "an object belongs here")
    }
    var cells: [String: RangeRow.Cell] = [:]
    let used = Set(Column.allCases.flatMap(\.names))
    for member in members where used.contains(member.name) {
      switch member.value {
      case .null: break
      case .string(let text): cells[member.name] = .text(text)
      case .number(let number): cells[member.name] = .number(number)
      case .whole(let number): cells[member.name] = .number(Double(number))
      case .bool, .array, .object:
        throw RangeTableError(
          line: line, field: member.name, reason: "a number or a name belongs here")
      }
    }
    return try RangeRow(line: line, from: from) { column in
      column.names.lazy.compactMap { name in cells[name].map { (name, $0) } }.first
    }
  }
}
