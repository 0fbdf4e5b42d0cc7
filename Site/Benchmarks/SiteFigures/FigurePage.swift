// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Tables of figures in a page of documentation, each between two marks, such as
/// `<!-- SiteFigures differences: begin -->` and `<!-- SiteFigures: end -->`.
enum FigurePage {
  struct MissingMarks: Error, CustomStringConvertible {
    var page: String
    var name: String
    var description: String {
      "\(page) lacks \(FigurePage.begin(name)) before a line \(FigurePage.end), or cannot be written."
    }
  }

  private static let end = "<!-- SiteFigures: end -->"

  private static func begin(_ name: String) -> String { "<!-- SiteFigures \(name): begin -->" }

  /// Replaces the lines between the marks of a table.
  static func replace(_ name: String, in page: String, with table: [[String]]) throws {
    let text = try String(contentsOfFile: page, encoding: .utf8)
    var lines = text.components(separatedBy: "\n")
    guard let first = lines.firstIndex(of: begin(name)),
      let last = lines[first...].firstIndex(of: end)
    else { throw MissingMarks(page: page, name: name) }
    lines.replaceSubrange((first + 1)..<last, with: rows(table))
    try lines.joined(separator: "\n").write(toFile: page, atomically: true, encoding: .utf8)
  }

  /// Returns the rows of a table whose first line is its header.
  private static func rows(_ table: [[String]]) -> [String] {
    var rows = table.map { "| " + $0.joined(separator: " | ") + " |" }
    rows.insert("|" + String(repeating: "---|", count: table.first?.count ?? 0), at: 1)
    return rows
  }

  /// Returns a table of figures. Costs are absent, because they depend on the machine.
  static func table(_ figures: [Figure]) -> [[String]] {
    let header = ["", "unit", "textbook", "robust Kalman filter", "here", "aim", ""]
    return [header]
      + figures.filter { !$0.unit.hasSuffix("of a core") }.map { figure in
        let textbook = figure.textbook.map { "\($0.name): \(Figure.number($0.value))" }
        return [
          figure.quantity, figure.unit, textbook ?? "", figure.filter.map(Figure.number) ?? "",
          Figure.number(figure.value), figure.limits ?? "",
          figure.aim == nil ? "" : figure.isReached ? "reached" : "missed",
        ]
      }
  }
}
