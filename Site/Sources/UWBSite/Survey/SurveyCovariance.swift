// SPDX-License-Identifier: Apache-2.0

/// The uncertainty of the places of a survey, and the contribution of each range.
///
/// Without rough places, inner constraints apply: they fix place and heading of the whole shape so
/// that the variance is least.
struct SurveyCovariance: Sendable {
  /// The covariance of x and y of each anchor, in m².
  private(set) var places: Matrix
  /// The covariance of all unknowns, without the effect of undetected blocked paths.
  private(set) var unknowns: Matrix
  /// The probability that each pair's path was blocked.
  private(set) var blocked: [Double] = []

  /// The prior probability that a path is blocked.
  static let blockedShare = 0.1
  /// The mean length of a detour in metres.
  static let meanDetour = 0.7

  init(_ model: SurveyModel, _ state: SurveyState) {
    let information = model.information(state)
    let gauge = Self.gauge(state.positions, size: model.unknowns)
    var matrix = information.matrix
    for index in 0..<model.unknowns { matrix[index, index] += 1e-6 }
    if !model.hasRoughPlaces {
      Self.add(gauge, 1e6, to: &matrix)
    }
    if let factor = Cholesky(matrix) {
      unknowns = factor.inverse
      if !model.hasRoughPlaces { Self.constrain(&unknowns, gauge) }
    } else {
      // If the matrix cannot be inverted, the unknowns have a large variance, rather than none.
      unknowns = Matrix(diagonal: Array(repeating: 1e6, count: model.unknowns))
    }
    places = Self.block(unknowns, 2 * model.count)
    addHiddenExcess(model, state, information.weights)
  }

  /// Returns the logarithm of the determinant of the information about the shape alone.
  ///
  /// Returns nil if the information is not positive definite, so that the shape has no volume.
  static func logDeterminant(_ model: SurveyModel, _ state: SurveyState) -> Double? {
    var matrix = model.information(state).matrix
    for index in 0..<model.unknowns { matrix[index, index] += 1e-2 }
    if !model.hasRoughPlaces { add(gauge(state.positions, size: model.unknowns), 1e6, to: &matrix) }
    return Cholesky(matrix)?.logDeterminant
  }

  /// Returns the unit vectors of all unknowns that shift and rotate the whole shape.
  static func gauge(_ positions: [SIMD2<Double>], size: Int) -> [[Double]] {
    let mean = positions.reduce(.zero, +) / Double(max(positions.count, 1))
    var result = Array(repeating: Array(repeating: 0.0, count: size), count: 3)
    for (index, position) in positions.enumerated() {
      let offset = position - mean
      result[0][2 * index] = 1
      result[1][2 * index + 1] = 1
      (result[2][2 * index], result[2][2 * index + 1]) = (-offset.y, offset.x)
    }
    return result.map { direction in
      let length = direction.reduce(0) { $0 + $1 * $1 }.squareRoot()
      return direction.map { $0 / max(length, 1e-9) }
    }
  }

  static func add(_ gauge: [[Double]], _ factor: Double, to matrix: inout Matrix) {
    for direction in gauge {
      for (row, left) in direction.enumerated() where left != 0 {
        for (column, right) in direction.enumerated() {
          matrix[row, column] += factor * left * right
        }
      }
    }
  }

  /// Removes the movements of the whole shape from a covariance.
  static func constrain(_ covariance: inout Matrix, _ gauge: [[Double]]) {
    var projection = Matrix.identity(covariance.rows)
    add(gauge, -1, to: &projection)
    covariance = projection * covariance * projection
  }

  static func block(_ matrix: Matrix, _ size: Int) -> Matrix {
    var result = Matrix(rows: size, columns: size)
    for row in 0..<size {
      for column in 0..<size { result[row, column] = matrix[row, column] }
    }
    return result
  }

  // MARK: hidden excesses

