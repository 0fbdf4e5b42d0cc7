// SPDX-License-Identifier: Apache-2.0

/// The unknowns of a walk.
struct WalkState: Sendable, Hashable {
  var anchors: [SIMD2<Double>]
  /// The constant error of each pair of anchor and tag, caused by reflections near both.
  var errors: [Double]
  /// The error of the delay that was subtracted.
  var delay = 0.0
  var places: [SIMD2<Double>]
  var headings: [Double]
}

/// The ranges of a walk, and the errors that are assumed.
struct WalkModel: Sendable {
  var poses: [WalkPose]
  var offsets: [SIMD2<Double>]
  var count: Int
  /// The squared difference of heights of each anchor with each tag.
  var rises: [Double]
  var deviation = 0.08
  /// The share of independent ranges. Errors at neighbouring places of the rig are similar.
  var independence = 1.0
  /// The inverse covariance of the constant errors of all pairs of anchor and tag.
  private let errorInformation: Matrix
  /// The deviation of the delay that is subtracted from all ranges.
  var delayDeviation = 0.03

  /// The deviations of constant errors: reflections near an anchor and a tag, and the delay of each
  /// board, which all of its ranges share.
  private static let deviations = (pair: 0.05, anchor: 0.05, tag: 0.05)

  init(poses: [WalkPose], offsets: [SIMD2<Double>], count: Int, rises: [Double]) {
    (self.poses, self.offsets, self.count, self.rises) = (poses, offsets, count, rises)
    let (tags, size) = (offsets.count, count * offsets.count)
    var covariance = Matrix(rows: size, columns: size)
    for row in 0..<size {
      for column in 0..<size {
        func square(_ deviation: Double, if isShared: Bool) -> Double {
          isShared ? deviation * deviation : 0
        }
        covariance[row, column] =
          square(Self.deviations.pair, if: row == column)
          + square(Self.deviations.anchor, if: row / tags == column / tags)
          + square(Self.deviations.tag, if: row % tags == column % tags)
      }
    }
    errorInformation = Cholesky(covariance)?.inverse ?? Matrix.identity(size)
  }

  var tags: Int { offsets.count }
  /// The number of unknowns besides the poses: places of anchors, errors of pairs, and the delay.
  var globals: Int { 2 * count + count * tags + 1 }

  private func errorIndex(_ range: WalkPose.Range) -> Int { range.anchor * tags + range.tag }

  /// Returns the vector from anchor to tag, the lever arm of the tag, and the excess of the range.
  func residual(
    _ range: WalkPose.Range, _ pose: Int, _ state: WalkState
  ) -> (unit: SIMD2<Double>, lever: SIMD2<Double>, excess: Double) {
    let heading = state.headings[pose]
    let offset = offsets[range.tag]
    let lever = Math.cos(heading) * offset + Math.sin(heading) * offset.normal
    let difference = state.places[pose] + lever - state.anchors[range.anchor]
    let error = errorIndex(range)
    let length = max((difference.lengthSquared + rises[error]).squareRoot(), 1e-9)
    let excess = range.distance - length - state.errors[error] - state.delay
    return (difference / length, lever, excess)
  }

  /// Returns the cost and the weight of an excess, as in a survey between anchors.
  private func loss(_ excess: Double) -> (cost: Double, weight: Double) {
    let ratio = excess / deviation
    let width = ratio > 0 ? 4.0 : 16.0
    let part = 1 + ratio * ratio / width
    return (width * Math.log(part), 1 / part)
  }

  func cost(_ state: WalkState) -> Double {
    var sum = state.delay * state.delay / (delayDeviation * delayDeviation)
    for (error, pull) in zip(state.errors, errorInformation * state.errors) { sum += error * pull }
    for (index, pose) in poses.enumerated() {
      for range in pose.ranges {
        sum += independence * loss(residual(range, index, state).excess).cost
      }
    }
    return sum
  }

  // MARK: equations

  /// The equations of one pose: its three unknowns, and their products with the global unknowns.
  struct PoseEquations: Sendable {
    var own = Matrix(rows: 3, columns: 3)
    var slope = [0.0, 0, 0]
    /// The products, with a row for each pose unknown and a column for each global unknown.
    var mixed: Matrix
  }

  struct Equations: Sendable {
    var matrix: Matrix
    var slope: [Double]
    var poses: [PoseEquations] = []
  }

  func equations(_ state: WalkState) -> Equations {
    var result = Equations(
      matrix: Matrix(rows: globals, columns: globals),
      slope: Array(repeating: 0, count: globals))
    addPriors(state, &result)
    for (index, pose) in poses.enumerated() {
      var own = PoseEquations(mixed: Matrix(rows: 3, columns: globals))
      for range in pose.ranges { add(range, index, state, &result, &own) }
      result.poses.append(own)
    }
    return result
  }

