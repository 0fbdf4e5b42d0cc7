// SPDX-License-Identifier: Apache-2.0

import Estimators
import Formats
import Ranging
import UCI

/// Learns from labelled measurements which diagnostics indicate a blocked path.
package struct PathCalibration {
  private let rows: [LabelledPath]
  private let names: [String]
  /// The probabilities without a learned model; nil for rows without its inputs.
  private let ruled: [Double?]

  /// Reads a table of measurements: whether the path was blocked, the room, and diagnostics.
  ///
  /// - Parameters:
  ///   - label: the column with the kind of path: 1 or 0, true or false, NLOS or LOS.
  ///   - room: the column of rooms.
  ///   - others: further columns to learn from.
  /// - Throws: `LabError` if a column is missing or no row can be used.
  package init(
    _ table: CSVTable, label: String, room: String, others: [String] = [],
    _ warn: (String) -> Void
  ) throws(LabError) {
    guard PathDiagnostic.allCases.count + others.count <= PathModel.mostInputs else {
      throw LabError(.usage, "--column can be given 24 times.")
    }
    var reader = TableReader(table)
    let labels = try reader.require(label)
    let rooms = try reader.require(room)
    let columns = try PathColumns(&reader, nil, others: others)
    let range = reader.lookUp("range", .length)
    let truth = reader.lookUp("truth", .length)
    let names = PathDiagnostic.allCases.map(\.rawValue) + others
    self.names = names
    var ruled: [Double?] = []
    let found = try reader.rows { [reader] row, status -> LabelledPath? in
      guard let isBlocked = Self.isBlocked(reader.text(row, labels)) else {
        status.blame(reader.blank(row, labels))
        return nil
      }
      let distance = reader.value(row, range)
      let diagnostics = columns.diagnostics(row, reader)
      let values = names.map {
        columns.value($0, row, diagnostics, distance: distance, reader)
      }
      guard values.contains(where: { $0 != nil }) else {
        status = .missing("diagnostics")
        return nil
      }
      ruled.append(LineOfSightModel().probability(diagnostics))
      let error = distance.flatMap { far in reader.value(row, truth).map { far - $0 } }
      return LabelledPath(
        values: values, isBlocked: isBlocked, room: reader.text(row, rooms), error: error)
    }
    found.warnings.forEach(warn)
    (rows, self.ruled) = (found.values, ruled)
  }

  private static func isBlocked(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "1", "1.0", "true", "yes", "nlos", "blocked": true
    case "0", "0.0", "false", "no", "los", "free": false
    default: nil
    }
  }

  /// - Throws: `LabError` if the rows are not sufficient.
  package func report() throws(LabError) -> CalibrationReport {
    let fit: PathFit
    do { fit = try PathFit(names, rows) } catch {
      switch error {
      case .oneKind(let isBlocked):
        throw .insufficient(
          "All \(counted(rows.count, "row")) have \(isBlocked ? "a blocked" : "a free") path.",
          suggestion: "Measure with and without obstacles.")
      case .rooms(let count):
        throw .insufficient(
          "\(count == 0 ? "No room has" : "Only one room has") rows of both kinds: how well paths are "
            + "told in a room that was not learned cannot be known.",
          suggestion: "Measure in two rooms or more, in each with and without obstacles.")
      case .noInputs:
        throw .insufficient("The diagnostics are the same in all rows.")
      }
    }
    let rule = ruled.contains { $0 != nil } ? fit.balancedAccuracy(of: ruled) : nil
    var calibration = RangingCalibration()
    calibration.path = fit.model
    return CalibrationReport(
      text: text(fit, rule), calibration: calibration, charts: [chart(fit)],
      problem: problem(fit, rule))
  }

  /// Returns the reason why the model is not better than no model; nil if it is.
  private func problem(_ fit: PathFit, _ rule: Double?) -> LabError? {
    let (here, limit) = (fit.balancedAccuracy, max(0.55, rule ?? 0))
    guard here <= limit else { return nil }
    return .insufficient(
      "In rooms that were not learned, \(percent(here)) of paths are recognised"
        + (rule.map { ", and \(percent($0)) by the rules without learning." }
          ?? ", and half of them by chance."),
      suggestion: "Add diagnostics (--column), rooms, or positions in each room.")
  }

  private func text(_ fit: PathFit, _ rule: Double?) -> String {
    var table = TextTable()
    table.add("room left out", "rows", "blocked", "correct", "AUC")
    for room in fit.model.rooms ?? [] {
      table.add(
        room.name.isEmpty ? "(no name)" : printable(room.name), "\(room.rows)", "\(room.blocked)",
        room.balancedAccuracy.map(percent) ?? "–", room.area.map { fixed($0, 2) } ?? "–")
    }
    var text = table.text
    text +=
      "Mean \(percent(fit.balancedAccuracy)) (balanced accuracy)"
      + (rule.map { "; the rules without learning: \(percent($0))" } ?? "") + ".\n"
    let names = fit.model.inputs.map { printable($0.name) }.joined(separator: ", ")
    text += "Learned from \(names)\(fit.model.products == nil ? "" : ", and their products").\n"
    if let excess = fit.model.excess {
      text +=
        "Distances on blocked paths are \(fixed(excess.mean, 2)) ± \(fixed(excess.deviation, 2)) m "
        + "too long.\n"
    } else {
      text +=
        "How wrong distances on blocked paths are is not known: truth_m or range_m is missing.\n"
    }
    return text
  }

  /// Returns a chart of the share of blocked paths at each stated probability.
  private func chart(_ fit: PathFit) -> Chart {
    var bins = [(count: Int, sum: Double, blocked: Int)](repeating: (0, 0, 0), count: 10)
    for (probability, row) in zip(fit.heldOut, rows) {
      let bin = min(9, Int(probability * 10))
      bins[bin].count += 1
      bins[bin].sum += probability
      bins[bin].blocked += row.isBlocked ? 1 : 0
    }
    let points = bins.filter { $0.count > 0 }.map { bin in
      (x: bin.sum / Double(bin.count), y: Double(bin.blocked) / Double(bin.count))
    }
    return Chart(
      title: "Blocked paths in rooms left out", x: "probability that is stated",
      y: "share that is blocked",
      series: [
        .init("right", .grey, .line, [(0, 0), (1, 1)]),
        .init("measured", .blue, .points, points),
      ])
  }
}

private func percent(_ share: Double) -> String { fixed(100 * share, 1) + " %" }
