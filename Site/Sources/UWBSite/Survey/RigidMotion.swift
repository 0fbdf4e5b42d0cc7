// SPDX-License-Identifier: Apache-2.0

/// A motion of the plane that keeps all distances: a turn, a shift, and perhaps a mirror image.
package struct RigidMotion: Sendable, Hashable {
  package var isMirrored = false
  package var cosine = 1.0
  package var sine = 0.0
  var shift = SIMD2<Double>.zero

  /// Returns `vector` after the mirror image and the turn, without the shift.
  func turned(_ vector: SIMD2<Double>) -> SIMD2<Double> {
    let y = isMirrored ? -vector.y : vector.y
    return SIMD2(cosine * vector.x - sine * y, sine * vector.x + cosine * y)
  }

  package func callAsFunction(_ point: SIMD2<Double>) -> SIMD2<Double> { turned(point) + shift }

  /// Finds the motion that brings `points` nearest to `targets` in the sense of least squares.
  init(
    from points: [SIMD2<Double>], to targets: [SIMD2<Double>], weights: [Double]? = nil,
    isMirrored: Bool
  ) {
    let weights = weights ?? Array(repeating: 1, count: points.count)
    let total = max(weights.reduce(0, +), 1e-300)
    func mean(_ values: [SIMD2<Double>]) -> SIMD2<Double> {
      zip(values, weights).reduce(.zero) { $0 + $1.0 * $1.1 } / total
    }
    let (center, target) = (mean(points), mean(targets))
    var (along, across) = (0.0, 0.0)
    for (index, weight) in weights.enumerated() {
      var p = points[index] - center
      if isMirrored { p.y = -p.y }
      let q = targets[index] - target
      along += weight * (p.x * q.x + p.y * q.y)
      across += weight * (p.x * q.y - p.y * q.x)
    }
    let length = (along * along + across * across).squareRoot()
    self.isMirrored = isMirrored
    if length > 0 { (cosine, sine) = (along / length, across / length) }
    shift = target - turned(center)
  }

  init() {}

  /// Finds the motion that brings points nearest to targets, with a mirror image only if that
  /// brings the points nearer.
  package static func nearest(
    from points: [SIMD2<Double>], to targets: [SIMD2<Double>], weights: [Double]? = nil
  ) -> RigidMotion {
    let both = [false, true].map {
      RigidMotion(from: points, to: targets, weights: weights, isMirrored: $0)
    }
    let costs = both.map { motion in
      points.indices.reduce(0.0) { sum, index in
        sum + (weights?[index] ?? 1) * (motion(points[index]) - targets[index]).lengthSquared
      }
    }
    return costs[0] <= costs[1] ? both[0] : both[1]
  }
}

extension SIMD2<Double> {
  var lengthSquared: Double { (self * self).sum() }
  var length: Double { lengthSquared.squareRoot() }
  /// The vector after a turn to the left by 90 degrees.
  var normal: SIMD2<Double> { SIMD2(-y, x) }
  func dot(_ other: SIMD2<Double>) -> Double { (self * other).sum() }
}
