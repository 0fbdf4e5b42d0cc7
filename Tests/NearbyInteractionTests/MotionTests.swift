// SPDX-License-Identifier: Apache-2.0
import Foundation
import Ranging
import SIMDMath
import Testing
import UWBSimulator

@testable import NearbyInteraction

/// Directions from movement, with a source of poses instead of a camera.
@Suite struct MotionTests {
  /// A pose in the frame of `DevicePose`: `yaw` radians to the left of -z.
  static func pose(_ time: UInt64, x: Float, y: Float = 0, z: Float, yaw: Float = 0) -> DevicePose {
    var transform = simd_float4x4(simd_quatf(angle: yaw, axis: simd_float3(0, 1, 0)))
    transform.columns.3 = simd_float4(x, y, z, 1)
    return DevicePose(time: time, transform: transform)
  }

  /// A circle walked while raising and lowering the device; it starts and ends at (0, 0, -1.2).
  static func track() -> PoseTrack {
    PoseTrack(
      (0...100).map { step in
        let turn = Float(step) * .pi / 50
        return pose(
          UInt64(step + 1) * 100_000_000, x: 1.2 * sin(turn), y: 0.5 * sin(2 * turn),
          z: -1.2 * cos(turn))
      })
  }

  private func angle(_ a: simd_float3, _ b: simd_float3) -> Float {
    acos(max(-1, min(1, simd_dot(simd_normalize(a), simd_normalize(b)))))
  }

  @Test func walkingFindsTargetsInAllDirections() throws {
    for target in [simd_float3(4, 0.2, -3), simd_float3(-1, 0, 2), simd_float3(5, 1.2, 1)] {
      let track = Self.track()
      let finder = MotionFinder(track)
      var statuses: [NIAlgorithmConvergenceStatus] = []
      var last = MotionFinder.Finding()
      for step in 0...100 {
        let time = 100_000_000 + UInt64(step) * 100_000_000
        guard let pose = track.pose(at: time) else { continue }
        let place = pose.transform.columns.3
        let here = simd_float3(place.x, place.y, place.z)
        last = finder.update(time: time, range: Double(simd_distance(here, target)), azimuth: nil)
        if last.isStatusChange { statuses.append(last.status) }
      }
      guard case .notConverged(let reasons)? = statuses.first else {
        Issue.record("\(statuses)")
        continue
      }
      #expect(reasons.contains(.insufficientMovement))
      #expect(last.status == .converged, "\(target): \(last.status)")
      // The device always faces -z.
      let arm = target - simd_float3(0, 0, -1.2)
      let truth = atan2(arm.x, -arm.z)
      #expect(abs(try #require(last.horizontalAngle) - truth) < 0.1, "\(target)")
      #expect(angle(try #require(last.direction), arm) < 0.15, "\(target)")
      let found = try #require(finder.worldTransform).columns.3
      #expect(simd_distance(simd_float3(found.x, found.y, found.z), target) < 0.3)
    }
  }

  @Test func nothingConvergesAtRest() {
    let track = PoseTrack((1...50).map { Self.pose($0 * 100_000_000, x: 0, z: 0) })
    let finder = MotionFinder(track)
    for step in 1...50 {
      let finding = finder.update(time: UInt64(step) * 100_000_000, range: 3, azimuth: nil)
      #expect(finding.horizontalAngle == nil && finding.direction == nil)
      guard case .notConverged(let reasons) = finding.status else {
        Issue.record("\(finding.status)")
        return
      }
      #expect(!reasons.isEmpty)
    }
    #expect(finder.worldTransform == nil)
  }

  @Test func missingPosesAreReported() {
    let finding = MotionFinder(PoseTrack()).update(time: 1, range: 3, azimuth: nil)
    #expect(finding.status == .notConverged([.insufficientLighting]) && finding.isStatusChange)
  }

  @Test func posesAreInterpolatedAndExpire() throws {
    let track = PoseTrack(capacity: 4)
    track.append(Self.pose(1_000, x: 0, z: 0))
    track.append(Self.pose(2_000, x: 1, z: 2, yaw: 1))
    track.append(Self.pose(1_500, x: 9, z: 9))
    let middle = try #require(track.pose(at: 1_250)).transform
    #expect(simd_distance(middle.columns.3, simd_float4(0.25, 0, 0.5, 1)) < 1e-6)
    #expect(abs(simd_quatf(middle).angle - 0.25) < 0.01)
    #expect(track.pose(at: 999) == nil)
    #expect(track.pose(at: 500_001_000)?.transform.columns.3.x == 1)
    #expect(track.pose(at: 500_003_000) == nil)
    for step in 3..<40 { track.append(Self.pose(UInt64(step) * 1_000, x: Float(step), z: 0)) }
    #expect(track.pose(at: 2_000) == nil && track.pose(at: 38_500)?.transform.columns.3.x == 38.5)
  }