  private func addPriors(_ state: WalkState, _ equations: inout Equations) {
    for (row, pull) in (errorInformation * state.errors).enumerated() {
      equations.slope[2 * count + row] -= pull
      for column in state.errors.indices {
        equations.matrix[2 * count + row, 2 * count + column] += errorInformation[row, column]
      }
    }
    let information = 1 / (delayDeviation * delayDeviation)
    equations.matrix[globals - 1, globals - 1] += information
    equations.slope[globals - 1] -= information * state.delay
  }

  private func add(
    _ range: WalkPose.Range, _ pose: Int, _ state: WalkState, _ all: inout Equations,
    _ own: inout PoseEquations
  ) {
    let (unit, lever, excess) = residual(range, pose, state)
    let scale = independence * loss(excess).weight / (deviation * deviation)
    let others = [
      (2 * range.anchor, -unit.x), (2 * range.anchor + 1, -unit.y),
      (2 * count + errorIndex(range), 1), (globals - 1, 1),
    ]
    let mine = [unit.x, unit.y, unit.dot(lever.normal)]
    for (row, left) in others {
      all.slope[row] += scale * left * excess
      for (column, right) in others { all.matrix[row, column] += scale * left * right }
    }
    for k in 0..<3 {
      own.slope[k] += scale * mine[k] * excess
      for l in 0..<3 { own.own[k, l] += scale * mine[k] * mine[l] }
      for (column, right) in others { own.mixed[k, column] += scale * mine[k] * right }
    }
  }

  /// Eliminates the poses from the equations; nil if a pose is not determined.
  func reduced(
    _ equations: Equations, damping: Double
  ) -> (matrix: Matrix, slope: [Double], inverses: [Matrix])? {
    var (matrix, slope) = (equations.matrix, equations.slope)
    for index in 0..<globals { matrix[index, index] += damping * matrix[index, index] + 1e-9 }
    var inverses: [Matrix] = []
    for pose in equations.poses {
      var own = pose.own
      for k in 0..<3 { own[k, k] += damping * own[k, k] + 1e-9 }
      guard let inverse = Cholesky(own)?.inverse else { return nil }
      let gain = inverse * pose.mixed
      let active = (0..<globals).filter { column in
        (0..<3).contains { pose.mixed[$0, column] != 0 }
      }
      for row in active {
        for k in 0..<3 {
          let left = pose.mixed[k, row]
          slope[row] -= gain[k, row] * pose.slope[k]
          for column in active { matrix[row, column] -= left * gain[k, column] }
        }
      }
      inverses.append(inverse)
    }
    return (matrix, slope, inverses)
  }

  // MARK: independence

  /// Estimates the number of consecutive residuals of a pair that count as one.
  ///
  /// Sums the autocorrelations up to the first insignificant autocorrelation (Geyer's rule).
  func correlated(_ state: WalkState) -> Double {
    var series: [Int: [Double]] = [:]
    for (index, pose) in poses.enumerated() {
      for range in pose.ranges {
        let limit = 3 * deviation
        let excess = residual(range, index, state).excess
        series[errorIndex(range), default: []].append(min(max(excess, -limit), limit))
      }
    }
    let residuals = series.values.filter { $0.count >= 10 }
    let variance = Self.product(residuals, lag: 0)
    guard variance > 0 else { return 1 }
    var sum = 1.0
    for lag in 1..<max(poses.count / 4, 2) {
      let correlation = Self.product(residuals, lag: lag) / variance
      if correlation < 0.05 { break }
      sum += 2 * correlation
    }
    return sum
  }

  /// Returns the mean product of residuals that are `lag` apart.
  private static func product(_ series: [[Double]], lag: Int) -> Double {
    var (sum, count) = (0.0, 0)
    for values in series where values.count > lag {
      for index in lag..<values.count { sum += values[index] * values[index - lag] }
      count += values.count - lag
    }
    return sum / Double(max(count, 1))
  }

  // MARK: steps

  /// Minimises the cost, from a start to the next minimum.
  func fit(_ start: WalkState, steps: Int = 40) -> (state: WalkState, cost: Double) {
    var descent = Descent(from: start, cost: cost(start))
    descent.follow(steps: steps, cost: cost) { state in
      let equations = equations(state)
      return { damping in
        guard let reduced = reduced(equations, damping: damping),
          let change = Cholesky(reduced.matrix)?.solve(reduced.slope)
        else { return nil }
        return moved(state, change, equations, reduced.inverses)
      }
    }
    return (descent.state, descent.cost)
  }

  private func moved(
    _ state: WalkState, _ change: [Double], _ equations: Equations, _ inverses: [Matrix]
  ) -> WalkState {
    var next = state
    for index in 0..<count {
      next.anchors[index] += SIMD2(change[2 * index], change[2 * index + 1])
    }
    for index in next.errors.indices { next.errors[index] += change[2 * count + index] }
    next.delay += change[globals - 1]
    for (index, pose) in equations.poses.enumerated() {
      let effect = pose.mixed * change
      let step = inverses[index] * (0..<3).map { pose.slope[$0] - effect[$0] }
      next.places[index] += SIMD2(step[0], step[1])
      next.headings[index] += step[2]
    }
    return next
  }
}
