// SPDX-License-Identifier: Apache-2.0
import Foundation
import SIMDMath
import Testing
import UWBTestSupport

@testable import NearbyInteraction

/// Estimates of a target from distances at known poses.
@Suite(.computes) struct FinderTests {
  /// A circle at a constant height, facing -z.
  static func levelTrack() -> PoseTrack {
    PoseTrack(
      (0...100).map { step in
        let turn = Float(step) * .pi / 50
        return MotionTests.pose(
          UInt64(step + 1) * 100_000_000, x: 1.2 * sin(turn), z: -1.2 * cos(turn))
      })
  }

  /// - Parameter azimuth: the azimuth measured by the antennas, from the pose and the target.
  private func walk(
    _ track: PoseTrack, to target: simd_float3, azimuth: (simd_float3) -> Double? = { _ in nil }
  ) throws -> (finder: MotionFinder, last: MotionFinder.Finding) {
    let finder = MotionFinder(track)
    var last = MotionFinder.Finding()
    for step in 0...100 {
      let time = UInt64(step + 1) * 100_000_000
      let place = try #require(track.pose(at: time)).transform.columns.3
      let arm = target - simd_float3(place.x, place.y, place.z)
      last = finder.update(time: time, range: Double(simd_length(arm)), azimuth: azimuth(arm))
    }
    return (finder, last)
  }

  @Test(arguments: [
    (simd_float3(0.8, 2.2, -2), NINearbyObject.VerticalDirectionEstimate.above),
    (simd_float3(0.8, -2.2, -2), .below), (simd_float3(4, 0.05, -3), .same),
  ])
  func heights(
    _ target: simd_float3, _ expected: NINearbyObject.VerticalDirectionEstimate
  ) throws {
    let last = try walk(MotionTests.track(), to: target).last
    #expect(last.status == .converged)
    #expect(last.vertical == expected)
    #expect(abs(simd_length(try #require(last.direction)) - 1) < 1e-5)
  }

  /// At a constant height, above and below are indistinguishable. The horizontal angle is known,
  /// but the position and the direction are not.
  @Test func aLevelWalkLeavesTheHeightUnknown() throws {
    let (finder, last) = try walk(Self.levelTrack(), to: simd_float3(3, 1, -2))
    #expect(last.status == .notConverged([.insufficientVerticalSweep]))
    #expect(abs(try #require(last.horizontalAngle) - atan2(3, 2 - 1.2)) < 0.1)
    #expect(last.direction == nil && finder.worldTransform == nil)
  }

  /// A level walk leaves a mirror image. The height is reported as above, below or same only where
  /// it is clear.
  @Test(arguments: [
    (simd_float3(2, 2, -2.5), [NINearbyObject.VerticalDirectionEstimate.aboveOrBelow]),
    (simd_float3(2, -2, -2.5), [.aboveOrBelow]),
    (simd_float3(4, 0, -5), [.same, .unknown]),
    (simd_float3(2, 0.8, -3), [.unknown, .aboveOrBelow]),
  ])
  func heightsOfALevelWalk(
    _ target: simd_float3, _ expected: [NINearbyObject.VerticalDirectionEstimate]
  ) throws {
    let last = try walk(Self.levelTrack(), to: target).last
    #expect(last.horizontalAngle != nil && expected.contains(last.vertical), "\(last.vertical)")
  }

  /// Noisy distances cause no warning of a weak signal, and hints last long enough to be followed.
  @Test(arguments: 1...3 as ClosedRange<UInt64>) func hintsAreCalm(seed: UInt64) throws {
    var random = seed
    func noise() -> Double {
      // The sum of twelve is nearly normal.
      (0..<12).reduce(-6.0) { sum, _ in
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return sum + Double(random >> 11) / Double(1 << 53)
      }
    }
    let (track, target) = (MotionTests.track(), simd_float3(4, 0.5, 3))
    let finder = MotionFinder(track)
    var changes: [(step: Int, status: NIAlgorithmConvergenceStatus)] = []
    for step in 0...100 {
      let time = UInt64(step + 1) * 100_000_000
      let place = try #require(track.pose(at: time)).transform.columns.3
      let arm = target - simd_float3(place.x, place.y, place.z)
      let range = Double(simd_length(arm)) + 0.1 * noise()
      let finding = finder.update(time: time, range: range, azimuth: nil)
      if finding.isStatusChange { changes.append((step, finding.status)) }
    }
    #expect(changes.first?.step == 0 && changes.last?.status == .converged, "\(changes)")
    for (before, after) in zip(changes, changes.dropFirst()) where after.status != .converged {
      #expect(after.step - before.step >= 10, "\(changes)")
    }
    for case .notConverged(let reasons) in changes.map(\.status) {
      #expect(!reasons.contains(.insufficientSignalStrength), "\(changes)")
    }
    #expect(changes.count { $0.status == .converged } == 1, "\(changes)")
  }

