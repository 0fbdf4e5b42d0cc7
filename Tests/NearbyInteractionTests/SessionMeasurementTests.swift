// SPDX-License-Identifier: Apache-2.0
import Foundation
import System
import SIMDMath
import Testing
import UCI
import UCIReference
import UWB

@testable import NearbyInteraction

/// The fields of a chip's report, in virtual time and without a chip.
@Suite struct SessionMeasurementTests {
  /// A chip's supported angles: AOA_SUPPORT of FiRa's CORE_GET_CAPS_INFO_RSP.
  private static func chip(_ angles: Capabilities.Angles) -> Capabilities {
    Capabilities([TLV(CapabilityID.aoaSupport.number(in: .fira2) ?? 0, [angles.rawValue])])
  }

  /// Angles on the wire are degrees in Q9.7.
  private static func angle(_ degrees: Double, _ merit: UInt8 = 90) -> Angle {
    Angle(raw: Int16(degrees * 128), figureOfMerit: merit)
  }

  private static func measurement(
    metres: Double = 3, status: Status = .ok, azimuth: Angle = angle(0, 0),
    elevation: Angle = angle(0, 0), rssi: UInt8 = 0
  ) -> TwoWayMeasurement {
    var measurement = TwoWayMeasurement(
      peer: MACAddress(7), status: status, rawDistance: UInt16((metres * 100).rounded()))
    measurement.azimuth = azimuth
    measurement.elevation = elevation
    measurement.rawRSSI = rssi
    return measurement
  }

  /// The object that an app gets for one report.
  private func object(
    _ measurement: TwoWayMeasurement, on chip: Capabilities, time: UInt64 = 1_000_000,
    round: UInt32 = 0
  ) throws -> NINearbyObject {
    let fixture = try SessionTests.CoreFixture()
    fixture.run()
    fixture.feed(measurement, time: time, round: round, to: fixture.core.reports(of: 1, chip))
    fixture.recorder.drain()
    #expect(fixture.recorder.objects.count == 1)
    return try #require(fixture.recorder.objects.last)
  }

  private func expect(
    _ direction: simd_float3?, _ expected: simd_float3, within tolerance: Float = 1e-3
  ) throws {
    #expect(simd_distance(try #require(direction), expected) < tolerance, "\(direction ?? .zero)")
  }

  @Test func fieldsOfARound() throws {
    let object = try object(
      Self.measurement(metres: 2.5, azimuth: Self.angle(30, 77), rssi: 121),
      on: Self.chip([.azimuth90, .figureOfMerit]), time: 5_000, round: 41)
    #expect(object.distance == 2.5)
    let sample = try #require(object.sample)
    #expect(sample.rawDistance == 2.5 && !sample.isOutlier)
    #expect(sample.sequenceNumber == 41 && sample.receivedAt == 5_000)
    // RSSI is an unsigned Q7.1 magnitude.
    #expect(sample.rssi == -60.5)
    let azimuth = try #require(sample.azimuth)
    #expect(abs(azimuth - Float.pi / 6) < 1e-5)
    #expect(sample.azimuthFigureOfMerit == 77)
    #expect(sample.elevation == nil)
  }

  /// The phone's frame: x to the right, y up, -z ahead.
  @Test func directionsAreInTheFrameOfApple() throws {
    let chip = Self.chip([.azimuth90, .elevation, .figureOfMerit])
    let half = Float(0.5).squareRoot()
    try expect(
      object(
        Self.measurement(azimuth: Self.angle(45), elevation: Self.angle(0)), on: chip
      ).direction, simd_float3(half, 0, -half))
    try expect(
      object(
        Self.measurement(azimuth: Self.angle(-45), elevation: Self.angle(0)), on: chip
      ).direction, simd_float3(-half, 0, -half))
    try expect(
      object(
        Self.measurement(azimuth: Self.angle(0), elevation: Self.angle(45)), on: chip
      ).direction, simd_float3(0, half, -half))
    // 90 degrees to the right on the horizon, raised by 45.
    try expect(
      object(
        Self.measurement(azimuth: Self.angle(89.99), elevation: Self.angle(-45)), on: chip
      ).direction, simd_float3(half, -half, 0))
  }

