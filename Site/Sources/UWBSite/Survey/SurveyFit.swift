// SPDX-License-Identifier: Apache-2.0

/// The normal equations of a survey at a state: the information, and the slope of the cost.
///
/// The unknowns are x and y of each anchor, the common delay, and the delay of each anchor.
struct SurveyInformation: Sendable {
  var matrix: Matrix
  var slope: [Double]
  /// The weight of each pair between 0 and 1.
  var weights: [Double]
}

extension SurveyModel {
  var unknowns: Int { 3 * count + 1 }
  var commonIndex: Int { 2 * count }

  /// Returns the unknowns on which a range depends, with the derivatives of the distance.
  func derivatives(_ index: Int, _ state: SurveyState) -> [(unknown: Int, value: Double)] {
    let pair = pairs[index]
    let (difference, distance, _) = residual(index, state)
    let unit = difference / distance
    let (i, j) = (pair.first, pair.second)
    return [
      (2 * i, unit.x), (2 * i + 1, unit.y), (2 * j, -unit.x), (2 * j + 1, -unit.y),
      (commonIndex, 1), (commonIndex + 1 + i, 1), (commonIndex + 1 + j, 1),
    ]
  }

  func information(_ state: SurveyState) -> SurveyInformation {
    var matrix = Matrix(rows: unknowns, columns: unknowns)
    var slope = Array(repeating: 0.0, count: unknowns)
    var weights: [Double] = []
    weights.reserveCapacity(pairs.count)
    for index in pairs.indices {
      let excess = residual(index, state).excess
      let weight = loss(excess, variances[index].squareRoot()).weight
      weights.append(weight)
      let scale = weight / variances[index]
      let terms = derivatives(index, state)
      for (row, left) in terms {
        slope[row] += scale * left * excess
        for (column, right) in terms { matrix[row, column] += scale * left * right }
      }
    }
    addPriors(state, &matrix, &slope)
    if let (links, reach) = links { links.add(state.positions, reach, to: &matrix, &slope) }
    tether?.add(state.positions, to: &matrix, &slope)
    return SurveyInformation(matrix: matrix, slope: slope, weights: weights)
  }

  private func addPriors(_ state: SurveyState, _ matrix: inout Matrix, _ slope: inout [Double]) {
    func add(_ index: Int, _ deviation: Double, _ difference: Double) {
      let information = 1 / (deviation * deviation)
      matrix[index, index] += information
      slope[index] += information * difference
    }
    for (index, anchor) in anchors.enumerated() {
      if let rough = anchor.rough {
        let difference = rough.position - state.positions[index]
        add(2 * index, rough.deviation, difference.x)
        add(2 * index + 1, rough.deviation, difference.y)
      }
      let own = commonIndex + 1 + index
      if hasOwnDelays, anchor.delayDeviation > 0 {
        add(own, anchor.delayDeviation, anchor.delay - state.delays[index])
      } else {
        fix(own, &matrix, &slope)
      }
    }
    if commonDelayDeviation > 0 {
      add(commonIndex, commonDelayDeviation, -state.common)
    } else {
      fix(commonIndex, &matrix, &slope)
    }
  }

  /// Removes an unknown from the equations.
  private func fix(_ index: Int, _ matrix: inout Matrix, _ slope: inout [Double]) {
    for other in 0..<unknowns {
      matrix[index, other] = 0
      matrix[other, index] = 0
    }
    matrix[index, index] = 1
    slope[index] = 0
  }

  /// Minimises the cost, from a start to the next minimum.
  func fit(_ start: SurveyState, steps: Int = 40) -> (state: SurveyState, cost: Double) {
    var descent = Descent(from: start, cost: cost(start))
    descent.follow(steps: steps, cost: cost) { state in
      let information = information(state)
      return { damping in
        var damped = information.matrix
        for index in 0..<unknowns {
          damped[index, index] += damping * (damped[index, index] + 1e-6)
        }
        return Cholesky(damped).map { moved(state, $0.solve(information.slope)) }
      }
    }
    return (descent.state, descent.cost)
  }

  private func moved(_ state: SurveyState, _ change: [Double]) -> SurveyState {
    var next = state
    for index in 0..<count {
      next.positions[index] += SIMD2(change[2 * index], change[2 * index + 1])
      next.delays[index] += change[commonIndex + 1 + index]
    }
    next.common += change[commonIndex]
    return next
  }
}
