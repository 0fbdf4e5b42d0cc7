// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The actual pair of antennas with which a board measures azimuth.
///
/// Real pairs couple with each other and with their ground plane: their curves are not sines, are
/// not symmetric, and run past half a turn.
package struct AntennaCurve: Hashable, Sendable {
  package struct Point: Hashable, Sendable {
    /// Degrees to the plane in the middle of the pair, positive to the right.
    package var angle: Double
    /// Phase difference in radians, not wrapped.
    package var phase: Double

    package init(angle: Double, phase: Double) {
      self.angle = angle
      self.phase = phase
    }
  }

  /// Rising angles; linear in between and constant beyond the ends.
  package var points: [Point]

  /// Takes at least two points with rising angles.
  package init(_ points: [Point]) { self.points = points }

  /// The spacing of an ideal pair, in wavelengths. Qorvo advises 0.45.
  static let spacing = 0.45

  /// The phase of an ideal pair for the projection of the direction on its axis.
  static func ideal(_ projection: Double) -> Double { 2 * .pi * spacing * projection }

  func phase(at degrees: Double) -> Double {
    guard let first = points.first, let last = points.last else { return 0 }
    if degrees <= first.angle { return first.phase }
    for (a, b) in zip(points, points.dropFirst()) where degrees <= b.angle {
      return a.phase + (b.phase - a.phase) * (degrees - a.angle) / (b.angle - a.angle)
    }
    return last.phase
  }
}

/// Phase differences that the antennas of a board show, in radians, wrapped: along the axis to the
/// right, along that forwards (where the board sees all around), and along that upwards.
struct Phases: Hashable, Sendable {
  var right = 0.0
  var forward = 0.0
  var up = 0.0

  /// The phases of a signal from a direction in degrees, without noise and not wrapped.
  init(azimuth: Double, elevation: Double, curve: AntennaCurve?) {
    let (az, el) = (azimuth * .pi / 180, elevation * .pi / 180)
    let projection = sin(az) * cos(el)
    right =
      curve.map { $0.phase(at: asin(max(-1, min(1, projection))) * 180 / .pi) }
      ?? AntennaCurve.ideal(projection)
    forward = AntennaCurve.ideal(cos(az) * cos(el))
    up = AntennaCurve.ideal(sin(el))
  }

  /// Returns the phases with noise, wrapped.
  func received(noise: () -> Double) -> Phases {
    var result = self
    result.right = (right + noise()).remainder(dividingBy: 2 * .pi)
    result.forward = (forward + noise()).remainder(dividingBy: 2 * .pi)
    result.up = (up + noise()).remainder(dividingBy: 2 * .pi)
    return result
  }

  /// The direction computed by a chip that assumes ideal antennas, in degrees.
  func direction(_ angles: ChipProfile.Angles) -> (azimuth: Double, elevation: Double) {
    func projection(_ phase: Double) -> Double {
      max(-1, min(1, phase / (2 * .pi * AntennaCurve.spacing)))
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