  /// Robots have x ahead and y to the left. In this library, -z is ahead and -x is to the left.
  @Test func robotPosesAreConverted() throws {
    let left = simd_quatd(angle: .pi / 2, axis: simd_double3(0, 0, 1))
    let pose = DevicePose(time: 1, position: simd_double3(3, 1, 2), rotation: left)
    #expect(simd_distance(pose.transform.columns.3, simd_float4(-1, 2, -3, 1)) < 1e-6)
    // Turned to the left, the device faces -x.
    let ahead = pose.transform * simd_float4(0, 0, -1, 0)
    #expect(simd_distance(ahead, simd_float4(-1, 0, 0, 0)) < 1e-6)
    let back = try #require(pose.ranging)
    #expect((back.position - SIMD3<Double>(3, 1, 2)).length < 1e-6)
    #expect(abs(abs(back.w) - 0.5.squareRoot()) < 1e-6 && abs(back.x) + abs(back.y) < 1e-6)
    // A target straight ahead of the first pose is now to the right.
    #expect(abs(back.azimuth(of: SIMD3<Double>(9, 1, 2)) + .pi / 2) < 1e-6)
    #expect(DevicePose(time: 1, transform: simd_float4x4()).ranging == nil)
  }

  /// A source that has the simulated position of the chip.
  final class Follower: PoseSource {
    let chip: SimulatedBench.Chip
    init(_ chip: SimulatedBench.Chip) { self.chip = chip }
    func pose(at time: UInt64) -> DevicePose? {
      let place = chip.position
      return DevicePose(
        time: time, position: simd_double3(place.x, place.y, place.z),
        rotation: simd_quatd(real: 1, imag: .zero))
    }
  }

  /// The test takes more than a second, because the chip completes one circle in real time.
  @Test func movementFindsAnAccessory() async throws {
    let circle = Motion.circle(centre: SIMD3(0, 0, 1), radius: 0.6, period: 2.5)
    let chips = try ChipFixture(
      .qm33, app: Placement(circle), others: [SIMD3(1, 3, 1)],
      scene: Scene(seed: 5, distanceNoise: 0.02))
    let fixture = try await SessionFixture(chips)
    let (recorder, session) = (fixture.recorder, fixture.session)
    let configuration = try await fixture.accessory.configuration()
    configuration.isCameraAssistanceEnabled = true
    session.poseSource = Follower(chips.app)
    session.run(configuration)
    let found = await recorder.wait { calls in
      calls.contains {
        if case .converged(let status) = $0 { status.hasHorizontalAngle } else { false }
      }
    }
    #expect(found)
    #expect(await recorder.wait { $0.last?.isUpdate == true })
    let last = try #require(recorder.objects.last)
    let place = chips.app.position
    // For a host that faces x, right is -y.
    let truth = atan2(-(3 - place.y), 1 - place.x)
    if let measured = last.horizontalAngle { #expect(abs(Double(measured) - truth) < 0.35) }
    #expect(recorder.objects.contains { $0.horizontalAngle != nil })
    await fixture.end()
  }

  @Test func assistanceNeedsAValidSource() async throws {
    let fixture = try SessionTests.CoreFixture()
    fixture.configuration.isCameraAssistanceEnabled = true
    fixture.session.run(fixture.configuration)
    fixture.recorder.drain()
    #expect(fixture.recorder.calls == [.invalidated(.invalidARConfiguration)])
    let others = try SessionTests.CoreFixture()
    others.configuration.isCameraAssistanceEnabled = true
    others.session.setARSession(NSObject())
    others.session.run(others.configuration)
    others.recorder.drain()
    #expect(others.recorder.calls == [.invalidated(.invalidARConfiguration)])
    // An app that sets an ARKit session has to enable assistance.
    let unasked = try SessionTests.CoreFixture()
    unasked.session.setARSession(PoseTrack())
    unasked.session.run(unasked.configuration)
    unasked.recorder.drain()
    #expect(unasked.recorder.calls == [.invalidated(.invalidARConfiguration)])
    let good = try SessionTests.CoreFixture()
    good.configuration.isCameraAssistanceEnabled = true
    good.session.setARSession(PoseTrack())
    good.run()
    good.recorder.drain()
    #expect(good.recorder.calls.first == .started)
  }
}

extension NIAlgorithmConvergenceStatus {
  /// Only the height may be unknown.
  fileprivate var hasHorizontalAngle: Bool {
    switch self {
    case .converged: true
    case .notConverged(let reasons): reasons == [.insufficientVerticalSweep]
    case .unknown: false
    }
  }
}
