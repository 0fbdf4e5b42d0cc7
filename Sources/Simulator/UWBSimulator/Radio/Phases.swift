// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A function given by some of its values: linear between them, and constant beyond the ends; 0
/// without values.
package struct Curve: Hashable, Sendable {
  package let points: [SIMD2<Double>]

  /// Creates a curve from points with rising first coordinates.
  package init(_ points: [(Double, Double)]) { self.points = points.map { SIMD2($0, $1) } }

  func value(at x: Double) -> Double {
    guard let first = points.first, let last = points.last else { return 0 }
    if x <= first.x { return first.y }
    for (a, b) in zip(points, points.dropFirst()) where x <= b.x {
      return a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x)
    }
    return last.y
  }
}

/// Phase differences of the antennas of a board, in radians, wrapped. The pairs lie along the axis
/// to the right, along the axis forwards (if the board measures all around), and along the axis
/// upwards.
struct Phases: Hashable, Sendable {
  var right = 0.0
  var forward = 0.0
  var up = 0.0

  /// The spacing of an ideal pair, in wavelengths. Qorvo advises 0.45.
  static let spacing = 0.45

  /// Returns the phase of an ideal pair from the projection of the direction on the pair's axis.
  private static func ideal(_ projection: Double) -> Double { 2 * .pi * spacing * projection }

  /// Computes the phases of a signal from a direction in degrees, without noise and wrapping.
  init(azimuth: Double, elevation: Double, antenna: Curve?) {
    let (az, el) = (azimuth * .pi / 180, elevation * .pi / 180)
    let projection = sin(az) * cos(el)
    right =
      antenna.map { $0.value(at: asin(max(-1, min(1, projection))) * 180 / .pi) }
      ?? Self.ideal(projection)
    forward = Self.ideal(cos(az) * cos(el))
    up = Self.ideal(sin(el))
  }

  /// Returns the phases with noise, wrapped.
  func received(noise: () -> Double) -> Phases {
    var result = self
    result.right = (right + noise()).remainder(dividingBy: 2 * .pi)
    result.forward = (forward + noise()).remainder(dividingBy: 2 * .pi)
    result.up = (up + noise()).remainder(dividingBy: 2 * .pi)
    return result
  }

  /// Returns the direction computed by a chip that assumes ideal antennas, in degrees.
  func direction(_ angles: ChipProfile.Angles) -> (azimuth: Double, elevation: Double) {
    func projection(_ phase: Double) -> Double {
      max(-1, min(1, phase / (2 * .pi * Self.spacing)))
    }
    let upwards = angles.contains(.elevation) ? asin(projection(up)) : 0
    let sideways = projection(right)
    let azimuth =
      angles.contains(.azimuth180)
      ? atan2(sideways, projection(forward))
      : asin(max(-1, min(1, sideways / max(1e-9, cos(upwards)))))
    return (azimuth * 180 / .pi, upwards * 180 / .pi)
  }
}
