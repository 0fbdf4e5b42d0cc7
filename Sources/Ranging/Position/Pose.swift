// SPDX-License-Identifier: Apache-2.0

/// Where a device is and how it is turned, in a world whose z points up.
public struct Pose: Sendable, Hashable {
  /// Metres.
  public var position: Vector3
  /// The rotation from the device to the world: real part, then along x, y and z. Of any length but 0.
  public var w, x, y, z: Double

  /// From its parts.
  public init(position: Vector3, w: Double = 1, x: Double = 0, y: Double = 0, z: Double = 0) {
    self.position = position
    (self.w, self.x, self.y, self.z) = (w, x, y, z)
  }

  /// Whether all is finite and the rotation is one.
  var isValid: Bool {
    let square = w * w + x * x + y * y + z * z
    return position.isFinite && square.isFinite && square > 1e-12
  }

  /// A direction of the world as the device sees it.
  public func toDevice(_ v: Vector3) -> Vector3 {
    let norm = (w * w + x * x + y * y + z * z).squareRoot()
    // By the inverse: the vector part turned round.
    let q = Vector3(-x / norm, -y / norm, -z / norm)
    let twice = q.cross(v) * 2
    return v + twice * (w / norm) + q.cross(twice)
  }

  /// The azimuth of a place of the world: from the device's x towards its y, in radians.
  public func azimuth(of place: Vector3) -> Double {
    let seen = toDevice(place - position)
    return Functions.arcTangent(seen.y, seen.x)
  }
}
