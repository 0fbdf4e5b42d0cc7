// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The position and orientation of a device in a world whose z axis points up.
public struct Pose: Sendable, Hashable {
  /// The position in the world, in metres.
  public var position: SIMD3<Double>
  /// The rotation from the device to the world as a quaternion (w, x, y, z) of any length but 0.
  public var w, x, y, z: Double

  /// Creates a pose. Without a rotation, the axes of the device are the axes of the world.
  public init(position: SIMD3<Double>, w: Double = 1, x: Double = 0, y: Double = 0, z: Double = 0) {
    self.position = position
    (self.w, self.x, self.y, self.z) = (w, x, y, z)
  }

  var isValid: Bool {
    let square = w * w + x * x + y * y + z * z
    return position.isFinite && square.isFinite && square > 1e-12
  }

  /// Converts a direction in the world to the frame of the device.
  package func toDevice(_ v: SIMD3<Double>) -> SIMD3<Double> {
    let norm = (w * w + x * x + y * y + z * z).squareRoot()
    // The inverse of a rotation has a vector part of the opposite sign.
    let q = SIMD3<Double>(-x / norm, -y / norm, -z / norm)
    let twice = q.cross(v) * 2
    return v + twice * (w / norm) + q.cross(twice)
  }

  /// The device's x and y axes in the world.
  var axes: (x: SIMD3<Double>, y: SIMD3<Double>) {
    let twice = 2 / (w * w + x * x + y * y + z * z)
    return (
      SIMD3(1 - twice * (y * y + z * z), twice * (x * y + w * z), twice * (x * z - w * y)),
      SIMD3(twice * (x * y - w * z), 1 - twice * (x * x + z * z), twice * (y * z + w * x))
    )
  }

  /// Returns the direction of a point of the world in radians, from the device's x axis towards its
  /// y axis.
  public func azimuth(of point: SIMD3<Double>) -> Double {
    let seen = toDevice(point - position)
    return atan2(seen.y, seen.x)
  }
}
