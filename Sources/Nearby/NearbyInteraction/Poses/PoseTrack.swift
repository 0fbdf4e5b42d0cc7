// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import System
internal import SIMDMath
internal import UWBLink

/// A sequence of poses, live or recorded, with interpolation between them.
public final class PoseTrack: PoseSource {
  private let poses = Locked<[DevicePose]>([])
  private let capacity: Int
  private let validity: UInt64

  /// Creates a track without poses.
  ///
  /// - Parameters:
  ///   - capacity: the number of poses that are kept; the oldest are removed.
  ///   - validity: the time for which the last pose is valid. Afterwards the pose is unknown.
  public init(capacity: Int = 4_096, validity: Duration = .milliseconds(500)) {
    // The track can temporarily hold twice the capacity.
    self.capacity = min(max(2, capacity), Int.max / 2)
    self.validity = UInt64(min(max(0, validity / .seconds(1)), 9e9) * 1e9)
  }

  /// Creates a track of recorded poses.
  ///
  /// - Parameters:
  ///   - poses: the poses, in any order; all are kept.
  ///   - validity: the time for which the last pose is valid.
  public convenience init(_ poses: [DevicePose], validity: Duration = .milliseconds(500)) {
    self.init(capacity: poses.count, validity: validity)
    self.poses.withLock { $0 = poses.sorted { $0.time < $1.time } }
  }

  /// Appends a pose, unless it is older than the last.
  public func append(_ pose: DevicePose) {
    poses.withLock { poses in
      guard poses.last.map({ $0.time < pose.time }) ?? true else { return }
      // Remove many poses at once, so that the cost of each is small.
      if poses.count >= 2 * capacity { poses.removeFirst(poses.count - capacity + 1) }
      poses.append(pose)
    }
  }

  /// Returns the pose at a time; nil before the first pose, and too long after the last.
  public func pose(at time: UInt64) -> DevicePose? {
    poses.withLock { poses in
      guard let first = poses.first, let last = poses.last, time >= first.time else { return nil }
      if time >= last.time { return time - last.time <= validity ? last : nil }
      // Find the first pose after `time`.
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

extension PoseTrack {
  /// Reads a track in the format of the TUM RGB-D benchmark, which tools for odometry and SLAM
  /// write.
  ///
  /// Each line has the time in seconds, the position x y z in metres, and a quaternion x y z w. The
  /// quaternion is the rotation to the world; `#` begins a comment.
  ///
  /// The axes are axes of robots (ROS REP 103): the world's z points up, and the device faces x
  /// with y to its left.
  ///
  /// - Parameters:
  ///   - url: the file.
  ///   - beginning: the time of the first pose in nanoseconds of CLOCK_MONOTONIC, for the replay of
  ///     a recording; nil if the file has times of that clock.
  ///   - validity: the time for which the last pose is valid.
  /// - Throws: `NIError.invalidARConfiguration`; its failure reason names the line.
  public convenience init(
    contentsOf url: URL, beginning: UInt64? = nil, validity: Duration = .milliseconds(500)
  ) throws {
    func failure(_ reason: String) -> NIError {
      NIError(
        .invalidARConfiguration, reason: reason,
        recovery: "Use a file with time, x, y, z, qx, qy, qz and qw in each line.")
    }
    let bytes: [UInt8]
    do throws(FileError) { bytes = try InputFile.bytes(of: url.path, limit: 1 << 28) } catch {
      throw failure("\(url.path) cannot be read: \(error).")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw failure("\(url.path) is not text in UTF-8.")
    }
    var poses: [DevicePose] = []
    var first: Double?
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let fields = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
      if fields.isEmpty { continue }
      let numbers = fields.compactMap { Double($0) }.filter(\.isFinite)
      guard fields.count == 8, numbers.count == 8 else {
        throw failure("Line \(index + 1) of \(url.path) does not have eight numbers.")
      }
      let start = first ?? numbers[0]
      first = start
      let nanoseconds = ((numbers[0] - (beginning == nil ? 0 : start)) * 1e9).rounded()
      guard let shift = UInt64(exactly: nanoseconds), shift < 1 << 62 else {
        throw failure("The time in line \(index + 1) of \(url.path) is out of range.")
      }
      let (time, isTooLate) = (beginning ?? 0).addingReportingOverflow(shift)
      guard !isTooLate, poses.last.map({ $0.time < time }) ?? true else {
        throw failure("Line \(index + 1) of \(url.path) is not later than the one before.")
      }
      let rotation = simd_double4(numbers[4], numbers[5], numbers[6], numbers[7])
      let length = simd_length(rotation)
      guard abs(length - 1) < 0.01 else {
        throw failure(
          "The rotation in line \(index + 1) of \(url.path) has the length \(length), not 1.")
      }
      poses.append(
        DevicePose(
          time: time, position: simd_double3(numbers[1], numbers[2], numbers[3]),
          rotation: simd_quatd(vector: rotation / length)))
    }
    guard !poses.isEmpty else { throw failure("\(url.path) has no poses.") }
    self.init(poses, validity: validity)
  }
}
