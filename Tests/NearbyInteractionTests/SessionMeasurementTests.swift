// SPDX-License-Identifier: Apache-2.0
import Foundation
import Locking
import SIMDMath
import Testing
import UCI
import UCIReference
import UWB

@testable import NearbyInteraction

/// What becomes of the fields of a chip's report. Time is virtual, nobody is in the chip's place.
@Suite struct SessionMeasurementTests {
  /// What a chip says of its angles: AOA_SUPPORT of FiRa's CORE_GET_CAPS_INFO_RSP.
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

  /// What an app gets of one report.
  private func object(
    _ measurement: TwoWayMeasurement, on chip: Capabilities, time: UInt64 = 1_000_000,
    round: UInt32 = 0
  ) throws -> NINearbyObject {
    let parts = try SessionTests.Parts()
    parts.run()
    parts.feed(measurement, time: time, round: round, to: parts.core.reports(of: 1, chip))
    parts.recorder.drain()
    #expect(parts.recorder.objects.count == 1)
    return try #require(parts.recorder.objects.last)
  }

  private func expect(_ direction: simd_float3?, _ expected: simd_float3) throws {
    #expect(simd_distance(try #require(direction), expected) < 1e-3, "\(direction ?? .zero)")
  }

  @Test func theFieldsOfARound() throws {
    let object = try object(
      Self.measurement(metres: 2.5, azimuth: Self.angle(30, 77), rssi: 121),
      on: Self.chip([.azimuth90, .figureOfMerit]), time: 5_000, round: 41)
    #expect(object.distance == 2.5)
    let sample = try #require(object.sample)
    #expect(sample.rawDistance == 2.5 && !sample.isOutlier)
    #expect(sample.sequenceNumber == 41 && sample.receivedAt == 5_000)
    // RSSI is an unsigned Q7.1 magnitude.
    #expect(sample.rssi == -60.5)
    #expect(abs(try #require(sample.azimuth) - .pi / 6) < 1e-5)
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

  @Test func anglesThatAChipDoesNotMeasureAreNotBelieved() throws {
    let measurement = Self.measurement(azimuth: Self.angle(30), elevation: Self.angle(20))
    let none = try object(measurement, on: Self.chip([]))
    #expect(none.direction == nil && none.sample?.azimuth == nil && none.sample?.elevation == nil)
    #expect(none.sample?.azimuthFigureOfMerit == nil && none.sample?.elevationFigureOfMerit == nil)
    let flat = try object(measurement, on: Self.chip([.azimuth180]))
    #expect(flat.sample?.azimuth != nil && flat.sample?.elevation == nil)
    try expect(flat.direction, simd_float3(0.5, 0, -Float(0.75).squareRoot()))
    // Without figures of merit a zero in their place means nothing.
    let plain = try object(
      Self.measurement(azimuth: Self.angle(30, 0)), on: Self.chip([.azimuth90]))
    #expect(plain.direction != nil && plain.sample?.azimuthFigureOfMerit == nil)
    let both = try object(measurement, on: Self.chip([.azimuth90, .elevation]))
    #expect(both.sample?.elevation != nil && both.sample?.elevationFigureOfMerit == nil)
  }

  /// A figure of merit of 0: there is no estimate.
  @Test func anAngleWithoutMeritIsNone() throws {
    let chip = Self.chip([.azimuth90, .elevation, .figureOfMerit])
    let object = try object(
      Self.measurement(azimuth: Self.angle(30, 0), elevation: Self.angle(20, 50)), on: chip)
    #expect(object.direction == nil && object.sample?.azimuth == nil)
    #expect(object.sample?.azimuthFigureOfMerit == 0)
    #expect(abs(try #require(object.sample?.elevation) - .pi / 9) < 1e-4)
    #expect(object.sample?.elevationFigureOfMerit == 50)
  }

  /// Status 0x1B: what an antenna delay that is set too large makes of a distance near zero.
  @Test func aNegativeDistanceIsZeroToTheAppAndStaysInTheSample() throws {
    let object = try object(
      Self.measurement(metres: 0.2, status: .okNegativeDistance), on: Self.chip([]))
    #expect(object.distance == 0 && object.sample?.rawDistance == -0.2)
  }

  // MARK: with movement

  /// Straight ahead along -z past an object to the right, with the antennas' azimuths.
  private func walkPast(
    _ angles: Capabilities.Angles, merit: UInt8 = 90
  ) throws -> (SessionTests.Parts, simd_float3) {
    let parts = try SessionTests.Parts()
    let target = simd_float3(2, 0.3, -2)
    let track = PoseTrack(
      (0...60).map { MotionTests.pose(UInt64($0 + 1) * 100_000_000, x: 0, z: -0.08 * Float($0)) })
    parts.configuration.isCameraAssistanceEnabled = true
    parts.session.poseSource = track
    parts.run()
    let reports = parts.core.reports(of: 1, Self.chip(angles))
    for step in 0...60 {
      let arm = target - simd_float3(0, 0, -0.08 * Float(step))
      let measurement = Self.measurement(
        metres: Double(simd_length(arm)),
        azimuth: Self.angle(Double(atan2(arm.x, -arm.z)) * 180 / .pi, merit))
      parts.feed(measurement, time: UInt64(step + 1) * 100_000_000, to: reports)
    }
    parts.core.state.withLock { $0.finder }?.queue.sync {}
    parts.recorder.drain()
    return (parts, target - simd_float3(0, 0, -4.8))
  }

  /// A straight line does not tell left from right; an azimuth that is good all round does, and one
  /// that mixes up front and back must not.
  @Test func onlyAzimuthsThatAreGoodAllRoundHelpTheMovement() throws {
    let (all, arm) = try walkPast([.azimuth180, .figureOfMerit])
    let last = try #require(all.recorder.objects.last)
    let found = try #require(last.horizontalAngle)
    #expect(abs(found - atan2(arm.x, -arm.z)) < 0.1, "\(found)")
    // Where the antennas see it, they say where it is.
    try expect(
      last.direction, simd_normalize(simd_float3(arm.x, 0, arm.z)))
    let (half, _) = try walkPast([.azimuth90, .figureOfMerit])
    #expect(half.recorder.objects.last?.horizontalAngle == nil)
  }

  /// The antennas see it on the horizon, the movement knows how high it is.
  @Test func whatTheAntennasSeeComesBeforeWhatMovementFinds() throws {
    let parts = try SessionTests.Parts()
    let (target, track) = (simd_float3(4, 1.2, -3), MotionTests.track())
    parts.configuration.isCameraAssistanceEnabled = true
    parts.session.poseSource = track
    parts.run()
    let chip = Self.chip([.azimuth180, .figureOfMerit])
    let reports = parts.core.reports(of: 1, chip)
    for step in 0...100 {
      let time = UInt64(step + 1) * 100_000_000
      let place = try #require(track.pose(at: time)).transform.columns.3
      let arm = target - simd_float3(place.x, place.y, place.z)
      // The last one has no azimuth.
      parts.feed(
        Self.measurement(
          metres: Double(simd_length(arm)),
          azimuth: Self.angle(Double(atan2(arm.x, -arm.z)) * 180 / .pi, step < 100 ? 90 : 0)),
        time: time, to: reports)
    }
    parts.core.state.withLock { $0.finder }?.queue.sync {}
    parts.recorder.drain()
    let last = parts.recorder.objects.suffix(2)
    #expect(try #require(last.first?.direction).y == 0)
    #expect(try #require(last.last?.direction).y > 0.1)
  }

  /// Each change of it, and nothing but changes.
  @Test func convergenceIsToldWhenItChanges() throws {
    let parts = try SessionTests.Parts()
    parts.configuration.isCameraAssistanceEnabled = true
    parts.session.poseSource = PoseTrack()
    parts.run()
    for step in 1...10 { parts.feed(3, time: UInt64(step) * 100_000_000) }
    parts.core.state.withLock { $0.finder }?.queue.sync {}
    parts.recorder.drain()
    #expect(parts.recorder.objects.count == 10)
    #expect(
      parts.recorder.milestones == [
        .started, .shareable(Data([1, 2, 3])), .converged(.notConverged([.insufficientLighting])),
      ])
  }
}