  @Test func unsupportedAnglesAreIgnored() throws {
    let measurement = Self.measurement(azimuth: Self.angle(30), elevation: Self.angle(20))
    let none = try object(measurement, on: Self.chip([]))
    #expect(none.direction == nil && none.sample?.azimuth == nil && none.sample?.elevation == nil)
    #expect(none.sample?.azimuthFigureOfMerit == nil && none.sample?.elevationFigureOfMerit == nil)
    let flat = try object(measurement, on: Self.chip([.azimuth180]))
    #expect(flat.sample?.azimuth != nil && flat.sample?.elevation == nil)
    // Without an elevation there is no direction.
    #expect(flat.direction == nil)
    // Without the capability of figures of merit, zeros in their place have no meaning.
    let plain = try object(
      Self.measurement(azimuth: Self.angle(30, 0)), on: Self.chip([.azimuth90]))
    #expect(plain.sample?.azimuth != nil && plain.sample?.azimuthFigureOfMerit == nil)
    let both = try object(measurement, on: Self.chip([.azimuth90, .elevation]))
    #expect(both.sample?.elevation != nil && both.sample?.elevationFigureOfMerit == nil)
  }

  /// A figure of merit of 0: there is no estimate.
  @Test func anglesWithoutMeritAreIgnored() throws {
    let chip = Self.chip([.azimuth90, .elevation, .figureOfMerit])
    let object = try object(
      Self.measurement(azimuth: Self.angle(30, 0), elevation: Self.angle(20, 50)), on: chip)
    #expect(object.direction == nil && object.sample?.azimuth == nil)
    #expect(object.sample?.azimuthFigureOfMerit == 0)
    let elevation = try #require(object.sample?.elevation)
    #expect(abs(elevation - Float.pi / 9) < 1e-4)
    #expect(object.sample?.elevationFigureOfMerit == 50)
  }

  /// Status 0x1B: a distance near zero with an antenna delay that is too large.
  @Test func negativeDistancesAreZeroExceptInTheSample() throws {
    let object = try object(
      Self.measurement(metres: 0.2, status: .okNegativeDistance), on: Self.chip([]))
    #expect(object.distance == 0 && object.sample?.rawDistance == -0.2)
  }

  // MARK: with movement

  /// Movement along -z past an object on the right, with the antennas' azimuths.
  private func walkPast(
    _ angles: Capabilities.Angles, merit: UInt8 = 90
  ) throws -> (SessionTests.CoreFixture, simd_float3) {
    let fixture = try SessionTests.CoreFixture()
    let target = simd_float3(2, 0.3, -2)
    let track = PoseTrack(
      (0...60).map { MotionTests.pose(UInt64($0 + 1) * 100_000_000, x: 0, z: -0.08 * Float($0)) })
    fixture.configuration.isCameraAssistanceEnabled = true
    fixture.session.poseSource = track
    fixture.run()
    let reports = fixture.core.reports(of: 1, Self.chip(angles))
    for step in 0...60 {
      let arm = target - simd_float3(0, 0, -0.08 * Float(step))
      let measurement = Self.measurement(
        metres: Double(simd_length(arm)),
        azimuth: Self.angle(Double(atan2(arm.x, -arm.z)) * 180 / .pi, merit))
      fixture.feed(measurement, time: UInt64(step + 1) * 100_000_000, to: reports)
    }
    fixture.core.state.withLock { $0.finder }?.queue.sync {}
    fixture.recorder.drain()
    return (fixture, target - simd_float3(0, 0, -4.8))
  }

  /// A straight path does not distinguish left from right. An all-round azimuth distinguishes them.
  /// An azimuth that confuses front and back must not be used for this.
  @Test func onlyAllRoundAzimuthsAreUsedWithMovement() throws {
    let (all, arm) = try walkPast([.azimuth180, .figureOfMerit])
    let last = try #require(all.recorder.objects.last)
    let found = try #require(last.horizontalAngle)
    #expect(abs(found - atan2(arm.x, -arm.z)) < 0.1, "\(found)")
    // Neither the antennas nor a level path determine the height.
    #expect(last.direction == nil)
    let (half, _) = try walkPast([.azimuth90, .figureOfMerit])
    #expect(half.recorder.objects.last?.horizontalAngle == nil)
  }

