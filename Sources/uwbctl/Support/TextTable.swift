// SPDX-License-Identifier: Apache-2.0

/// Columns for people, as wide as their widest cell. Cells are printed as they are: text from
/// outside goes through `printable` first.
struct TextTable {
  var rows: [[String]] = []
  var indent = ""

  mutating func add(_ cells: String...) { rows.append(cells) }

  /// One line for each row, each with a line end; a row may have fewer cells than others.
  var text: String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      rows.compactMap { column < $0.count - 1 ? $0[column].count : nil }.max() ?? 0
    }
    return rows.map { row in
      // The last cell of a row is not padded, and does not make its column wider.
      let cells = row.enumerated().map { index, cell in
        index < row.count - 1 ? cell.left(widths[index]) : cell
      }
      return indent + cells.joined(separator: "  ") + "\n"
    }.joined()
  }
}
