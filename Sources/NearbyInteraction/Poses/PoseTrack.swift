// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import SIMDMath

/// Poses as they come in, or as they were recorded; what lies between two of them is interpolated.
public final class PoseTrack: PoseSource {
  private let poses = Locked<[DevicePose]>([])
  private let capacity: Int
  private let patience: UInt64

  /// A track without poses.
  ///
  /// - Parameters:
  ///   - capacity: poses kept; the oldest go.
  ///   - patience: nanoseconds for which the last pose holds; after that the pose is not known.
  public init(capacity: Int = 4_096, patience: UInt64 = 500_000_000) {
    // Up to twice as many are there for a while.
    self.capacity = min(max(2, capacity), Int.max / 2)
    self.patience = patience
  }

  /// A recorded track, in the order of time.
  public convenience init(_ poses: [DevicePose], patience: UInt64 = 500_000_000) {
    self.init(capacity: poses.count, patience: patience)
    self.poses.withLock { $0 = poses.sorted { $0.time < $1.time } }
  }

  /// Takes the next pose in. One that is older than the last is not taken.
  public func append(_ pose: DevicePose) {
    poses.withLock { poses in
      guard poses.last.map({ $0.time < pose.time }) ?? true else { return }
      // Seldom, and then many, so that each costs little.
      if poses.count >= 2 * capacity { poses.removeFirst(poses.count - capacity + 1) }
      poses.append(pose)
    }
  }

  /// The pose at a time; nil before the first, and too long after the last.
  public func pose(at time: UInt64) -> DevicePose? {
    poses.withLock { poses in
      guard let first = poses.first, let last = poses.last, time >= first.time else { return nil }
      if time >= last.time { return time - last.time <= patience ? last : nil }
      // The first pose behind the time.
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
    let (from, to) = (simd_quatf(a.transform).vector, simd_quatf(b.transform).vector)
    // The shorter way round.
    let near = simd_dot(from, to) < 0 ? -to : to
    let rotation = simd_quatf(vector: simd_normalize(simd_mix(from, near, share)))
    var transform = simd_float4x4(rotation)
    transform.columns.3 = simd_mix(a.transform.columns.3, b.transform.columns.3, share)
    return DevicePose(time: time, transform: transform)
  }
}
