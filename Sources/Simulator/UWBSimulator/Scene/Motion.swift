// SPDX-License-Identifier: Apache-2.0

import Glibc

// Positions and directions in a scene, in metres: x and y on the floor, z up.
extension SIMD3 where Scalar == Double {
  /// Returns the metres in a straight line.
  package func distance(to other: Self) -> Double {
    let (dx, dy, dz) = (other.x - x, other.y - y, other.z - z)
    return (dx * dx + dy * dy + dz * dz).squareRoot()
  }

  /// Returns the direction of `other` in degrees, for an antenna that faces `yaw` (degrees
  /// counterclockwise from the x axis, seen from above).
  ///
  /// - Returns: azimuth -180…180, positive to the right of the antenna's direction; elevation
  ///   -90…90, positive upwards. Both are 0 where the positions coincide.
  package func direction(to other: Self, yaw: Double) -> (azimuth: Double, elevation: Double) {
    let (dx, dy, dz) = (other.x - x, other.y - y, other.z - z)
    let distance = (dx * dx + dy * dy + dz * dz).squareRoot()
    guard distance > 0 else { return (0, 0) }
    let bearing = atan2(dy, dx) * 180 / .pi
    let azimuth = (yaw - bearing).remainder(dividingBy: 360)
    return (azimuth, asin(Swift.max(-1, Swift.min(1, dz / distance))) * 180 / .pi)
  }
}

/// The movement of a chip: a pure function of time. Positions in metres, z up.
public enum Motion: Hashable, Sendable {
  /// The chip stays where it is.
  case still(SIMD3<Double>)
  /// The chip moves in one direction; the velocity is in metres per second along each axis.
  case line(from: SIMD3<Double>, velocity: SIMD3<Double>)
  /// The chip moves smoothly between two positions; `period` is in seconds for both directions.
  case between(SIMD3<Double>, SIMD3<Double>, period: Double)
  /// The chip moves around `centre` at its height, counterclockwise. `radius` is in metres,
  /// `period` in seconds for one turn, `phase` in degrees at the start.
  case circle(centre: SIMD3<Double>, radius: Double, period: Double, phase: Double = 0)

  /// Returns the position at a time in nanoseconds since the start of the scene.
  package func position(at nanoseconds: UInt64) -> SIMD3<Double> {
    let seconds = Double(nanoseconds) * 1e-9
    switch self {
    case .still(let position): return position
    case .line(let start, let velocity): return start + velocity * seconds
    case .between(let a, let b, let period):
      let share = (1 - cos(2 * .pi * seconds / period)) / 2
      return a + (b - a) * share
    case .circle(let centre, let radius, let period, let phase):
      let angle = 2 * .pi * seconds / period + phase * .pi / 180
      return SIMD3(centre.x + radius * cos(angle), centre.y + radius * sin(angle), centre.z)
    }
  }
}
