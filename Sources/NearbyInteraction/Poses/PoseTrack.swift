// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import SIMDMath

/// A sequence of poses, live or recorded, with interpolation between them.
public final class PoseTrack: PoseSource {
  private let poses = Locked<[DevicePose]>([])
  private let capacity: Int
  private let validity: UInt64

  /// Creates a track without poses.
  ///
  /// - Parameters:
  ///   - capacity: how many poses are kept; the oldest are removed.
  ///   - validity: how long the last pose holds; after that the pose is unknown.
  public init(capacity: Int = 4_096, validity: Duration = .milliseconds(500)) {
    // There may be up to twice as many for a while.
    self.capacity = min(max(2, capacity), Int.max / 2)
    self.validity = UInt64(min(max(0, validity / .seconds(1)), 9e9) * 1e9)
  }

  /// Creates a track of recorded poses.
  public convenience init(_ poses: [DevicePose], validity: Duration = .milliseconds(500)) {
    self.init(capacity: poses.count, validity: validity)
    self.poses.withLock { $0 = poses.sorted { $0.time < $1.time } }
  }

  /// Appends a pose, unless it is older than the last.
  public func append(_ pose: DevicePose) {
    poses.withLock { poses in
      guard poses.last.map({ $0.time < pose.time }) ?? true else { return }
      // Many at a time, so that the cost of each is small.
      if poses.count >= 2 * capacity { poses.removeFirst(poses.count - capacity + 1) }
      poses.append(pose)
    }
  }

  /// Returns the pose at a time; nil before the first and too long after the last.
  public func pose(at time: UInt64) -> DevicePose? {
    poses.withLock { poses in
      guard let first = poses.first, let last = poses.last, time >= first.time else { return nil }
      if time >= last.time { return time - last.time <= validity ? last : nil }
      // The first pose after the time.
      var (low, high) = (0, poses.count - 1)
      while high - low > 1 {
        let middle = (low + high) / 2
        if poses[middle].time <= time { low = middle } else { high = middle }
      }
      return Self.between(poses[low], poses[high], time)
    }
  }

  private static func between(_ a: DevicePose, _ b: DevicePose, _ time: UInt64) -> DevicePose {
    let share = Float(Double(time - a.time) / Double(max(1, b.time - a.time)))
    var transform = simd_float4x4(
      simd_slerp(simd_quatf(a.transform), simd_quatf(b.transform), share))
    transform.columns.3 = mix(a.transform.columns.3, b.transform.columns.3, t: share)
    return DevicePose(time: time, transform: transform)
  }
}
