// SPDX-License-Identifier: Apache-2.0
internal import Ranging
public import SIMDMath

/// The position and orientation of a device at one time.
public struct DevicePose: Sendable, Equatable {
  /// The time in nanoseconds of CLOCK_MONOTONIC.
  public var time: UInt64
  /// The transform from the device's frame to the frame of the world, in metres.
  ///
  /// In the device's frame x points to the right, y up, and the antenna faces -z. In the world y
  /// points up; the other axes are arbitrary.
  public var transform: simd_float4x4

  /// Creates a pose.
  public init(time: UInt64, transform: simd_float4x4) {
    self.time = time
    self.transform = transform
  }

  /// Creates a pose from the odometry of robots (ROS REP 103). The z axis of the world points up;
  /// the device faces x, with y to its left.
  ///
  /// - Parameters:
  ///   - time: the time in nanoseconds of CLOCK_MONOTONIC.
  ///   - position: the position in metres.
  ///   - rotation: the rotation from the device to the world.
  public init(time: UInt64, position: simd_double3, rotation: simd_quatd) {
    let turned = simd_double3x3(rotation)
    // The device's axes in axes of robots: right is -y, up is z, back is -x.
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

  /// The pose in axes of robots; nil if the transform is not a rotation.
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

/// A source of this device's poses: visual odometry, wheel odometry, inertial sensors, or a
/// recorded file.
///
/// It replaces the camera of phones. With a source and `isCameraAssistanceEnabled`, a session finds
/// the position of a stationary object from distances along the device's path.
public protocol PoseSource: AnyObject, Sendable {
  /// Returns the pose at a time; nil if it is unknown.
  ///
  /// A thread of the session calls it for each measurement, some milliseconds after that time.
  ///
  /// - Parameter time: the time in nanoseconds of CLOCK_MONOTONIC.
  func pose(at time: UInt64) -> DevicePose?
}
