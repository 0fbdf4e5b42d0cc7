// SPDX-License-Identifier: Apache-2.0
internal import Ranging
public import SIMDMath

/// The position and orientation of a device at one time.
public struct DevicePose: Sendable, Equatable {
  /// CLOCK_MONOTONIC in nanoseconds.
  public var time: UInt64
  /// Transforms the device's frame (x to the right, y up, the antenna faces -z) to that of the world
  /// (y up, otherwise any), in metres.
  public var transform: simd_float4x4

  /// Creates a pose.
  public init(time: UInt64, transform: simd_float4x4) {
    self.time = time
    self.transform = transform
  }

  /// Creates a pose from the odometry of robots (ROS REP 103): a world whose z points up, a device that
  /// faces x with y to its left, and the rotation from the device to the world.
  ///
  /// - Parameters:
  ///   - time: CLOCK_MONOTONIC in nanoseconds.
  ///   - position: metres.
  ///   - rotation: from the device to the world.
  public init(time: UInt64, position: simd_double3, rotation: simd_quatd) {
    let turned = simd_double3x3(rotation)
    // The device's axes in those of robots: right is -y, up is z, back is -x.
    let axes = [-turned.columns.1, turned.columns.2, -turned.columns.0]
    let columns = axes.map { simd_float4(Self.converted($0), 0) }
    self.init(
      time: time,
      transform: simd_float4x4(
        columns[0], columns[1], columns[2], simd_float4(Self.converted(position), 1)))
  }

  private static func converted(_ v: simd_double3) -> simd_float3 {
    simd_float3(-Float(v.y), Float(v.z), -Float(v.x))
  }

  /// The pose in the axes of robots; nil where the transform is no rotation.
  var ranging: Pose? {
    let c = transform.columns
    func robot(_ v: simd_float4) -> simd_double3 {
      simd_double3(-Double(v.z), -Double(v.x), Double(v.y))
    }
    let rotation = simd_double3x3(-robot(c.2), -robot(c.0), robot(c.1))
    let determinant = rotation.determinant
    guard abs(determinant - 1) < 0.05 else { return nil }
    let q = simd_quatd(rotation)
    let p = robot(c.3)
    return Pose(
      position: SIMD3<Double>(p.x, p.y, p.z), w: q.real, x: q.imag.x, y: q.imag.y, z: q.imag.z)
  }
}

/// Knows where this device is: visual odometry, wheel odometry, inertial sensors, a recorded file.
///
/// It replaces the camera of phones: with one, `isCameraAssistanceEnabled` makes a session find the
/// position of a stationary object from the distances along the device's own path.
public protocol PoseSource: AnyObject, Sendable {
  /// Returns the pose at a time; nil where it is unknown. Called for each measurement, on a thread of
  /// the session, some milliseconds after that time.
  ///
  /// - Parameter time: CLOCK_MONOTONIC in nanoseconds.
  func pose(at time: UInt64) -> DevicePose?
}
