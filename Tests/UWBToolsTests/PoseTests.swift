// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc
import Ranging
import Testing
import UWBTestSupport
import UWBTools

/// Poses from lines of JSON and from an inertial sensor, and directions by them.
@Suite struct PoseTests {
  private func pose(_ text: String) throws -> (time: UInt64?, pose: Pose) {
    try PoseLine.pose(Array(text.utf8))
  }

  @Test(arguments: [
    #"{"position": [1, 2, 0.5], "orientation": [0, 0, 0.6, 0.8], "time_s": 12.5}"#,
    #"{"time_s": 12.5, "pose": {"position": {"x": 1, "y": 2, "z": 0.5}, "#
      + #""orientation": {"w": 0.8, "x": 0, "y": 0, "z": 0.6}}}"#,
    #"{"op": "publish", "topic": "/odom", "time_s": 12.5, "msg": {"header": {"frame_id": "odom"}, "#
      + #""pose": {"covariance": [0], "pose": {"position": {"x": 1, "y": 2, "z": 0.5}, "#
      + #""orientation": {"x": 0, "y": 0, "z": 0.6, "w": 0.8}}}}}"#,
  ])
  func linesOfEachForm(text: String) throws {
    let (time, pose) = try pose(text)
    #expect(time == 12_500_000_000)
    #expect(pose == Pose(position: SIMD3(1, 2, 0.5), w: 0.8, x: 0, y: 0, z: 0.6))
  }

  @Test(arguments: [
    "", "7", "{}", #"{"position": [1, 2], "orientation": [0, 0, 0, 1]}"#,
    #"{"position": [1, 2, 3]}"#, #"{"position": [1, 2, "3"], "orientation": [0, 0, 0, 1]}"#,
    #"{"position": [1, 2, 3], "orientation": [0, 0, 0, 0]}"#,
    #"{"position": [1e300, 2, 3], "orientation": [0, 0, 0, 1]}"#,
    #"{"position": [1, 2, 3], "orientation": [0, 0, 0, 1], "time_s": -1}"#,
    #"{"position": [1, 2, 3], "orientation": [0, 0, 0, 1], "time_s": 1e300}"#,
  ])
  func otherLinesAreErrors(text: String) {
    #expect(throws: (any Error).self) { try pose(text) }
  }

