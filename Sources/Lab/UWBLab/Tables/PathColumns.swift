// SPDX-License-Identifier: Apache-2.0

import Ranging

/// The columns of a table that indicate a blocked path.
struct PathColumns {
  /// The columns of standard diagnostics, with the factor to the unit in `ReceptionDiagnostics`.
  private var standard:
    [(field: WritableKeyPath<ReceptionDiagnostics, Double?>, column: Column, factor: Double)] = []
  /// The columns of other inputs to the learned model.
  private let others: [String: Column]
  let model: LineOfSightModel
  /// Whether the table has no such column.
  let isEmpty: Bool

  /// - Parameters:
  ///   - learned: the learned model; nil: the model without learning.
  ///   - others: further columns; nil: the columns that the model needs.
  /// - Throws: `LabError` if a column of `others` is missing.
  init(
    _ reader: inout TableReader, _ learned: PathModel?, others wanted: [String]? = nil
  ) throws(LabError) {
    let names: [(String, Quantity, WritableKeyPath<ReceptionDiagnostics, Double?>)] = [
      ("rx_power", .level, \.receivedPower), ("fp_power", .level, \.firstPathPower),
      ("peak_over_fp", .ratioOfLevels, \.peakOverFirstPath),
      ("fp_snr", .ratioOfLevels, \.firstPathSNR), ("peak_delay", .time, \.peakDelay),
      ("sts_delay", .time, \.segmentDisagreement),
    ]
    for (name, quantity, field) in names {
      // Times become nanoseconds.
      let factor = quantity == .time ? 1e9 : 1
      if let column = reader.find(name, quantity) { standard.append((field, column, factor)) }
    }
    var model = LineOfSightModel()
    model.learned = learned
    self.model = model
    var others: [String: Column] = [:]
    for name in wanted ?? [] { others[name] = try reader.require(name) }
    if let learned, wanted == nil {
      guard learned.isUsable else {
        throw LabError(
          .badFile, "The path of the calibration has other coefficients than inputs.",
          suggestion: "Write it again with calibrate path.")
      }
      for input in learned.inputs where PathDiagnostic(rawValue: input.name) == nil {
        others[input.name] = reader.find(input.name)
      }
    }
    self.others = others
    isEmpty = others.isEmpty && standard.isEmpty
  }

  func diagnostics(_ row: Int, _ reader: TableReader) -> ReceptionDiagnostics {
    var result = ReceptionDiagnostics()
    for (field, column, factor) in standard {
      result[keyPath: field] = reader.value(row, column).map { $0 * factor }
    }
    return result
  }

  /// Returns a standard diagnostic, or the cell in the column of this name.
  func value(
    _ name: String, _ row: Int, _ diagnostics: ReceptionDiagnostics, distance: Double?,
    _ reader: TableReader
  ) -> Double? {
    guard let diagnostic = PathDiagnostic(rawValue: name) else {
      return reader.value(row, others[name])
    }
    return diagnostics.value(diagnostic, distance: distance)
  }

  /// Returns the probability that the path of a row is blocked; nil if the row has no diagnostics.
  func probability(_ row: Int, distance: Double?, _ reader: TableReader) -> Double? {
    guard !isEmpty else { return nil }
    let diagnostics = diagnostics(row, reader)
    guard let learned = model.learned else { return model.probability(diagnostics) }
    return learned.probability {
      value(learned.inputs[$0].name, row, diagnostics, distance: distance, reader)
    } ?? model.probability(diagnostics)
  }
}
