// SPDX-License-Identifier: Apache-2.0

import UWBSite

/// The live table of the demo, as lines of ASCII that fit a terminal.
struct DemoTable {
  /// The last report about a tag.
  struct Row {
    var name: String
    var place: TagPlace?
    var zone = ""
    /// A word in place of the coordinates, such as `lost`.
    var state: String?
  }

  var rows: [Row]
  var status = ""

  private typealias Column = (title: String, width: Int, text: @Sendable (Row) -> String)

  /// The columns, in the order in which a narrow terminal keeps them.
  private static let columns: [Column] = [
    ("tag", 4, { row in row.name }),
    ("x m", 6, { row in row.state ?? row.place.map { fixed($0.position.x) } ?? "" }),
    ("y m", 6, { row in row.state == nil ? row.place.map { fixed($0.position.y) } ?? "" : "" }),
    ("r95", 5, { row in row.state == nil ? row.place.map { fixed($0.r95) } ?? "" : "" }),
    ("zone", 9, { row in row.zone }),
    ("motion", 7, { row in row.state == nil ? row.place?.motion.rawValue ?? "" : "" }),
  ]

  /// Returns lines of at most `width` columns and at most `height` lines.
  func lines(width: Int, height: Int) -> [String] {
    guard width > 0, height > 0 else { return [] }
    var columns = Self.columns
    while columns.count > 1, Self.width(columns) > width { columns.removeLast() }
    let block = Self.width(columns)
    let blocks = max(1, min((width + 3) / (block + 3), 4))
    var lines = [Self.clip(status, width)]
    // The rows fill a column from top to bottom, then the next column to the right.
    let perBlock = (rows.count + blocks - 1) / blocks
    let shown = min(perBlock, max(0, height - 2))
    guard shown > 0 else { return lines }
    let header = Self.line(columns.map(\.title), columns)
    lines.append(Array(repeating: header, count: blocks).joined(separator: "   "))
    for index in 0..<shown {
      let cells = (0..<blocks).map { block -> String in
        let number = block * perBlock + index
        guard number < rows.count else { return "" }
        return Self.line(columns.map { $0.text(rows[number]) }, columns)
      }
      lines.append(cells.joined(separator: "   "))
    }
    if shown < perBlock {
      lines[lines.count - 1] = "and \(rows.count - (shown - 1) * blocks) more tags"
    }
    return lines.map { Self.clip($0, width) }
  }

  private static func width(_ columns: [Column]) -> Int {
    columns.reduce(columns.count - 1) { $0 + $1.width }
  }

  private static func line(_ cells: [String], _ columns: [Column]) -> String {
    zip(cells, columns).map { cell, column in
      let space = String(repeating: " ", count: max(0, column.width - cell.count))
      // Numbers are right-aligned with their titles, and words are left-aligned.
      let isWord = ["tag", "zone", "motion"].contains(column.title)
      return isWord ? clip(cell, column.width) + space : space + cell
    }.joined(separator: " ")
  }

  static func clip(_ text: String, _ width: Int) -> String {
    var line = text.count > width ? String(text.prefix(width)) : text
    while line.last == " " { line.removeLast() }
    return line
  }

  /// Returns a number with two decimals.
  static func fixed(_ value: Double, _ digits: Int = 2) -> String {
    guard value.isFinite, abs(value) < 1e9 else { return "-" }
    let factor = digits == 2 ? 100.0 : 10
    let whole = Int((abs(value) * factor).rounded())
    let part = "\(whole % Int(factor))"
    let sign = value < 0 && whole > 0 ? "-" : ""
    return "\(sign)\(whole / Int(factor))."
      + String(repeating: "0", count: max(0, digits - part.count)) + part
  }
}
