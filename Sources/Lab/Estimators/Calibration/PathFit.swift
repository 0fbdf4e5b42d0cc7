// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Ranging

/// Diagnostics of a receiver about a frame, and whether the direct path was blocked.
package struct LabelledPath: Sendable {
  /// The diagnostics in the order of the names given to `PathFit`; nil if unknown.
  package var values: [Double?]
  package var isBlocked: Bool
  /// The room of the measurement. Rows of one room are more similar than rows of different rooms.
  package var room: String
  /// The error of the distance in metres; nil if it is unknown.
  package var error: Double?

  package init(values: [Double?], isBlocked: Bool, room: String, error: Double? = nil) {
    (self.values, self.isBlocked, self.room, self.error) = (values, isBlocked, room, error)
  }
}

/// Learns a `PathModel` and cross-validates it between rooms.
///
/// Every room has the same weight, and so do free and blocked paths in it, whatever the number of
/// rows. A form of the model has linear terms only or products as well, with or without absolute
/// levels. The form with the best score in held-out rooms is chosen. The final scores are from
/// rooms that did not take part in this choice.
package struct PathFit: Sendable {
  package enum Failure: Error, Hashable {
    case oneKind(isBlocked: Bool)
    /// Fewer than two rooms have both free and blocked paths.
    case rooms(Int)
    case noInputs
  }

  package let model: PathModel
  /// The probability of each row, computed by the model of the other rooms.
  package let heldOut: [Double]

  /// The assumed number of independent rows of each kind of path in a room.
  ///
  /// Hundreds of frames are usually measured at a few positions.
  private static let independentRows = 50.0
  /// The greatest number of rows of one kind in a room. If there are more, evenly spaced ones are
  /// used.
  private static let mostRows = 400

  private struct Form {
    /// Whether the model has products of diagnostics.
    var isQuadratic: Bool
    /// Whether the model uses levels that depend on the distance and the boards.
    var hasLevels: Bool
  }

  private let rows: [LabelledPath]

  package init(_ names: [String], _ rows: [LabelledPath]) throws(Failure) {
    let blocked = rows.count { $0.isBlocked }
    guard blocked > 0, blocked < rows.count else { throw .oneKind(isBlocked: blocked > 0) }
    let rooms = Dictionary(grouping: rows.indices) { rows[$0].room }
    let scored = rooms.values.count { indices in
      Set(indices.map { rows[$0].isBlocked }).count == 2
    }
    guard scored >= 2 else { throw .rooms(scored) }
    self.rows = rows
    let list = rooms.sorted { $0.key < $1.key }
    let folds = list.map(\.value)

    var evidence = [Double](repeating: 0, count: rows.count)
    for (index, fold) in folds.enumerated() {
      let others = folds.enumerated().filter { $0.offset != index }.map(\.element)
      guard let model = Self.best(names, rows, others) else { continue }
      Self.judge(model, names, rows, fold, &evidence)
    }
    guard var model = Self.best(names, rows, folds) else { throw .noInputs }
    let scale = Self.scale(evidence, rows, folds)
    model.intercept *= scale
    model.weights = model.weights.map { $0 * scale }
    model.products = model.products?.map { $0 * scale }
    heldOut = evidence.map { 1 / (1 + exp(-scale * $0)) }
    model.rooms = list.map { name, indices in
      let score = Self.score(evidence, rows, indices)
      return PathModel.Room(
        name: name, rows: indices.count, blocked: indices.count { rows[$0].isBlocked },
        balancedAccuracy: score?.accuracy, area: score?.area)
    }
    model.excess = Self.excess(rows, folds)
    self.model = model
  }

  /// The mean of the rooms' balanced accuracies.
  package var balancedAccuracy: Double {
    let scores = (model.rooms ?? []).compactMap(\.balancedAccuracy)
    return scores.reduce(0, +) / Double(max(1, scores.count))
  }

  /// Returns the mean of the rooms' balanced accuracies for given probabilities. Ignores rows
  /// without a probability.
  package func balancedAccuracy(of probabilities: [Double?]) -> Double {
    let folds = Dictionary(grouping: rows.indices.filter { probabilities[$0] != nil }) {
      rows[$0].room
    }
    let evidence = probabilities.map { ($0 ?? 0.5) - 0.5 }
    let scores = folds.values.compactMap { Self.score(evidence, rows, $0)?.accuracy }
    return scores.reduce(0, +) / Double(max(1, scores.count))
  }

  // MARK: choice

  /// Returns the form with the best score in held-out rooms; with at most two rooms, the simplest
  /// form.
  private static func best(
    _ names: [String], _ rows: [LabelledPath], _ folds: [[Int]]
  ) -> PathModel? {
    let forms = [(false, false), (false, true), (true, false), (true, true)].map {
      Form(isQuadratic: $0.0, hasLevels: $0.1)
    }
    var best: (form: Form, area: Double) = (forms[1], -1)
    if folds.count > 2 {
      for form in forms {
        var areas: [Double] = []
        for (index, fold) in folds.enumerated() {
          let others = folds.enumerated().filter { $0.offset != index }.map(\.element)
          guard let model = learn(names, rows, others, form) else { continue }
          var evidence = [Double](repeating: 0, count: rows.count)
          judge(model, names, rows, fold, &evidence)
          if let score = score(evidence, rows, fold) { areas.append(score.accuracy + score.area) }
        }
        let mean = areas.reduce(0, +) / Double(max(1, areas.count))
        // Each larger form has to be better by more than chance.
        if mean > best.area + 0.01 { best = (form, mean) }
      }
    }
    return learn(names, rows, folds, best.form) ?? learn(names, rows, folds, forms[1])
  }

  // MARK: learning

  private static func learn(
    _ names: [String], _ rows: [LabelledPath], _ folds: [[Int]], _ form: Form
  ) -> PathModel? {
    let levels = [PathDiagnostic.receivedPower, .firstPathPower].map(\.rawValue)
    let (used, weights) = thinned(rows, folds)
    var inputs: [PathModel.Input] = []
    var columns: [Int] = []
    for (column, name) in names.enumerated() where form.hasLevels || !levels.contains(name) {
      let values = used.compactMap { rows[$0].values[column] }.filter(\.isFinite)
      guard values.count > 1 else { continue }
      let mean = values.reduce(0, +) / Double(values.count)
      let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
      let deviation = (squares / Double(values.count)).squareRoot()
      guard deviation > 1e-9 * max(1, abs(mean)) else { continue }
      inputs.append(.init(name: name, mean: mean, deviation: deviation))
      columns.append(column)
    }
    guard !inputs.isEmpty, Set(used.map { rows[$0].isBlocked }).count == 2 else { return nil }
    let count = inputs.count
    let total = 1 + count + (form.isQuadratic ? count * (count + 1) / 2 : 0)
    let terms = used.map { row -> [Double] in
      let standard = zip(columns, inputs).map { column, input in
        rows[row].values[column].flatMap { $0.isFinite ? PathModel.standardised($0, input) : nil }
          ?? 0
      }
      var result = [1.0] + standard
      if form.isQuadratic {
        for first in standard.indices {
          for second in first..<count { result.append(standard[first] * standard[second]) }
        }
      }
      return result
    }
    let labels = used.map { rows[$0].isBlocked }
    guard let solution = logistic(terms, labels, weights, count: total) else { return nil }
    return PathModel(
      inputs: inputs, intercept: solution[0], weights: Array(solution[1...count]),
      products: form.isQuadratic ? Array(solution[(count + 1)...]) : nil)
  }

  /// Returns the rows to learn from, with their weights.
  private static func thinned(
    _ rows: [LabelledPath], _ folds: [[Int]]
  ) -> (rows: [Int], weights: [Double]) {
    var (used, weights): ([Int], [Double]) = ([], [])
    for fold in folds {
      for kind in [false, true] {
        let own = fold.filter { rows[$0].isBlocked == kind }
        guard !own.isEmpty else { continue }
        let count = min(mostRows, own.count)
        used += (0..<count).map { own[$0 * own.count / count] }
        let weight = min(independentRows, Double(own.count)) / Double(count)
        weights += Array(repeating: weight, count: count)
      }
    }
    // Free and blocked rows have the same total weight.
    var sums = (free: 0.0, blocked: 0.0)
    for (row, weight) in zip(used, weights) {
      if rows[row].isBlocked { sums.blocked += weight } else { sums.free += weight }
    }
    let half = (sums.free + sums.blocked) / 2
    for (index, row) in used.enumerated() {
      weights[index] *= half / (rows[row].isBlocked ? sums.blocked : sums.free)
    }
    return (used, weights)
  }

  /// Computes the coefficients by Newton's method. The prior deviation is 1 for all but the first.
  private static func logistic(
    _ terms: [[Double]], _ labels: [Bool], _ weights: [Double], count: Int
  ) -> [Double]? {
    var solution = [Double](repeating: 0, count: count)
    for _ in 0..<30 {
      var equations = NormalEquations(count: count)
      for (row, own) in terms.enumerated() {
        var sum = 0.0
        for index in 0..<count { sum += own[index] * solution[index] }
        let part = 1 / (1 + exp(-sum))
        let curvature = max(1e-6, weights[row] * part * (1 - part))
        let slope = weights[row] * ((labels[row] ? 1 : 0) - part)
        for index in 0..<count {
          equations.right[index] += own[index] * slope
          let scaled = curvature * own[index]
          for other in 0...index { equations.matrix[index * count + other] += scaled * own[other] }
        }
      }
      for index in 1..<count {
        equations.add(index, index, 1)
        equations.right[index] -= solution[index]
      }
      guard let step = equations.solved() else { return nil }
      // A Newton step far from the solution may be too long.
      let longest = step.map { abs($0) }.max() ?? 0
      let scale = min(1, 2 / max(1e-12, longest))
      for index in 0..<count { solution[index] += scale * step[index] }
      if longest < 1e-5 { return solution }
    }
    return solution
  }

  // MARK: scores

  /// Stores the evidence of a model for these rows at their indices.
  private static func judge(
    _ model: PathModel, _ names: [String], _ rows: [LabelledPath], _ indices: [Int],
    _ evidence: inout [Double]
  ) {
    let columns = model.inputs.map { input in names.firstIndex(of: input.name) }
    for row in indices {
      evidence[row] =
        model.evidence { index in columns[index].flatMap { rows[row].values[$0] } } ?? 0
    }
  }

  private static func score(
    _ evidence: [Double], _ rows: [LabelledPath], _ indices: [Int]
  ) -> (accuracy: Double, area: Double)? {
    let blocked = indices.filter { rows[$0].isBlocked }.map { evidence[$0] }
    let free = indices.filter { !rows[$0].isBlocked }.map { evidence[$0] }.sorted()
    guard !blocked.isEmpty, !free.isEmpty else { return nil }
    let found = Double(blocked.count { $0 > 0 }) / Double(blocked.count)
    let kept = Double(free.count { $0 <= 0 }) / Double(free.count)
    var wins = 0.0
    for value in blocked {
      wins += (Double(below(value, free)) + Double(below(value.nextUp, free))) / 2
    }
    return ((found + kept) / 2, wins / Double(blocked.count) / Double(free.count))
  }

  /// Returns the number of sorted values that are less than `value`.
  private static func below(_ value: Double, _ sorted: [Double]) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the factor that calibrates the evidence in held-out rooms.
  private static func scale(
    _ evidence: [Double], _ rows: [LabelledPath], _ folds: [[Int]]
  ) -> Double {
    let (used, weights) = thinned(rows, folds)
    var scale = 1.0
    for _ in 0..<50 {
      var (slope, curvature) = (0.0, 1e-9)
      for (row, weight) in zip(used, weights) {
        let part = 1 / (1 + exp(-scale * evidence[row]))
        slope += weight * evidence[row] * ((rows[row].isBlocked ? 1 : 0) - part)
        curvature += weight * evidence[row] * evidence[row] * part * (1 - part)
      }
      let step = max(-0.3, min(0.3, slope / curvature))
      scale = max(0.05, min(1.5, scale + step))
      if abs(step) < 1e-6 { break }
    }
    return scale
  }

  /// Returns the errors on blocked paths minus the median error on free paths of the same room.
  private static func excess(_ rows: [LabelledPath], _ folds: [[Int]]) -> PathModel.Excess? {
    let rooms = folds.compactMap { fold -> [Double]? in
      func errors(_ isBlocked: Bool) -> [Double] {
        fold.filter { rows[$0].isBlocked == isBlocked }.compactMap { rows[$0].error }
          .filter(\.isFinite)
      }
      let (free, blocked) = (errors(false), errors(true))
      guard !free.isEmpty, !blocked.isEmpty else { return nil }
      let usual = free.quantile(0.5)
      let all = blocked.map { $0 - usual }
      // Errors of failed exchanges are excluded, as the gate of a filter rejects them.
      let limit = 4 * max(0.05, all.map { abs($0) }.quantile(0.75))
      return all.filter { abs($0) <= limit }
    }
    guard !rooms.isEmpty else { return nil }
    func average(_ value: (Double) -> Double) -> Double {
      let means = rooms.map { $0.reduce(0) { $0 + value($1) } / Double($0.count) }
      return means.reduce(0, +) / Double(means.count)
    }
    let mean = max(0, average { $0 })
    return PathModel.Excess(
      mean: mean, deviation: average { ($0 - mean) * ($0 - mean) }.squareRoot())
  }
}
