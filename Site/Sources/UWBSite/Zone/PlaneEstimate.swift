// SPDX-License-Identifier: Apache-2.0

/// A place in the plane with its covariance.
package struct PlaneEstimate: Sendable, Hashable {
  /// The mean in metres.
  package var mean: SIMD2<Double>
  /// The variances and the covariance in m².
  package var xx: Double
  package var xy: Double
  package var yy: Double

  package init(mean: SIMD2<Double>, xx: Double, xy: Double = 0, yy: Double) {
    (self.mean, self.xx, self.xy, self.yy) = (mean, xx, xy, yy)
  }

  /// Creates an estimate with a circular deviation.
  package init(mean: SIMD2<Double>, deviation: Double) {
    self.init(mean: mean, xx: deviation * deviation, yy: deviation * deviation)
  }

  /// Whether the numbers are finite and the covariance is positive definite.
  var isUsable: Bool {
    mean.x.isFinite && mean.y.isFinite && xx > 0 && yy > 0 && xx * yy > xy * xy
      && xx.isFinite && yy.isFinite
  }

  /// The standard deviation along the longest axis of the ellipse.
  var largestDeviation: Double {
    let half = (xx + yy) / 2
    let difference = (xx - yy) / 2
    return (half + (difference * difference + xy * xy).squareRoot()).squareRoot()
  }

  /// Returns the standard deviation along a unit vector.
  func deviation(along direction: SIMD2<Double>) -> Double {
    let variance =
      xx * direction.x * direction.x + 2 * xy * direction.x * direction.y
      + yy * direction.y * direction.y
    return max(0, variance).squareRoot()
  }

  /// Maps a point to coordinates in which the estimate is a standard normal variable.
  func whitened(_ point: SIMD2<Double>) -> SIMD2<Double> {
    let l11 = xx.squareRoot()
    let l21 = xy / l11
    let l22 = (yy - l21 * l21).squareRoot()
    let x = (point.x - mean.x) / l11
    return SIMD2(x, (point.y - mean.y - l21 * x) / l22)
  }
}
