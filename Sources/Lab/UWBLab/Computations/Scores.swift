// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
import Ranging
import UCI

/// The errors of computed values, and their ratio to the stated deviations.
public struct Score: Sendable {
  /// The quantity: `range`, `azimuth`, `x` and so on. `horizontal` is the horizontal distance from
  /// the true position.
  public let name: String
  /// The errors in metres or radians.
  public let errors: [Double]
  /// The magnitude of each error as a multiple of its stated deviation; empty for `horizontal`.
  package let normalized: [Double]
  let isAngle: Bool

  /// The root of the mean square error, in the unit of `errors`.
  public var rmse: Double {
    (errors.reduce(0) { $0 + $1 * $1 } / Double(max(1, errors.count))).squareRoot()
  }

  /// Returns the magnitude that a share of the errors does not exceed.
  ///
  /// - Parameter part: the share, 0...1; 0.5 is the median.
  public func quantile(_ part: Double) -> Double {
    let sizes = errors.map { abs($0) }.sorted()
    return sizes.isEmpty ? .nan : sizes[Int((part * Double(sizes.count - 1)).rounded())]
  }

  /// Returns the share of the errors within a multiple of their stated deviations. For correct
  /// deviations and normal errors, it is 0.683 within one and 0.954 within two.
  public func share(within deviations: Double) -> Double? {
    guard !normalized.isEmpty else { return nil }
    return Double(normalized.count { $0 <= deviations }) / Double(normalized.count)
  }
}

extension Score: CustomStringConvertible {
  /// The score in one line.
  public var description: String {
    let (factor, unit, digits) = isAngle ? (180 / Double.pi, "°", 2) : (1, " m", 3)
    func size(_ value: Double) -> String { fixed(value * factor, digits) + unit }
    var text =
      "\(name): \(counted(errors.count, "row")), RMSE \(size(rmse)), median \(size(quantile(0.5))), "
      + "95 % \(size(quantile(0.95)))"
    if let one = share(within: 1), let two = share(within: 2) {
      text += "; within 1 σ \(fixed(100 * one, 0)) % (68), 2 σ \(fixed(100 * two, 0)) % (95)"
    }
    return text
  }
}

extension ComputedTable {
  /// Compares the results with the truth.
  ///
  /// - Parameter truth: the column of the truth. With several results, it is the beginning of the
  ///   columns' names: `truth` for `truth_x_m` and `truth_y_m`. A number, in metres or radians,
  ///   applies to all rows.
  /// - Throws: `LabError` if there is no such column, or no row has both a result and a truth.
  public func scores(truth: String) throws(LabError) -> [Score] {
    let stated = columns.compactMap { column in column.estimate.map { (column.name, $0) } }
    // A single column is the truth of the first estimate of its quantity.
    let single = stated.firstIndex { column(truth, $0.1.quantity) != nil }
    var scores: [Score] = []
    for (index, (_, estimate)) in stated.enumerated() {
      var column = reader.lookUp("\(truth)_\(estimate.name)", estimate.quantity)
      if column == nil, index == single { column = self.column(truth, estimate.quantity) }
      let constant = index == 0 ? Double(truth) : nil
      guard column != nil || constant != nil else { continue }
      column = try column.map(reader.withUnit)
      scores.append(Score(estimate, rows) { constant ?? reader.value($0, column) })
    }
    guard let first = stated.first?.1 else { return [] }
    guard !scores.isEmpty else {
      if let name = reader.table.header.first(where: { $0.lowercased() == truth.lowercased() }) {
        throw LabError(
          .badTable,
          "The unit of \(printable(name)) differs from the computed quantity (\(first.name)).")
      }
      let unit = first.quantity.units.first.map { "_" + $0.suffix } ?? ""
      let name = stated.count > 1 ? "\(truth)_\(first.name)\(unit)" : truth
      throw .missingColumn(name, of: reader.table)
    }
    guard scores.contains(where: { !$0.errors.isEmpty }) else {
      // `problem` explains better why there are no scores.
      if problem != nil { return [] }
      throw .insufficient("No row has both a result and its truth.")
    }
    return scores + Score.horizontal(scores)
  }

  /// Returns the column of this name. Returns nil if its name ends with the unit of another
  /// quantity.
  private func column(_ name: String, _ quantity: Quantity) -> Column? {
    let isOther = [Quantity.length, .angle].contains { other in
      other != quantity && other.units.contains { name.lowercased().hasSuffix("_" + $0.suffix) }
    }
    return isOther ? nil : reader.lookUp(name, quantity)
  }
}

extension Score {
  fileprivate init<Value>(
    _ estimate: StatedEstimate<Value>, _ rows: [ComputedRow<Value>], truth: (Int) -> Double?
  ) {
    var (errors, normalized): ([Double], [Double]) = ([], [])
    let isAngle = estimate.quantity == .angle
    for row in rows {
      guard let value = row.value, let known = truth(row.row) else { continue }
      var error = estimate.value(value) - known
      if isAngle { error = error.remainder(dividingBy: 2 * .pi) }
      guard error.isFinite else { continue }
      errors.append(error)
      normalized.append(abs(error) / estimate.deviation(value))
    }
    self.init(name: estimate.name, errors: errors, normalized: normalized, isAngle: isAngle)
  }

  /// Returns the score of the horizontal distance, if x and y have scores.
  fileprivate static func horizontal(_ scores: [Score]) -> [Score] {
    guard let x = scores.first(where: { $0.name == "x" }),
      let y = scores.first(where: { $0.name == "y" }), x.errors.count == y.errors.count
    else { return [] }
    let errors = zip(x.errors, y.errors).map { hypot($0, $1) }
    return [Score(name: "horizontal", errors: errors, normalized: [], isAngle: false)]
  }
}

extension Chart {
  /// Returns a chart of the shares of errors within multiples of their deviations, and the shares
  /// expected for normal errors.
  static func honesty(_ scores: [Score]) -> Chart {
    let steps = (0...40).map { Double($0) / 10 }
    let expected = steps.map { erf($0 / 2.0.squareRoot()) }
    let stated = scores.filter { !$0.normalized.isEmpty }
    return Chart(
      title: "Errors within the stated deviations",
      x: "share that should be within (normal errors)", y: "share that is",
      series: [
        Series("right", .grey, .line, expected.map { ($0, $0) })
      ]
        + stated.enumerated().map { index, score in
          Series(
            score.name, .numbered(index), .line,
            zip(expected, steps).map { ($0, score.share(within: $1) ?? 0) })
        })
  }
}
