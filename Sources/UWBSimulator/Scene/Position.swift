// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A place in the scene, in metres: x and y on the floor, z up.
package struct Position: Hashable, Sendable {
  /// Metres.
  package var x: Double
  /// Metres.
  package var y: Double
  /// Metres above the floor.
  package var z: Double

  /// A place; all values in metres.
  package init(_ x: Double, _ y: Double, _ z: Double = 0) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// Metres in a straight line.
  package func distance(to other: Position) -> Double {
    let (dx, dy, dz) = (other.x - x, other.y - y, other.z - z)
    return (dx * dx + dy * dy + dz * dz).squareRoot()
  }

  /// The direction of `other`, in degrees, for an antenna that looks along `yaw`.
  ///
  /// - Parameters:
  ///   - yaw: degrees counterclockwise from the x axis, seen from above.
  /// - Returns: azimuth -180…180, positive to the right of where the antenna looks; elevation
  ///   -90…90, positive upwards. Both 0 where the places coincide.
  package func direction(to other: Position, yaw: Double) -> (azimuth: Double, elevation: Double) {
    let (dx, dy, dz) = (other.x - x, other.y - y, other.z - z)
    let distance = (dx * dx + dy * dy + dz * dz).squareRoot()
    guard distance > 0 else { return (0, 0) }
    let bearing = atan2(dy, dx) * 180 / .pi
    let azimuth = (yaw - bearing).remainder(dividingBy: 360)
    return (azimuth, asin(max(-1, min(1, dz / distance))) * 180 / .pi)
  }
}

/// How a chip moves: a pure function of the time, so that a scene can be looked at in any order.
public enum Motion: Hashable, Sendable {
  /// Stays where it is.
  case still(Position)
  /// Goes on in one direction; the velocity in metres per second along each axis.
  case line(from: Position, velocity: Position)
  /// To and fro between two places, softly; `period` in seconds for there and back.
  case between(Position, Position, period: Double)
  /// Around `centre` at its height; `radius` in metres, `period` in seconds for one turn
  /// counterclockwise, `phase` in degrees where it begins.
  case circle(centre: Position, radius: Double, period: Double, phase: Double = 0)

  /// Where the chip is.
  ///
  /// - Parameter nanoseconds: since the beginning of the scene.
  package func position(at nanoseconds: UInt64) -> Position {
    let seconds = Double(nanoseconds) * 1e-9
    switch self {
    case .still(let place): return place
    case .line(let start, let velocity):
      return Position(
        start.x + velocity.x * seconds, start.y + velocity.y * seconds,
        start.z + velocity.z * seconds)
    case .between(let a, let b, let period):
      let share = (1 - cos(2 * .pi * seconds / period)) / 2
      return Position(
        a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share, a.z + (b.z - a.z) * share)
    case .circle(let centre, let radius, let period, let phase):
      let angle = 2 * .pi * seconds / period + phase * .pi / 180
      return Position(centre.x + radius * cos(angle), centre.y + radius * sin(angle), centre.z)
    }
  }
}
