// SPDX-License-Identifier: Apache-2.0
internal import Ranging
public import SIMDMath

/// Where a device is and how it is turned, at one time.
public struct DevicePose: Sendable, Equatable {
  /// CLOCK_MONOTONIC in nanoseconds.
  public var time: UInt64
  /// From the device's frame to the world's. The device: x to the right, y up, and its antenna looks
  /// along -z. The world: y up, the rest as it was at the beginning, in metres.
  public var transform: simd_float4x4

  /// From its parts.
  public init(time: UInt64, transform: simd_float4x4) {
    self.time = time
    self.transform = transform
  }

  /// From what odometry on robots gives (ROS REP 103): a world whose z points up, a device that looks
  /// along x with y to its left, and the rotation from the device to the world.
  public init(time: UInt64, position: simd_double3, rotation: simd_quatd) {
    let turned = simd_double3x3(rotation)
    // Each axis of ours, in theirs: right is -y, up is z, back is -x.
    let axes = [-turned.columns.1, turned.columns.2, -turned.columns.0]
    let columns = axes.map { simd_float4(Self.ours($0), 0) }
    self.init(
      time: time,
      transform: simd_float4x4(
        columns[0], columns[1], columns[2], simd_float4(Self.ours(position), 1)))
  }

  private static func ours(_ v: simd_double3) -> simd_float3 {
    simd_float3(-Float(v.y), Float(v.z), -Float(v.x))
  }

  /// As `Ranging` wants it: a world whose z points up, a device that looks along x.
  var ranging: Pose? {
    let c = transform.columns
    func theirs(_ v: simd_float4) -> simd_double3 {
      simd_double3(-Double(v.z), -Double(v.x), Double(v.y))
    }
    let rotation = simd_double3x3(-theirs(c.2), -theirs(c.0), theirs(c.1))
    let determinant = rotation.determinant
    guard abs(determinant - 1) < 0.05 else { return nil }
    let q = simd_quatd(rotation)
    let p = theirs(c.3)
    return Pose(
      position: SIMD3<Double>(p.x, p.y, p.z), w: q.real, x: q.imag.x, y: q.imag.y, z: q.imag.z)
  }
}

/// Knows where this device is: visual odometry, wheel odometry, inertial sensors, a recorded file.
///
/// It takes the place that the camera has on phones: with one, `isCameraAssistanceEnabled` makes a
/// session find where an object at rest is, from the ranges along the device's own way.
public protocol PoseSource: AnyObject, Sendable {
  /// Where the device was at a time; nil where that is not known. Called for each measurement, on a
  /// thread of the session's, some milliseconds behind the time asked for.
  ///
  /// - Parameter time: CLOCK_MONOTONIC in nanoseconds.
  func pose(at time: UInt64) -> DevicePose?
}
