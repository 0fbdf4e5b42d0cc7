// SPDX-License-Identifier: Apache-2.0

/// Uncertainty beyond a single shape and its straight movements.
extension SurveyCovariance {
  /// The variance in m² above which a movement is followed, as it is no longer straight.
  private static let loose = 1.0

  /// Limits the variance of loose movements to the way that the ranges permit.
  ///
  /// Anchors in a line hold a movement across it only by the curvature of the distances, which
  /// straight movements do not have.
  mutating func limit(_ model: SurveyModel, _ state: SurveyState) {
    let eigen = SymmetricEigen(places)
    for column in 0..<places.rows where eigen.values[column] > Self.loose {
      let direction = (0..<model.count).map {
        SIMD2(eigen.vectors[2 * $0, column], eigen.vectors[2 * $0 + 1, column])
      }
      let most = eigen.values[column].squareRoot()
      let extent = model.extent(direction, state, most: most)
      add(direction, probability: extent * extent - eigen.values[column])
    }
  }

  /// Adds the other shapes that the ranges do not exclude.
  mutating func add(_ ambiguity: SurveyAmbiguity, _ places: [SIMD2<Double>]) {
    if case .hinge(let joint) = ambiguity.kind {
      addTurns(ambiguity.anchors, about: places[joint], places)
    } else if !ambiguity.alternative.isEmpty {
      let change = zip(ambiguity.alternative, places).map { $0 - $1 }
      add(change, probability: 1 / (1 + Math.exp(ambiguity.cost / 2)))
    }
  }

  /// Adds the turn of a group about a point: each angle is equally likely.
  ///
  /// The mean over all angles of a product of two turned vectors is half of their scalar product in
  /// each axis, and half of their cross product between the axes.
  private mutating func addTurns(
    _ group: [Int], about point: SIMD2<Double>, _ positions: [SIMD2<Double>]
  ) {
    var (x, y, still) = (positions, positions, positions)
    for anchor in positions.indices {
      (x[anchor], y[anchor], still[anchor]) = (.zero, .zero, .zero)
    }
    for anchor in group {
      let arm = positions[anchor] - point
      (x[anchor], y[anchor], still[anchor]) = (arm, arm.normal, arm)
    }
    add(x, probability: 0.5)
    add(y, probability: 0.5)
    add(still, probability: 1)
  }
}

extension SurveyModel {
  /// A spring that holds a movement of all anchors at a length.
  struct Tether: Sendable {
    static let deviation = 0.02
    var direction: [SIMD2<Double>]
    var origin: [SIMD2<Double>]
    var length: Double

    /// Returns the missing length, in deviations of the spring.
    func rest(_ positions: [SIMD2<Double>]) -> Double {
      let moved = positions.indices.reduce(0) {
        $0 + (positions[$1] - origin[$1]).dot(direction[$1])
      }
      return (length - moved) / Self.deviation
    }

    func add(_ positions: [SIMD2<Double>], to matrix: inout Matrix, _ slope: inout [Double]) {
      let terms = direction.flatMap { [$0.x / Self.deviation, $0.y / Self.deviation] }
      let rest = rest(positions)
      for (row, left) in terms.enumerated() {
        slope[row] += left * rest
        for (column, right) in terms.enumerated() { matrix[row, column] += left * right }
      }
    }
  }

  /// Returns the length in metres of a movement that is one deviation less likely than a state, as
  /// the mean square of both directions.
  ///
  /// - Parameter most: the length at which the search ends.
  func extent(_ direction: [SIMD2<Double>], _ state: SurveyState, most: Double) -> Double {
    let squares = [1.0, -1].map { sign in
      let length = extent(direction.map { sign * $0 }, from: state, most: most)
      return length * length
    }
    return ((squares[0] + squares[1]) / 2).squareRoot()
  }

  private func extent(
    _ direction: [SIMD2<Double>], from state: SurveyState, most: Double
  ) -> Double {
    var model = self
    var (near, far, last, shape) = (0.0, min(0.5, most), 0.0, state)
    let least = cost(state)
    while true {
      model.tether = Tether(direction: direction, origin: state.positions, length: far)
      for index in shape.positions.indices {
        shape.positions[index] += (far - near) * direction[index]
      }
      shape = model.fit(shape).state
      let rise = max(0, model.cost(shape) - least).squareRoot()
      // The square root of the cost is nearly straight.
      if rise >= 1 { return near + (far - near) * (1 - last) / max(rise - last, 1e-9) }
      if far >= most { return most }
      (near, far, last) = (far, min(2 * far, most), rise)
    }
  }
}
