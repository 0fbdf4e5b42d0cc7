// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UCI
import UWB
import UWBSimulator

@testable import NearbyInteraction

/// The app's side and an accessory, each with a simulated chip behind a pseudo-terminal.
@Suite struct AccessorySessionTests {
  @Test(arguments: [SessionConfiguration.Role.controller, .controlee])
  func distancesAndAzimuthsAgreeWithTheScene(_ role: SessionConfiguration.Role) async throws {
    // The accessory is at 4 m, 30 degrees to the right of the antenna.
    let place = SIMD3(4 * cos(-Double.pi / 6), 4 * sin(-Double.pi / 6), 1)
    let fixture = try await SessionFixture(try ChipFixture(others: [place]), role: role)
    let recorder = fixture.recorder
    let configuration = try await fixture.run()
    #expect(await recorder.waitForUpdates(40))
    fixture.session.invalidate()
    recorder.drain()
    #expect(recorder.milestones.first == .started && recorder.milestones.count == 2)
    #expect(recorder.strayCalls == 0)
    let objects = recorder.objects
    #expect(objects.allSatisfy { $0.discoveryToken == configuration.accessoryDiscoveryToken })
    let last = try #require(objects.last)
    #expect(abs(try #require(last.distance) - 4) < 0.1)
    let azimuths = objects.compactMap { $0.sample?.azimuth.map { $0 * 180 / .pi } }
    #expect(azimuths.count == objects.count)
    let mean = azimuths.reduce(0, +) / Float(azimuths.count)
    #expect(abs(mean - 30) < 5)
    // The chip has no antenna for the elevation.
    #expect(objects.allSatisfy { $0.direction == nil })
    let sample = try #require(last.sample)
    #expect(abs(sample.rawDistance - 4) < 0.2 && !sample.isOutlier)
    #expect(sample.shortTermDeviation > 0.001 && sample.shortTermDeviation < 0.1)
    // Nobody has calibrated these boards.
    #expect(0.3...0.33 ~= sample.standardDeviation)
    #expect(try #require(sample.azimuthFigureOfMerit) > 50 && sample.elevation == nil)
    #expect(try #require(sample.rssi) < -50)
    let rounds = objects.compactMap { $0.sample?.sequenceNumber }
    #expect(zip(rounds, rounds.dropFirst()).allSatisfy { $0 < $1 })
    await fixture.end()
  }

  /// A chip with antennas for both angles, and an accessory on the right and above.
  @Test func directionsAgreeWithTheScene() async throws {
    let place = SIMD3(3.0, -1.5, 2)
    let fixture = try await SessionFixture(try ChipFixture(.sr250, others: [place]))
    try await fixture.run()
    #expect(await fixture.recorder.waitForUpdates(40))
    let directions = fixture.recorder.objects.compactMap(\.direction)
    #expect(directions.allSatisfy { abs(simd_length($0) - 1) < 1e-5 })
    let mean = simd_normalize(directions.reduce(simd_float3.zero, +))
    #expect(simd_distance(mean, simd_normalize(simd_float3(1.5, 1, -3))) < 0.1, "\(mean)")
    await fixture.end()
  }

  /// Reports of single frames show a blocked path. Without them, the path is unknown.
  @Test(
    arguments: [
      (ChipProfile.qm33PDoA, false, 0...0.2), (.qm33PDoA, true, 0.8...1), (.fira1, true, nil),
    ] as [(ChipProfile, Bool, ClosedRange<Float>?)])
  func blockedPathsAreReported(
    _ profile: ChipProfile, _ hasWall: Bool, _ expected: ClosedRange<Float>?
  ) async throws {
    var profile = profile
    profile.lineOfSight = .notDetermined
    var scene = Scene(seed: 11)
    if hasWall {
      scene.radio.walls = [.init(from: SIMD3(1.5, -5, 0), to: SIMD3(1.5, 5, 0), loss: 15)]
    }
    let fixture = try await SessionFixture(try ChipFixture(profile, scene: scene))
    try await fixture.run()
    #expect(await fixture.recorder.waitForUpdates(12))
    // The first round does not wait for reports, which may not come.
    let probabilities = fixture.recorder.objects.dropFirst(2).map {
      $0.sample?.nonLineOfSightProbability
    }
    let known = probabilities.compactMap(\.self)
    if let expected {
      // The estimate of a single round is as noisy as the levels of its frames.
      #expect(known.count >= 8)
      #expect(expected.contains(known.reduce(0, +) / Float(max(1, known.count))), "\(known)")
    } else {
      #expect(known.isEmpty)
    }
    await fixture.end()
  }

