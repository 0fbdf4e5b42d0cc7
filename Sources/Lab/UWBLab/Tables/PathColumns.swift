// SPDX-License-Identifier: Apache-2.0

import Ranging

/// The columns of a table that indicate whether the direct path of a row is blocked.
struct PathColumns {
  private let received: Column?
  private let firstPath: Column?
  private let peakOverFirstPath: Column?
  private let firstPathSNR: Column?
  private let peakDelay: Column?
  private let segmentDisagreement: Column?
  /// The inputs of the learned model that are not standard diagnostics.
  private let others: [String: Column]
  let model: LineOfSightModel
  /// Whether there is no such column.
  let isEmpty: Bool

  /// - Parameters:
  ///   - learned: the model that replaces the rules.
  ///   - others: further columns; nil: the columns that the model needs.
  /// - Throws: `LabError` when there is no column of `others`.
  init(
    _ reader: inout TableReader, _ learned: PathModel?, others wanted: [String]? = nil
  ) throws(LabError) {
    received = reader.find("rx_power", .level)
    firstPath = reader.find("fp_power", .level)
    peakOverFirstPath = reader.find("peak_over_fp", .ratioOfLevels)
    firstPathSNR = reader.find("fp_snr", .ratioOfLevels)
    peakDelay = reader.find("peak_delay", .time)
    segmentDisagreement = reader.find("sts_delay", .time)
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
    isEmpty =
      others.isEmpty
      && [received, firstPath, peakOverFirstPath, firstPathSNR, peakDelay, segmentDisagreement]
        .allSatisfy { $0 == nil }
  }

  func diagnostics(_ row: Int, _ reader: TableReader) -> ReceptionDiagnostics {
    var result = ReceptionDiagnostics()
    result.receivedPower = reader.value(row, received)
    result.firstPathPower = reader.value(row, firstPath)
    result.peakOverFirstPath = reader.value(row, peakOverFirstPath)
    result.firstPathSNR = reader.value(row, firstPathSNR)
    result.peakDelay = reader.value(row, peakDelay).map { $0 * 1e9 }
    result.segmentDisagreement = reader.value(row, segmentDisagreement).map { $0 * 1e9 }
    return result
  }

  /// Returns a diagnostic, or the value in the column of this name.
  func value(
    _ name: String, _ row: Int, _ diagnostics: ReceptionDiagnostics, distance: Double?,
    _ reader: TableReader
  ) -> Double? {
    guard let diagnostic = PathDiagnostic(rawValue: name) else {
      return reader.value(row, others[name])
    }
    return diagnostics.value(diagnostic, distance: distance)
  }

  /// Returns the probability that the path of a row is blocked; nil without any value.
  func probability(_ row: Int, distance: Double?, _ reader: TableReader) -> Double? {
    guard !isEmpty else { return nil }
    let diagnostics = diagnostics(row, reader)
    guard let learned = model.learned else { return model.probability(diagnostics) }
    return learned.probability {
      value(learned.inputs[$0].name, row, diagnostics, distance: distance, reader)
    } ?? model.probability(diagnostics)
  }
}
