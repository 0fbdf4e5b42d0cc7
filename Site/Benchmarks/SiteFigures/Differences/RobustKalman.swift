// SPDX-License-Identifier: Apache-2.0

import Foundation
import UWBSite

/// The textbook's filter of differences: constant velocity with a noise of acceleration, and
/// weights that fall with the innovation. It has the whole variance of slow errors as noise.
struct RobustKalman {
  private(set) var position: SIMD3<Double>
  private var velocity = SIMD3<Double>.zero
  private var p: [[Double]]
  private var time: Double
  /// The spectral density of the acceleration in m²/s³.
  private let density: Double

  init(at place: SIMD3<Double>, _ time: Double, density: Double) {
    (position, self.time, self.density) = (place, time, density)
    p = (0..<6).map { row in (0..<6).map { $0 == row ? 1 : 0 } }
  }

  /// One standard deviation along each axis.
  var deviation: SIMD3<Double> {
    SIMD3(p[0][0].squareRoot(), p[1][1].squareRoot(), p[2][2].squareRoot())
  }

  mutating func update(
    _ measurement: TagMeasurement, _ anchors: [SIMD3<Double>], variance noise: Double
  ) {
    guard case .difference(let first, let second) = measurement.kind else { return }
    advance(to: measurement.time)
    let (near, far) = (position - anchors[first], position - anchors[second])
    let lengths = ((near * near).sum().squareRoot(), (far * far).sum().squareRoot())
    let gradient = far / lengths.1 - near / lengths.0
    let column = (0..<6).map { row in
      p[row][0] * gradient.x + p[row][1] * gradient.y + p[row][2] * gradient.z
    }
    let own = column[0] * gradient.x + column[1] * gradient.y + column[2] * gradient.z
    let innovation = measurement.value - (lengths.1 - lengths.0)
    let scaled = abs(innovation) / (own + noise).squareRoot()
    guard scaled < 4 else { return }
    // Huber's weights.
    let variance = own + noise * max(1, scaled / 1.5)
    for axis in 0..<3 {
      position[axis] += column[axis] / variance * innovation
      velocity[axis] += column[axis + 3] / variance * innovation
    }
    for row in 0..<6 {
      for other in 0..<6 { p[row][other] -= column[row] * column[other] / variance }
    }
  }

  private mutating func advance(to next: Double) {
    let dt = max(0, next - time)
    time = next
    position += dt * velocity
    for axis in 0..<3 {
      for column in 0..<6 { p[axis][column] += dt * p[axis + 3][column] }
    }
    for axis in 0..<3 {
      for row in 0..<6 { p[row][axis] += dt * p[row][axis + 3] }
      p[axis][axis] += density * dt * dt * dt / 3
      p[axis][axis + 3] += density * dt * dt / 2
      p[axis + 3][axis] += density * dt * dt / 2
      p[axis + 3][axis + 3] += density * dt
    }
  }
}