  /// ENABLE_DIAGNOSTICS is a parameter of later firmwares.
  @Test func rangingWorksWithoutDiagnostics() async throws {
    var profile = ChipProfile.qm33PDoA
    profile.refusedParameters.insert(0xE8)
    let fixture = try await SessionFixture(try ChipFixture(profile))
    try await fixture.run()
    #expect(await fixture.recorder.waitForUpdates(3))
    #expect(fixture.recorder.milestones.count == 2)
    #expect(fixture.recorder.objects.last?.sample?.nonLineOfSightProbability == nil)
    await fixture.end()
  }

  /// AOSP allows 1…10 termination attempts. A chip that refuses 0 keeps all other parameters.
  @Test func levelsAreReportedWithoutQuietEnds() async throws {
    var profile = ChipProfile.qm33PDoA
    profile.refusedParameters.insert(.inBandTerminationAttemptCount)
    let fixture = try await SessionFixture(try ChipFixture(profile), role: .controlee)
    try await fixture.run()
    #expect(await fixture.recorder.waitForUpdates(5))
    #expect(fixture.recorder.objects.last?.sample?.nonLineOfSightProbability != nil)
    await fixture.end()
  }

  @Test func runsMakeNewDataAndConfigurationsCanBeReused() async throws {
    let fixture = try await SessionFixture()
    let (recorder, session) = (fixture.recorder, fixture.session)
    try await fixture.run()
    #expect(await recorder.waitForUpdates(5))
    session.pause()
    session.run(try #require(session.configuration))
    #expect(
      await recorder.wait { calls in
        calls.count(where: { $0 == .started }) == 2 && calls.last != .started
          && calls.suffix(4).allSatisfy { $0.isUpdate }
      })
    session.invalidate()
    let data = recorder.calls.compactMap { if case .shareable(let data) = $0 { data } else { nil } }
    #expect(data.count == 2 && Set(data).count == 2)
    await fixture.end()
  }

  @Test func controllersAnnounceTheirEnd() async throws {
    let fixture = try await SessionFixture(role: .controller)
    let recorder = fixture.recorder
    try await fixture.run()
    #expect(await recorder.waitForUpdates(3))
    try await fixture.accessory.stop()
    #expect(await recorder.wait { $0.contains(.removed(.peerEnded)) })
    recorder.drain()
    #expect(recorder.calls.last == .removed(.peerEnded))
    await fixture.end()
  }

  @Test func severalSessionsShareAChip() async throws {
    let chips = try ChipFixture(others: [SIMD3(2, 0, 1), SIMD3(5, 1, 1)])
    var accessories: [TestAccessory] = []
    var recorders: [Recorder] = []
    var sessions: [NISession] = []
    for (index, chip) in chips.others.enumerated() {
      let accessory = try await TestAccessory(chip, role: index == 0 ? .controller : .controlee)
      let recorder = Recorder()
      recorder.connect(to: accessory)
      let session = recorder.session(on: chips.path)
      session.run(try await accessory.configuration())
      accessories.append(accessory)
      recorders.append(recorder)
      sessions.append(session)
    }
    let truth: [Float] = [2, Float(26).squareRoot()]
    for (recorder, distance) in zip(recorders, truth) {
      #expect(await recorder.waitForUpdates(10))
      #expect(abs(try #require(recorder.objects.last?.distance) - distance) < 0.1)
    }
    // The end of one session does not end the other.
    try await accessories[0].stop()
    #expect(await recorders[0].wait { $0.last == .removed(.peerEnded) })
    let before = recorders[1].objects.count
    #expect(await recorders[1].waitForUpdates(before + 3))
    #expect(recorders[1].milestones.count == 2)
    for session in sessions { await session.close() }
    for accessory in accessories { await accessory.close() }
    chips.bench.stop()
  }

  @Test func theChipLimitsTheSessions() async throws {
    var profile = ChipProfile.qm33PDoA
    profile.maximumSessions = 2
    let chips = try ChipFixture(profile)
    let accessory = try await TestAccessory(chips.others[0])
    let recorders = (0..<3).map { _ in Recorder() }
    var sessions: [NISession] = []
    for (index, recorder) in recorders.enumerated() {
      let session = recorder.session(on: chips.path)
      session.run(try await accessory.configuration())
      if index < 2 { #expect(await recorder.wait { $0.contains(.started) }) }
      sessions.append(session)
    }
    #expect(await recorders[2].wait { !$0.isEmpty })
    #expect(recorders[2].calls == [.invalidated(.activeSessionsLimitExceeded)])
    for session in sessions { await session.close() }
    await accessory.close()
    chips.bench.stop()
  }
}