  /// Short gaps of the odometry are not reported as darkness; the end of the odometry is.
  @Test func shortGapsBetweenPosesAreNotReported() throws {
    let track = PoseTrack(validity: .milliseconds(10))
    let finder = MotionFinder(track)
    var statuses: [NIAlgorithmConvergenceStatus] = []
    func measure(at step: Int) {
      let finding = finder.update(time: UInt64(step) * 100_000_000, range: 3, azimuth: nil)
      if finding.isStatusChange { statuses.append(finding.status) }
    }
    for step in 1...40 {
      // A pose for every third distance only.
      if step % 3 == 1 { track.append(MotionTests.pose(UInt64(step) * 100_000_000, x: 0, z: 0)) }
      measure(at: step)
    }
    #expect(!statuses.contains(.notConverged([.insufficientLighting])), "\(statuses)")
    for step in 41...60 { measure(at: step) }
    #expect(statuses.last == .notConverged([.insufficientLighting]), "\(statuses)")
  }

  /// A straight path leaves two mirrored solutions, which the antennas' azimuth distinguishes.
  @Test(arguments: [Float(2), -2]) func antennasDistinguishRightFromLeft(_ x: Float) throws {
    let track = PoseTrack(
      (0...100).map { MotionTests.pose(UInt64($0 + 1) * 100_000_000, x: 0, z: -0.05 * Float($0)) })
    let target = simd_float3(x, 0.2, -2)
    let blind = try walk(track, to: target).last
    #expect(blind.horizontalAngle == nil)
    guard case .notConverged(let reasons) = blind.status else {
      Issue.record("\(blind.status)")
      return
    }
    #expect(reasons.contains(.insufficientHorizontalSweep))
    let seen = try walk(track, to: target) { Double(atan2($0.x, -$0.z)) }.last
    // The target is behind the device at the end.
    #expect(abs(try #require(seen.horizontalAngle) - atan2(x, 2 - 5)) < 0.15)
  }

  /// Distances that contradict all positions.
  @Test func inconsistentRangesAreAWeakSignal() throws {
    let finder = MotionFinder(MotionTests.track())
    var statuses: [NIAlgorithmConvergenceStatus] = []
    var random: UInt64 = 5
    for step in 0...100 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let range = 2 + Double(random >> 40) / Double(1 << 24) * 6
      statuses.append(
        finder.update(time: UInt64(step + 1) * 100_000_000, range: range, azimuth: nil).status)
    }
    let weak = statuses.contains {
      if case .notConverged(let reasons) = $0 {
        reasons.contains(.insufficientSignalStrength)
      } else {
        false
      }
    }
    #expect(weak)
  }

  // MARK: tracks

  @Test func recordedPosesAreSorted() throws {
    let poses = [3, 1, 2].map { MotionTests.pose(UInt64($0) * 1_000, x: Float($0), z: 0) }
    let track = PoseTrack(poses)
    for time in [1_000, 1_500, 2_000, 2_999] as [UInt64] {
      let place = try #require(track.pose(at: time)).transform.columns.3
      #expect(abs(place.x - Float(time) / 1_000) < 1e-5)
    }
  }

  @Test func olderPosesAreIgnored() throws {
    let track = PoseTrack()
    track.append(MotionTests.pose(1_000, x: 1, z: 0))
    track.append(MotionTests.pose(2_000, x: 2, z: 0))
    track.append(MotionTests.pose(2_000, x: 9, z: 0))
    track.append(MotionTests.pose(1_500, x: 9, z: 0))
    #expect(track.pose(at: 2_000)?.transform.columns.3.x == 2)
    #expect(track.pose(at: 1_500)?.transform.columns.3.x == 1.5)
  }

  /// From 170 degrees on the left to 170 on the right are 20 degrees, not 340. The quaternions of
  /// two poses may have opposite signs, depending on the branch of their conversion.
  @Test(arguments: [(170, 190), (-170, -190), (110, 130), (-110, -130)] as [(Float, Float)])
  func interpolatedRotationsTakeTheShorterArc(_ from: Float, _ to: Float) throws {
    let degree = Float.pi / 180
    let track = PoseTrack([
      MotionTests.pose(1_000, x: 0, z: 0, yaw: from * degree),
      MotionTests.pose(2_000, x: 0, z: 0, yaw: to * degree),
    ])
    let middle = (from + to) / 2 * degree
    let ahead = try #require(track.pose(at: 1_500)).transform * simd_float4(0, 0, -1, 0)
    #expect(simd_distance(ahead, simd_float4(-sin(middle), 0, -cos(middle), 0)) < 1e-4)
  }

  /// The newest poses are kept.
  @Test func tracksRemoveTheOldestPoses() throws {
    let track = PoseTrack(capacity: 8)
    for step in 1...1_000 {
      track.append(MotionTests.pose(UInt64(step) * 1_000, x: Float(step), z: 0))
    }
    let kept = (1...1_000).filter { track.pose(at: UInt64($0) * 1_000) != nil }
    #expect(kept.last == 1_000 && (8...16).contains(kept.count))
  }
}