  /// Returns the reports of a chip with both antennas along a track, and the objects that an app
  /// receives.
  /// - Parameter isHalf: the antennas mirror directions behind them to the front.
  private func walk(
    _ track: PoseTrack, to target: simd_float3, isHalf: Bool
  ) throws -> [NINearbyObject] {
    let fixture = try SessionTests.CoreFixture()
    fixture.configuration.isCameraAssistanceEnabled = true
    fixture.session.poseSource = track
    fixture.run()
    let chip = Self.chip([isHalf ? .azimuth90 : .azimuth180, .elevation, .figureOfMerit])
    let reports = fixture.core.reports(of: 1, chip)
    for step in 0...100 {
      let time = UInt64(step + 1) * 100_000_000
      let place = try #require(track.pose(at: time)).transform.columns.3
      let arm = target - simd_float3(place.x, place.y, place.z)
      let azimuth = isHalf ? asin(arm.x / hypot(arm.x, arm.z)) : atan2(arm.x, -arm.z)
      fixture.feed(
        Self.measurement(
          metres: Double(simd_length(arm)), azimuth: Self.angle(Double(azimuth) * 180 / .pi),
          elevation: Self.angle(Double(asin(arm.y / simd_length(arm))) * 180 / .pi)),
        time: time, to: reports)
      fixture.core.state.withLock { $0.finder }?.queue.sync {}
      fixture.recorder.drain()
    }
    let objects = fixture.recorder.objects
    #expect(objects.count == 101)
    // The direction never contradicts the horizontal angle.
    for object in objects {
      guard let direction = object.direction, let angle = object.horizontalAngle else { continue }
      #expect(cos(atan2(direction.x, -direction.z) - angle) > 0.85, "\(direction) \(angle)")
    }
    return objects
  }

  /// An object behind the device, which antennas for ±90° report as mirrored to the front.
  @Test(arguments: [true, false]) func objectsBehindAreNotMirrored(isHalf: Bool) throws {
    let target = simd_float3(1, 1.2, 4)
    let objects = try walk(MotionTests.track(), to: target, isHalf: isHalf)
    // The direction is reported as soon as movement has determined the angle.
    let converged = objects.filter { $0.horizontalAngle != nil }
    #expect(converged.count > 10)
    #expect(converged.allSatisfy { ($0.direction?.z ?? 1) > 0 })
    try expect(
      #require(objects.last).direction,
      simd_normalize(target - simd_float3(0, 0, -1.2)), within: 0.15)
  }

  /// A level walk does not determine the height. The antennas determine the direction where they
  /// agree with the horizontal angle; otherwise there is no direction.
  @Test(arguments: [true, false]) func contradictionsAreLeftOut(isHalf: Bool) throws {
    let track = FinderTests.levelTrack()
    let behind = try #require(walk(track, to: simd_float3(1, 1.2, 4), isHalf: isHalf).last)
    #expect(behind.horizontalAngle != nil && (behind.direction == nil) == isHalf)
    let ahead = try #require(walk(track, to: simd_float3(1, 1.2, -5), isHalf: isHalf).last)
    #expect(ahead.horizontalAngle != nil)
    try expect(ahead.direction, simd_normalize(simd_float3(1, 1.2, -3.8)), within: 0.02)
  }

  /// All changes, and only changes, are reported.
  @Test func convergenceIsReportedWhenItChanges() throws {
    let fixture = try SessionTests.CoreFixture()
    fixture.configuration.isCameraAssistanceEnabled = true
    fixture.session.poseSource = PoseTrack()
    fixture.run()
    for step in 1...10 { fixture.feed(3, time: UInt64(step) * 100_000_000) }
    fixture.core.state.withLock { $0.finder }?.queue.sync {}
    fixture.recorder.drain()
    #expect(fixture.recorder.objects.count == 10)
    #expect(
      fixture.recorder.milestones == [
        .started, .shareable(Data([1, 2, 3])), .converged(.notConverged([.insufficientLighting])),
      ])
  }
}
