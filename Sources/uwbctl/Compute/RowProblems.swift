// SPDX-License-Identifier: Apache-2.0

/// Rows of a table that could not be used: how many, and where the first is.
struct RowProblems {
  private var count = 0
  private var first: (row: Int, word: String)?

  /// Takes the status of a row: a cell that is missing or no number, or a name that is not known.
  /// What a computation makes of rows that it can read is no problem of theirs.
  mutating func take(_ status: String, row: Int?) {
    guard let row,
      status.hasPrefix("missing_") || status.hasPrefix("invalid_") || status.hasPrefix("unknown_b")
        || status.hasPrefix("unknown_anchor")
    else { return }
    count += 1
    if first == nil { first = (row, status) }
  }

  /// Says it on standard error.
  ///
  /// - Throws: `.noRow` when not one row of the table could be used.
  func report(_ table: CSVTable) throws(ComputeError) {
    if let ragged = table.ragged {
      let others = ragged.count > 1 ? "; \(ragged.count) rows like that" : ""
      standardError.write(
        "uwbctl: Line \(ragged.line) has \(ragged.cells) cells, the header "
          + "\(table.header.count)\(others).\n")
    }
    guard let first else { return }
    let line = table.line(first.row)
    if count == table.rowCount {
      throw .noRow(count: count, line: line, printable(first.word))
    }
    standardError.write(
      "uwbctl: \(count) of \(table.rowCount) rows could not be used. The first is line \(line): "
        + "\(printable(first.word)).\n")
  }
}
