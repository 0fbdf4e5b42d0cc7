// SPDX-License-Identifier: Apache-2.0

/// What one measurement says of a place.
public struct PlaceObservation: Sendable, Hashable {
  /// What was measured.
  public enum Kind: Sendable, Hashable {
    /// The distance to an anchor.
    case range(Vector3)
    /// The distance to the second anchor less that to the first.
    case difference(Vector3, Vector3)
  }
  /// What was measured, to which anchors.
  public var kind: Kind
  /// Metres.
  public var value: Double
  /// One standard deviation in metres, greater than 0.
  public var standardDeviation: Double

  /// From its parts.
  public init(_ kind: Kind, _ value: Double, standardDeviation: Double = 0.15) {
    self.kind = kind
    self.value = value
    self.standardDeviation = standardDeviation
  }

  /// What would be measured at a place, and how it changes with the place.
  func expected(at place: Vector3) -> (value: Double, gradient: Vector3) {
    func distance(_ anchor: Vector3) -> (Double, Vector3) {
      let arm = place - anchor
      let length = max(arm.length, 1e-6)
      return (length, arm * (1 / length))
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

  var anchors: [Vector3] {
    switch kind {
    case .range(let anchor): [anchor]
    case .difference(let first, let second): [first, second]
    }
  }
}

/// What is known of the height before anything is measured.
public struct HeightPrior: Sendable, Hashable {
  /// Metres.
  public var height: Double
  /// One standard deviation in metres; very small: the height is known.
  public var standardDeviation: Double

  /// From its parts.
  public init(_ height: Double, standardDeviation: Double) {
    self.height = height
    self.standardDeviation = standardDeviation
  }
}
