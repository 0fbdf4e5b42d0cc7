// SPDX-License-Identifier: Apache-2.0

import Formats
import UCI

/// The status of a row.
enum RowStatus: Equatable {
  case ok
  /// A cell is empty, or is not a number. The value is the name of the column.
  case missing(String), invalid(String)
  /// A file does not contain the `anchor`, `board_a` or `board_b` of the row.
  case unknown(String)
  /// The word of a computation for its result, or for a missing result.
  case result(String)

  static let impossibleReply = RowStatus.result("implausible_reply")
  static let impossibleClocks = RowStatus.result("implausible_clocks")
  static let exchangedStamps = RowStatus.result("exchanged_stamps")
  static let noPosition = RowStatus.result("no_position")

  var isOK: Bool { if case .ok = self { true } else { false } }

  /// Whether the row itself is unusable because of a cell or a name. Failed computations do not
  /// count.
  var isProblem: Bool {
    switch self {
    case .ok, .result: false
    case .missing, .invalid, .unknown: true
    }
  }

  /// One word for programs.
  var word: String {
    switch self {
    case .ok: "ok"
    case .missing(let column): "missing_" + Self.word(column)
    case .invalid(let column): "invalid_" + Self.word(column)
    case .unknown(let kind): "unknown_" + kind
    case .result(let word): word
    }
  }

  private static func word(_ column: String) -> String {
    String(column.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }

  /// Records a problem, unless the row already has one.
  mutating func blame(_ problem: RowStatus) {
    if isOK { self = problem }
  }

  /// The likely mistake of the user if no row of a table can be used.
  var hint: String? {
    let ends =
      "whether two columns are exchanged (t1, t4 and t5 are the initiator's), and give "
      + "--second-response if t5 and t6 belong to one."
    return switch self {
    case .invalid(let column) where column.lowercased().hasPrefix("time"):
      "Times are seconds, or in the unit of the column's name such as time_ms, or dates such as "
        + "2026-11-22T18:30:05.25."
    case .impossibleReply:
      "Check the unit, which is ticks of 15.65 ps unless the name has another (t1_ns) or --unit "
        + "gives it, --counter-bits, and \(ends)"
    case .impossibleClocks:
      "Check the unit, --counter-bits, whether polls are more than a turn of the counter apart, "
        + "which needs the column time, and \(ends)"
    case .exchangedStamps: "Check \(ends)"
    case .noPosition:
      "A position takes three anchors. Rows of one epoch need the same time; without --single, one "
        + "after the other will do."
    default: nil
    }
  }
}

/// Counts the unusable rows of a table.
struct RowProblems {
  private var count = 0
  private var first: (line: Int, status: RowStatus)?

  /// Adds the status of a row.
  mutating func add(_ status: RowStatus, line: @autoclosure () -> Int) {
    guard status.isProblem else { return }
    count += 1
    if first == nil { first = (line(), status) }
  }

  /// - total: the number of all rows.
  /// - Throws: `LabError` if no row is usable.
  func warnings(for table: CSVTable, of total: Int) throws(LabError) -> [String] {
    var warnings: [String] = []
    if let ragged = table.ragged {
      let others = ragged.count > 1 ? "; \(ragged.count) rows differ from it" : ""
      warnings.append(
        "Line \(ragged.line) has \(counted(ragged.cells, "cell")), the header "
          + "\(table.header.count)\(others)."
      )
    }
    guard let first else { return warnings }
    let example = "The first is line \(first.line): \(first.status.word)."
    if count == total {
      throw LabError(
        .badTable, line: first.line,
        (count == 1 ? "The only row cannot" : "None of the \(count) rows can")
          + " be used. \(example)",
        suggestion: first.status.hint)
    }
    return warnings + ["\(count) of \(counted(total, "row")) cannot be used. \(example)"]
  }
}

/// Counts the unusable rows of a table that is computed in pieces.
struct RowTally {
  private var problems = RowProblems()
  private var (total, computed) = (0, 0)
  private var first: (line: Int, status: RowStatus)?

  mutating func add(_ status: RowStatus, isComputed: Bool, line: Int) {
    problems.add(status, line: line)
    total += 1
    if isComputed { computed += 1 }
    first = first ?? (line, status)
  }

  /// Returns all warnings about rows and columns.
  ///
  /// - Parameters:
  ///   - others: the warnings about columns.
  ///   - isCut: whether there may be more rows.
  /// - Throws: `LabError` if nothing could be computed.
  func warnings(
    after others: [String], of table: CSVTable, isCut: Bool = false
  ) throws(LabError) -> [String] {
    guard let first else {
      if isCut { return others }
      throw .noRows(table)
    }
    let warnings = try problems.warnings(for: table, of: total)
    if computed == 0, !isCut {
      throw .nothingComputed(of: total, firstLine: first.line, first.status)
    }
    return others + warnings
  }
}

extension LabError {
  static func tooManyRows(line: Int) -> LabError {
    LabError(
      .badTable, line: line, "The table has more than \(CSVTable.rowLimit) rows.",
      suggestion: "Split it into parts, each with the header, or give --live.")
  }

  static func noRows(_ table: CSVTable) -> LabError {
    LabError(.badTable, line: table.headerLine, "The table has a header, but no rows.")
  }

  static func nothingComputed(of count: Int, firstLine line: Int, _ status: RowStatus) -> LabError {
    LabError(
      .badTable, line: line,
      "Nothing could be computed from \(count == 1 ? "the only row" : "any of the \(count) rows")"
        + ". The first is line \(line): "
        + "\(status.word).",
      suggestion: status.hint)
  }
}