  @Test func theNextPoseApplies() throws {
    let folder = try TemporaryFolder()
    let line = { (x: Int) in #"{"position": [\#(x), 0, 0], "orientation": [0, 0, 0, 1]}"# }
    let path = try folder.write("\(line(1))\nnothing\n\n\(line(2))\n", to: "poses")
    let poses = LivePoses()
    #expect(poses.pose(at: 1_000_000_000) == nil)
    var now: UInt64 = 1_000_000_000
    try poses.read(path) {
      defer { now += 100_000_000 }
      return now
    }
    #expect(poses.pose(at: 1_040_000_000)?.position.x == 1)
    #expect(poses.pose(at: 1_060_000_000)?.position.x == 2)
    #expect(poses.pose(at: 1_300_000_000)?.position.x == 2)
    #expect(poses.pose(at: 1_300_000_001) == nil && poses.pose(at: 799_999_999) == nil)
    folder.remove()
  }

  /// The sensor lies flat. Without a matrix, its top points to the right of the device.
  @Test func sensorsOfAFakeMachine() throws {
    let folder = try TemporaryFolder()
    let root = folder.path("iio")
    for (device, name, files) in [
      (
        "iio:device0", "accel_3d",
        [
          "in_accel_x_raw": "10", "in_accel_y_raw": "20", "in_accel_z_raw": "980",
          "in_accel_scale": "0.01", "in_accel_offset": "1",
          "in_accel_mount_matrix": "0, 1, 0; 1, 0, 0; 0, 0, 1",
        ]
      ),
      (
        "iio:device1", "gyro_3d",
        [
          "in_anglvel_x_raw": "1", "in_anglvel_y_raw": "2", "in_anglvel_z_raw": "-3",
          "in_anglvel_x_scale": "0.5",
        ]
      ),
    ] {
      _ = try mkdirs("\(root)/\(device)")
      for (file, text) in files { _ = try folder.write(text + "\n", to: "iio/\(device)/\(file)") }
      _ = try folder.write(name + "\n", to: "iio/\(device)/name")
    }
    for names in ["accel_3d,gyro_3d", "iio:device0,iio:device1"] {
      let sample = try InertialSensor(names, root: root).sample()
      // The matrix exchanges x and y, so that the top (y) is ahead and x is to the right.
      #expect((sample.acceleration - SIMD3(0.11, -0.21, 9.81)).length < 1e-9)
      #expect((sample.rotation - SIMD3(1, -0.5, -1.5)).length < 1e-9)
    }
    #expect(throws: Failure.self) { try InertialSensor("accel_3d", root: root) }
    #expect(throws: Failure.self) { try InertialSensor("bmi160", root: root) }
    folder.remove()
  }

  private func mkdirs(_ path: String) throws -> Bool {
    let parent = path.split(separator: "/").dropLast().joined(separator: "/")
    mkdir("/" + parent, 0o700)
    return mkdir(path, 0o700) == 0
  }

  /// A walk around a corner: at rest, twelve steps, a turn to the left, twelve steps.
  private struct Walk {
    var (time, heading, ahead) = (100.0, 0.0, 0.0)
    var place = SIMD3<Double>.zero
    let bias = SIMD3(0.02, -0.01, 0.03)

    /// Returns the next sample, of a device that is tilted by 20° around its left side.
    mutating func next(turning rate: Double, stepping: Bool) -> InertialSensor.Sample {
      let interval = 0.01
      time += interval
      heading += rate * interval
      // The walk has two steps of 0.75 m in a second, and the sensor assumes 0.7 m.
      if stepping { place += SIMD3(cos(heading), sin(heading), 0) * (1.5 * interval) }
      let up = 9.81 + (stepping ? 3 * sin(2 * .pi * 2 * time) : 0)
      let (c, s) = (cos(20 * Double.pi / 180), sin(20 * Double.pi / 180))
      return InertialSensor.Sample(
        acceleration: SIMD3(-s * up, 0, c * up),
        rotation: SIMD3(-s * rate, 0, c * rate) + bias)
    }
  }

  @Test func stepsAroundACornerLeadToTheDirection() throws {
    var (walk, path) = (Walk(), InertialPath())
    let poses = LivePoses()
    var guide = PoseGuide(poses, InertialPath.finderParameters)
    let target = SIMD3(7.0, 6, 0)
    var last: Guidance?
    for count in 0..<1_800 {
      let isTurning = 900..<1_000 ~= count
      let isStepping = 300..<900 ~= count || count >= 1_200
      let sample = walk.next(turning: isTurning ? .pi / 2 : 0, stepping: isStepping)
      let time = UInt64(walk.time * 1e9)
      let pose = path.update(sample, at: walk.time)
      poses.append(try #require(pose), at: time)
      if count % 20 == 0 {
        let noise = 0.05 * sin(Double(count) * 1.7)
        last = guide.update(range: (target - walk.place).length + noise, at: time)
      }
    }
    let pose = try #require(poses.pose(at: UInt64(walk.time * 1e9)))
    #expect((pose.position - walk.place).length < 1.5, "\(pose.position) \(walk.place)")
    let heading = 2 * atan2(pose.z, pose.w)
    #expect(abs(heading - walk.heading) < 0.1, "\(heading)")
    let found = try #require(last?.direction, "\(last?.text ?? "")")
    let arm = target - walk.place
    let truth = -(atan2(arm.y, arm.x) - walk.heading) * 180 / .pi
    #expect(abs(remainder(found.degrees - truth, 360)) < 3 * found.deviation, "\(found) \(truth)")
    #expect(found.deviation < 30)
  }

  @Test func withoutMovementTheDirectionIsUnknown() throws {
    let poses = LivePoses()
    var guide = PoseGuide(poses, .init())
    var last: Guidance?
    for count in UInt64(0)..<20 {
      poses.append(Pose(position: .zero), at: count * 100_000_000 + 1)
      last = guide.update(range: 3, at: count * 100_000_000 + 1)
    }
    #expect(last != nil && last?.direction == nil)
    #expect(last?.text.contains("movement") == true)
    #expect(guide.update(range: 3, at: 9_000_000_000) == nil)
  }
}
