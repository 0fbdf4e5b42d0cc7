// SPDX-License-Identifier: Apache-2.0

internal import Ranging

/// One measurement that depends on a position.
package struct PositionObservation: Sendable, Hashable {
  /// The measured quantity, with the positions of the anchors in metres.
  package enum Kind: Sendable, Hashable {
    /// The distance to an anchor.
    case range(SIMD3<Double>)
    /// The distance to the second anchor minus the distance to the first.
    case difference(SIMD3<Double>, SIMD3<Double>)
  }
  package var kind: Kind
  /// The measured value in metres.
  package var value: Double
  /// One standard deviation in metres, greater than 0.
  package var standardDeviation: Double

  /// Creates an observation of `value` metres.
  package init(_ kind: Kind, _ value: Double, standardDeviation: Double = 0.15) {
    self.kind = kind
    self.value = value
    self.standardDeviation = standardDeviation
  }

  /// Returns the expected measurement at a position, and its gradient there.
  func expected(at position: SIMD3<Double>) -> (value: Double, gradient: SIMD3<Double>) {
    func distance(_ anchor: SIMD3<Double>) -> (Double, SIMD3<Double>) {
      let (x, y, z) = (position.x - anchor.x, position.y - anchor.y, position.z - anchor.z)
      let length = max((x * x + y * y + z * z).squareRoot(), 1e-6)
      let scale = 1 / length
      return (length, SIMD3<Double>(x * scale, y * scale, z * scale))
    }
    switch kind {
    case .range(let anchor):
      let (value, gradient) = distance(anchor)
      return (value, gradient)
    case .difference(let first, let second):
      let (a, b) = (distance(first), distance(second))
      return (b.0 - a.0, b.1 - a.1)
    }
  }

  var anchors: [SIMD3<Double>] {
    switch kind {
    case .range(let anchor): [anchor]
    case .difference(let first, let second): [first, second]
    }
  }
}

/// The prior of the height.
package struct HeightPrior: Sendable, Hashable {
  /// The height in metres.
  package var height: Double
  /// One standard deviation in metres; very small if the height is known.
  package var standardDeviation: Double

  /// Creates a prior of `height` metres.
  package init(_ height: Double, standardDeviation: Double) {
    self.height = height
    self.standardDeviation = standardDeviation
  }
}
