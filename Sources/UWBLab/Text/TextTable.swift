// SPDX-License-Identifier: Apache-2.0

/// Text in columns that are as wide as their widest cell. Cells are printed as they are: text from
/// outside passes through `printable` first.
package struct TextTable {
  private var rows: [[String]] = []
  private let indent: String

  package init(indent: String = "") { self.indent = indent }

  package mutating func add(_ cells: String...) { rows.append(cells) }

  /// One line for each row, line ends included; rows may differ in their number of cells.
  package var text: String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      rows.compactMap { column < $0.count - 1 ? $0[column].count : nil }.max() ?? 0
    }
    return rows.map { row in
      // The last cell of a row is not padded and does not widen its column.
      let cells = row.enumerated().map { index, cell in
        index < row.count - 1 ? cell.left(widths[index]) : cell
      }
      return indent + cells.joined(separator: "  ") + "\n"
    }.joined()
  }
}

/// A number with the given count of decimal places; `null` when it is not finite.
package func fixed(_ value: Double, _ digits: Int) -> String {
  guard value.isFinite else { return "null" }
  var scale = 1.0
  for _ in 0..<digits { scale *= 10 }
  let scaled = Int((abs(value) * scale).rounded())
  let whole = scaled / Int(scale)
  let sign = value < 0 && scaled > 0 ? "-" : ""
  guard digits > 0 else { return "\(sign)\(whole)" }
  let rest = String(scaled % Int(scale))
  return "\(sign)\(whole)." + String(repeating: "0", count: digits - rest.count) + rest
}

extension String {
  /// Padded on the left to a width.
  package func right(_ width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }

  /// Padded on the right to a width.
  package func left(_ width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
