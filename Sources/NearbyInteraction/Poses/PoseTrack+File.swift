// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import SIMDMath

extension PoseTrack {
  /// Reads a track in the format of the TUM RGB-D benchmark, which tools for odometry and SLAM write:
  /// each line has the time in seconds, the position x y z in metres, and the rotation to the world as a
  /// quaternion x y z w; `#` begins a comment. The axes are those of robots (ROS REP 103): the world's z
  /// points up, the device faces x with y to its left.
  ///
  /// - Parameters:
  ///   - beginning: the time of the first pose, CLOCK_MONOTONIC in nanoseconds, for a recording that is
  ///     replayed; nil: the file has times of that clock.
  ///   - validity: how long the last pose holds.
  /// - Throws: `NIError.invalidARConfiguration`, whose failure reason names the line.
  public convenience init(
    contentsOf url: URL, beginning: UInt64? = nil, validity: Duration = .milliseconds(500)
  ) throws {
    func failure(_ reason: String) -> NIError {
      NIError(
        .invalidARConfiguration, reason: reason,
        recovery: "Use a file with time, x, y, z, qx, qy, qz and qw in each line.")
    }
    let text: String
    do { text = try String(contentsOf: url, encoding: .utf8) } catch {
      throw failure("\(url.path) cannot be read: \(error.localizedDescription)")
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
