// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Metres along east, north and up around an anchor, for places in any coordinate system.
///
/// The plane that touches the ellipsoid of WGS-84 is a centimetre off at 300 m from the origin.
struct AnchorFrame: Sendable {
  let type: NIDLTDOACoordinatesType
  /// The origin in the coordinates of the anchors; zero for relative coordinates.
  let origin: SIMD3<Double>
  /// The metres in a unit of each coordinate.
  private let scale: SIMD3<Double>

  /// - Parameter place: the coordinates of the first anchor.
  init(_ type: NIDLTDOACoordinatesType, at place: SIMD3<Double>) {
    self.type = type
    guard type == .geodetic else {
      (origin, scale) = (.zero, SIMD3(1, 1, 1))
      return
    }
    origin = place
    // WGS-84: the semi-major axis in metres and the square of the eccentricity.
    let (axis, eccentricity) = (6_378_137.0, 0.006_694_379_990_14)
    let latitude = place.x * .pi / 180
    let rest = 1 - eccentricity * sin(latitude) * sin(latitude)
    let meridian = axis * (1 - eccentricity) / (rest * rest.squareRoot())
    let normal = axis / rest.squareRoot()
    scale = SIMD3(
      (meridian + place.z) * .pi / 180,
      max(1e-3, (normal + place.z) * cos(latitude) * .pi / 180), 1)
  }

  /// Returns coordinates as metres. For geodetic coordinates, x points east and y north.
  func metres(_ coordinates: SIMD3<Double>) -> SIMD3<Double> {
    var arm = coordinates - origin
    guard type == .geodetic else { return arm }
    arm.y -= 360 * (arm.y / 360).rounded()
    return SIMD3(arm.y * scale.y, arm.x * scale.x, arm.z)
  }

  /// Returns the coordinates of a place in metres.
  func coordinates(_ metres: SIMD3<Double>) -> SIMD3<Double> {
    guard type == .geodetic else { return metres }
    var place = origin + SIMD3(metres.y / scale.x, metres.x / scale.y, metres.z)
    place.y -= 360 * (place.y / 360).rounded()
    return place
  }
}