  /// Adds the errors of blocked paths that no residual reveals.
  ///
  /// A range that other ranges hardly check may be too long without any sign. Its possible excess
  /// moves the places in proportion to the range's influence. The excess is weighted by its
  /// probability, given all other ranges.
  private mutating func addHiddenExcess(
    _ model: SurveyModel, _ state: SurveyState, _ weights: [Double]
  ) {
    for index in model.pairs.indices {
      let terms = model.derivatives(index, state)
      let influence = (0..<model.unknowns).map { row in
        terms.reduce(0) { $0 + unknowns[row, $1.unknown] * $1.value }
      }
      let variance = terms.reduce(0) { $0 + influence[$1.unknown] * $1.value }
      let excess = Self.hiddenExcess(
        residual: model.residual(index, state).excess, weight: weights[index],
        variance: model.variances[index], modelVariance: variance)
      blocked.append(excess.probability)
      let gain = weights[index] / model.variances[index]
      let scale = excess.square * gain * gain
      guard scale > 0 else { continue }
      for row in 0..<places.rows {
        let left = scale * influence[row]
        for column in 0..<places.columns { places[row, column] += left * influence[column] }
      }
    }
  }

  /// Returns the probability that a range has an excess, and the mean square of the excess.
  ///
  /// Both are given the prediction from the other ranges.
  static func hiddenExcess(
    residual: Double, weight: Double, variance: Double, modelVariance: Double
  ) -> (probability: Double, square: Double) {
    let leverage = min(max(modelVariance, 0) * weight / variance, 0.999)
    let predicted = residual / (1 - leverage)
    let spread = 2 * (variance + max(modelVariance, 0) / (1 - leverage))
    let open = (1 - blockedShare) * Math.exp(-predicted * predicted / spread)
    var (total, square) = (0.0, 0.0)
    let step = 0.05
    for index in 0..<80 {
      let excess = (Double(index) + 0.5) * step
      let rest = predicted - excess
      let density =
        blockedShare * step / meanDetour * Math.exp(-excess / meanDetour - rest * rest / spread)
      total += density
      square += density * excess * excess
    }
    let sum = max(open + total, 1e-300)
    return (total / sum, square / sum)
  }

  /// Returns the variance of a weighted sum of unknowns.
  func variance(of terms: [(unknown: Int, value: Double)]) -> Double {
    terms.reduce(0) { sum, left in
      sum + left.value * terms.reduce(0) { $0 + unknowns[left.unknown, $1.unknown] * $1.value }
    }
  }

  // MARK: ellipses

  /// Returns the ellipse of one anchor.
  func ellipse(_ anchor: Int) -> PlaceEllipse {
    PlaceEllipse(
      xx: places[2 * anchor, 2 * anchor], xy: places[2 * anchor, 2 * anchor + 1],
      yy: places[2 * anchor + 1, 2 * anchor + 1])
  }

  /// Converts the covariance to other coordinates.
  mutating func transform(by transformation: Matrix) {
    places = transformation * places * transformation.transposed
  }

  /// Adds the possibility that all places differ by `change`.
  mutating func add(_ change: [SIMD2<Double>], probability: Double) {
    let steps = change.flatMap { [$0.x, $0.y] }
    for (row, left) in steps.enumerated() {
      for (column, right) in steps.enumerated() {
        places[row, column] += probability * left * right
      }
    }
  }
}

/// The covariance of a place in the plane, in m².
package struct PlaceEllipse: Sendable, Hashable {
  package var xx: Double
  package var xy: Double
  package var yy: Double

  /// The standard deviations along the axes of the ellipse, the larger one first.
  package var axes: (major: Double, minor: Double) {
    let mean = (xx + yy) / 2
    let half = (((xx - yy) / 2) * ((xx - yy) / 2) + xy * xy).squareRoot()
    return (max(mean + half, 0).squareRoot(), max(mean - half, 0).squareRoot())
  }

  /// Returns the squared Mahalanobis distance of an error.
  package func squaredDeviations(_ error: SIMD2<Double>) -> Double {
    let determinant = max(xx * yy - xy * xy, 1e-300)
    return (yy * error.x * error.x - 2 * xy * error.x * error.y + xx * error.y * error.y)
      / determinant
  }
}
