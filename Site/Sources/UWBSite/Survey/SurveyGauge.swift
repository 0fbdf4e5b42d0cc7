// SPDX-License-Identifier: Apache-2.0

/// The frame in which the places of a survey are stated.
///
/// Ranges determine only a shape. The user chooses its place, heading and handedness.
package enum SurveyGauge: Sendable, Hashable {
  /// The frame with the centre of the anchors at the origin, and their longest extent along x. A
  /// mirror image is the same shape.
  case shape
  /// The frame with the known place of an anchor, the direction to a second anchor, and the side of
  /// a third anchor.
  case line(Line)
  /// The frame of the rough places of anchors.
  case places

  package struct Line: Sendable, Hashable {
    package var anchor: Int
    package var position: SIMD2<Double>
    package var toward: Int
    /// The direction of `toward` from `anchor`, in radians to the left of the x axis.
    package var heading: Double
    /// Whether `heading` follows from a known place of `toward`.
    package var towardIsKnown = false
    /// An anchor to the left or right of the line; nil if the mirror image remains possible.
    package var side: Side?

    package struct Side: Sendable, Hashable {
      package var anchor: Int
      package var isLeft: Bool

      package init(_ anchor: Int, isLeft: Bool) { (self.anchor, self.isLeft) = (anchor, isLeft) }
    }

    package init(
      _ anchor: Int, at position: SIMD2<Double>, toward: Int, heading: Double, side: Side? = nil
    ) {
      (self.anchor, self.position, self.toward) = (anchor, position, toward)
      (self.heading, self.side) = (heading, side)
    }
  }

  /// Returns the frame of two anchors with known places.
  ///
  /// Only the direction to the second anchor is used.
  package static func anchors(
    _ first: Int, at start: SIMD2<Double>, _ second: Int, at end: SIMD2<Double>,
    side: Line.Side? = nil
  ) -> SurveyGauge {
    let direction = end - start
    var line = Line(
      first, at: start, toward: second, heading: Math.atan2(direction.y, direction.x), side: side)
    line.towardIsKnown = true
    return .line(line)
  }
}

extension SurveyGauge {
  /// Returns the motion from the frame of a fit to this frame.
  func motion(_ positions: [SIMD2<Double>]) -> RigidMotion {
    switch self {
    case .places: return RigidMotion()
    case .shape:
      let (mean, direction) = FoldSearch.principalLine(positions)
      return Self.motion(of: mean, along: direction, to: .zero, heading: 0, isMirrored: false)
    case .line(let line):
      let start = positions[line.anchor]
      let along = positions[line.toward] - start
      var isMirrored = false
      if let side = line.side {
        let isLeft = (positions[side.anchor] - start).dot(along.normal) > 0
        isMirrored = isLeft != side.isLeft
      }
      return Self.motion(
        of: start, along: along, to: line.position, heading: line.heading, isMirrored: isMirrored)
    }
  }

  private static func motion(
    of point: SIMD2<Double>, along direction: SIMD2<Double>, to target: SIMD2<Double>,
    heading: Double, isMirrored: Bool
  ) -> RigidMotion {
    var motion = RigidMotion()
    motion.isMirrored = isMirrored
    let from = Math.atan2(isMirrored ? -direction.y : direction.y, direction.x)
    motion.cosine = Math.cos(heading - from)
    motion.sine = Math.sin(heading - from)
    motion.shift = target - motion.turned(point)
    return motion
  }

  /// Returns the matrix that converts a covariance from inner constraints to this frame.
  ///
  /// In this frame, the errors of the known anchor and direction become errors of all other
  /// anchors.
  func transformation(_ positions: [SIMD2<Double>]) -> Matrix {
    let size = 2 * positions.count
    var result = Matrix.identity(size)
    guard case .line(let line) = self else { return result }
    let start = positions[line.anchor]
    let along = positions[line.toward] - start
    let across = along.normal / max(along.lengthSquared, 1e-12)
    for (index, position) in positions.enumerated() {
      let lever = (position - start).normal
      for axis in 0..<2 {
        let row = 2 * index + axis
        result[row, 2 * line.anchor + axis] -= 1
        // The error of the direction becomes a rotation about the known anchor.
        for column in 0..<2 {
          result[row, 2 * line.toward + column] -= lever[axis] * across[column]
          result[row, 2 * line.anchor + column] += lever[axis] * across[column]
        }
      }
    }
    return result
  }
}

extension RigidMotion {
  /// Returns the matrix of the rotation, for a covariance of places.
  func transformation(count: Int) -> Matrix {
    var result = Matrix(rows: 2 * count, columns: 2 * count)
    let (x, y) = (turned(SIMD2(1, 0)), turned(SIMD2(0, 1)))
    for index in 0..<count {
      result[2 * index, 2 * index] = x.x
      result[2 * index + 1, 2 * index] = x.y
      result[2 * index, 2 * index + 1] = y.x
      result[2 * index + 1, 2 * index + 1] = y.y
    }
    return result
  }
}
