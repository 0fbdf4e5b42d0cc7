// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A figure of accuracy with its aim, and with the result of the textbook's estimator in the same
/// run.
struct AccuracyFigure {
  enum Aim {
    case atMost(Double)
    case atLeast(Double)
    case between(Double, Double)
    /// A range for the value. A run is still good if the value is within `limits`.
    case range(ClosedRange<Double>, limits: ClosedRange<Double>)

    func isMet(by value: Double) -> Bool {
      switch self {
      case .range(let range, _): range.contains(value)
      default: isTolerable(value)
      }
    }

    /// Whether a run with this value is still good.
    func isTolerable(_ value: Double) -> Bool {
      switch self {
      case .atMost(let limit): value <= limit
      case .atLeast(let limit): value >= limit
      case .between(let low, let high): value >= low && value <= high
      case .range(_, let limits): limits.contains(value)
      }
    }
  }

  /// The name in the list of figures: T1, A1, …
  var id: String
  var quantity: String
  var unit: String
  var textbook: (name: String, value: Double)?
  /// The value over all data.
  var value: Double
  /// The value of each seed, split, track or antenna.
  var parts: [Double] = []
  var aim: Aim?

  /// Whether a run with this figure is still good.
  var isTolerable: Bool { aim?.isTolerable(value) ?? value.isFinite }

  var verdict: String {
    guard let aim else { return "" }
    let isMetByAll = parts.allSatisfy { aim.isMet(by: $0) }
    if aim.isMet(by: value) { return isMetByAll ? "met" : "met, not by each" }
    if isTolerable { return "within limits" }
    return "MISSED"
  }

  /// Returns the figures as lines of a table.
  static func table(_ figures: [AccuracyFigure]) -> [String] {
    let header = ["figure", "", "unit", "textbook", "", "here", "least", "most", "aim", ""]
    let lines = [header] + figures.map(\.cells)
    let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    var table: [String] = []
    for (index, line) in lines.enumerated() {
      let padded = line.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return [4, 5, 6, 7].contains(column) ? space + cell : cell + space
      }
      table.append("| " + padded.joined(separator: " | ") + " |")
      if index == 0 {
        table.append("|" + widths.map { String(repeating: "-", count: $0 + 2) + "|" }.joined())
      }
    }
    return table
  }

  /// Replaces the tables of a page between two marks. The first mark names the figures of its
  /// table, such as `<!-- accuracy F1 F2: begin -->`. A table is kept if one of its figures was not
  /// measured.
  ///
  /// - Returns: whether the page was written, and has a table for each figure.
  static func write(_ figures: [AccuracyFigure], to page: String) -> Bool {
    guard let text = try? String(contentsOfFile: page, encoding: .utf8) else { return false }
    let measured = Set(figures.map(\.id))
    var (lines, named) = ([String](), Set<String>())
    var isTable = false
    for line in text.components(separatedBy: "\n") {
      if line == end { isTable = false }
      if !isTable { lines.append(line) }
      guard line.hasPrefix(begin.before), line.hasSuffix(begin.after) else { continue }
      let ids = line.dropFirst(begin.before.count).dropLast(begin.after.count)
        .split(separator: " ").map(String.init)
      named.formUnion(ids)
      guard measured.isSuperset(of: ids) else { continue }
      // Times depend on the machine, so the page does not have them.
      lines += table(figures.filter { ids.contains($0.id) && $0.unit != "s" })
      isTable = true
    }
    guard !isTable, measured.isSubset(of: named) else { return false }
    return
      (try? lines.joined(separator: "\n").write(toFile: page, atomically: true, encoding: .utf8))
      != nil
  }

  private static let begin = (before: "<!-- accuracy ", after: ": begin -->")
  private static let end = "<!-- accuracy: end -->"

  private var cells: [String] {
    var limit = ""
    switch aim {
    case .atMost(let value): limit = "<= " + Self.text(value)
    case .atLeast(let value): limit = ">= " + Self.text(value)
    case .between(let low, let high): limit = Self.text(low) + "..." + Self.text(high)
    case .range(let range, let limits):
      let ends = [range, limits].map { "\(Int($0.lowerBound))...\(Int($0.upperBound))" }
      limit = "\(ends[0]) (\(ends[1]))"
    case nil: break
    }
    return [
      id, quantity, unit, textbook?.name ?? "", textbook.map { Self.text($0.value) } ?? "",
      Self.text(value), parts.min().map(Self.text) ?? "", parts.max().map(Self.text) ?? "", limit,
      verdict,
    ]
  }

  /// Returns the value with three significant digits or two decimals.
  static func text(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
    let digits = abs(value) < 0.1 ? 4 : abs(value) < 10 ? 2 : abs(value) < 100 ? 1 : 0
    let scale = [1.0, 10, 100, 1000, 10000][digits]
    let scaled = Int((abs(value) * scale).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(scaled)" }
    let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int(scale))
    let part = String(rest)
    return "\(sign)\(whole)." + String(repeating: "0", count: digits - part.count) + part
  }
}

/// The errors of an estimator, in parts.
struct Errors {
  private(set) var all: [Double] = []
  private(set) var parts: [[Double]] = []

  mutating func add(_ part: [Double]) {
    all += part
    parts.append(part)
  }

  static func rms(_ values: [Double]) -> Double {
    (values.reduce(0) { $0 + $1 * $1 } / Double(max(1, values.count))).squareRoot()
  }

  static func mean(_ values: [Double]) -> Double {
    values.reduce(0, +) / Double(max(1, values.count))
  }

  static func deviation(_ values: [Double]) -> Double {
    let middle = mean(values)
    return rms(values.map { $0 - middle })
  }

  /// Returns a figure: a statistic of the errors, each multiplied by `scale`.
  func figure(
    _ id: String, _ quantity: String, _ unit: String, scale: Double = 1,
    textbook: (name: String, value: Double)? = nil, aim: AccuracyFigure.Aim? = nil,
    _ statistic: ([Double]) -> Double
  ) -> AccuracyFigure {
    AccuracyFigure(
      id: id, quantity: quantity, unit: unit, textbook: textbook.map { ($0.name, $0.value) },
      value: statistic(all) * scale, parts: parts.map { statistic($0) * scale }, aim: aim)
  }
}
