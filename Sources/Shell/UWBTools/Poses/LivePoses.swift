// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Formats
import JSON
package import Ranging
import Synchronization
package import System

/// Poses of this device as they arrive, in the axes of robots (ROS REP 103): the world's z axis
/// points up, and the device faces x, with y to its left.
package final class LivePoses: Sendable {
  /// The greatest time between a pose and a measurement that uses it, in nanoseconds.
  private static let validity: UInt64 = 200_000_000

  private let poses = Mutex<[(time: UInt64, pose: Pose)]>([])

  package init() {}

  /// Appends a pose.
  ///
  /// - Parameter time: CLOCK_MONOTONIC in nanoseconds. Poses that are not later than the last one
  ///   are dropped.
  package func append(_ pose: Pose, at time: UInt64) {
    poses.withLock { poses in
      guard poses.last.map({ $0.time < time }) ?? true else { return }
      if poses.count >= 512 { poses.removeFirst(256) }
      poses.append((time, pose))
    }
  }

  /// Returns the pose that is closest to a time; nil if there is none within 0.2 s.
  package func pose(at time: UInt64) -> Pose? {
    func distance(_ other: UInt64) -> UInt64 { max(time, other) - min(time, other) }
    return poses.withLock { poses in
      poses.min { distance($0.time) < distance($1.time) }
        .flatMap { distance($0.time) <= Self.validity ? $0.pose : nil }
    }
  }

  /// Reads JSON lines until their end. Lines that are not poses are skipped, and the first of them
  /// is reported.
  ///
  /// - Parameter path: A file, a named pipe, or `-` for standard input.
  package func read(_ path: String, now: () -> UInt64) throws(FileError) {
    var lines = try InputLines(path)
    var isReported = false
    while let line = try lines.next() {
      guard line.contains(where: { $0 > 0x20 }) else { continue }
      do {
        let (time, pose) = try PoseLine.pose(Array(line))
        append(pose, at: time ?? now())
      } catch {
        if !isReported { note("A line of poses is skipped: \(error)") }
        isReported = true
      }
    }
  }
}

/// A pose as a line of JSON.
///
/// `{"position": [1, 2, 0.5], "orientation": [0, 0, 0, 1], "time_s": 12.5}`; both may also be
/// objects with x, y, z and w, as in ROS. The pose may be inside members `pose` or `msg`, as in the
/// messages PoseStamped and Odometry that rosbridge sends.
package enum PoseLine {
  /// Returns the pose of a line, and its time in nanoseconds of CLOCK_MONOTONIC if it has one.
  package static func pose(_ line: [UInt8]) throws -> (time: UInt64?, pose: Pose) {
    guard var object = try JSON(line).object else { throw PoseLineError("it is not an object") }
    let time = object["time_s"].flatMap(number)
    for _ in 0..<3 {
      guard let inner = (object["msg"] ?? object["pose"])?.object else { break }
      object = inner
    }
    guard let place = numbers(object["position"], ["x", "y", "z"]) else {
      throw PoseLineError("position is not three numbers")
    }
    guard let turn = numbers(object["orientation"], ["x", "y", "z", "w"]) else {
      throw PoseLineError("orientation is not four numbers (x, y, z, w)")
    }
    let length = turn.reduce(0) { $0 + $1 * $1 }.squareRoot()
    guard abs(length - 1) < 0.05 else {
      throw PoseLineError("orientation has the length \(fixed(length, 3)), not 1")
    }
    guard place.allSatisfy({ abs($0) < 1e7 }) else {
      throw PoseLineError("position is not within 10000 km")
    }
    if let time, !(0..<1e9 ~= time) { throw PoseLineError("time_s is not 0 to 1e9") }
    return (
      time.map { UInt64($0 * 1e9) },
      Pose(
        position: SIMD3(place[0], place[1], place[2]), w: turn[3], x: turn[0], y: turn[1],
        z: turn[2])
    )
  }

  private static func number(_ value: JSON) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .number(let number): number.isFinite ? number : nil
    default: nil
    }
  }

  private static func numbers(_ value: JSON?, _ names: [String]) -> [Double]? {
    let values =
      value?.array ?? value?.object.map { object in names.compactMap { object[$0] } } ?? []
    let found = values.compactMap(number)
    return values.count == names.count && found.count == names.count ? found : nil
  }
}

/// The reason why a line is not a pose.
struct PoseLineError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
