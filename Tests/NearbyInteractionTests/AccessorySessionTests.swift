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
    // 4 m away, 30 degrees to the right of where the antenna looks.
    let place = SIMD3<Double>(4 * cos(-Double.pi / 6), 4 * sin(-Double.pi / 6), 1)
    let meeting = try await Encounter(try Stage(others: [place]), role: role)
    let recorder = meeting.recorder
    let configuration = try await meeting.run()
    #expect(await recorder.waitForUpdates(40))
    meeting.session.invalidate()
    recorder.drain()
    #expect(recorder.milestones.first == .started && recorder.milestones.count == 2)
    #expect(recorder.strayCalls == 0)
    let objects = recorder.objects
    #expect(objects.allSatisfy { $0.discoveryToken == configuration.accessoryDiscoveryToken })
    let last = try #require(objects.last)
    #expect(abs(try #require(last.distance) - 4) < 0.1)
    let azimuths = objects.compactMap { $0.direction.map { asin($0.x) * 180 / .pi } }
    #expect(azimuths.count == objects.count)
    #expect(abs(azimuths.reduce(0, +) / Float(azimuths.count) - 30) < 5)
    let direction = try #require(last.direction)
    #expect(direction.z < 0 && abs(simd_length(direction) - 1) < 1e-5)
    let sample = try #require(last.sample)
    #expect(abs(sample.rawDistance - 4) < 0.2 && !sample.isOutlier)
    #expect(sample.standardDeviation > 0.001 && sample.standardDeviation < 0.1)
    #expect(try #require(sample.azimuthFigureOfMerit) > 50 && sample.elevation == nil)
    #expect(try #require(sample.rssi) < -50)
    let rounds = objects.compactMap { $0.sample?.sequenceNumber }
    #expect(zip(rounds, rounds.dropFirst()).allSatisfy { $0 < $1 })
    await meeting.end()
  }

  /// The chip's reports of single frames tell a blocked path; a chip without any leaves it open.
  @Test(
    arguments: [
      (ChipProfile.qm33PDoA, false, 0...0.2), (.qm33PDoA, true, 0.8...1), (.fira1, true, nil),
    ] as [(ChipProfile, Bool, ClosedRange<Float>?)])
  func blockedPathsShow(
    _ profile: ChipProfile, _ hasWall: Bool, _ expected: ClosedRange<Float>?
  ) async throws {
    var profile = profile
    profile.lineOfSight = .notDetermined
    var scene = Scene(seed: 11)
    if hasWall {
      scene.radio.walls = [.init(from: SIMD3(1.5, -5, 0), to: SIMD3(1.5, 5, 0), loss: 15)]
    }
    let meeting = try await Encounter(try Stage(profile, scene: scene))
    try await meeting.run()
    #expect(await meeting.recorder.waitForUpdates(12))
    // The first round does not wait for reports that may not come.
    let probabilities = meeting.recorder.objects.dropFirst(2).map {
      $0.sample?.nonLineOfSightProbability
    }
    let known = probabilities.compactMap(\.self)
    if let expected {
      // Of single rounds it is as noisy as their levels.
      #expect(known.count >= 8)
      #expect(expected.contains(known.reduce(0, +) / Float(max(1, known.count))), "\(known)")
    } else {
      #expect(known.isEmpty)
    }
    await meeting.end()
  }

  /// ENABLE_DIAGNOSTICS is a parameter of later firmwares.
  @Test func aFirmwareWithoutDiagnosticsRangesAllTheSame() async throws {
    var profile = ChipProfile.qm33PDoA
    profile.refusedParameters.insert(0xE8)
    let meeting = try await Encounter(try Stage(profile))
    try await meeting.run()
    #expect(await meeting.recorder.waitForUpdates(3))
    #expect(meeting.recorder.milestones.count == 2)
    #expect(meeting.recorder.objects.last?.sample?.nonLineOfSightProbability == nil)
    await meeting.end()
  }

  /// AOSP allows 1…10 attempts to tell the end; a chip that takes no 0 loses nothing else by it.
  @Test func aChipThatCannotEndQuietlyStillReportsLevels() async throws {
    var profile = ChipProfile.qm33PDoA
    profile.refusedParameters.insert(AppConfigID.inBandTerminationAttemptCount.rawValue)
    let meeting = try await Encounter(try Stage(profile), role: .controlee)
    try await meeting.run()
    #expect(await meeting.recorder.waitForUpdates(5))
    #expect(meeting.recorder.objects.last?.sample?.nonLineOfSightProbability != nil)
    await meeting.end()
  }

  @Test func eachRunMakesOtherDataAndTheCachedConfigurationRanges() async throws {
    let meeting = try await Encounter()
    let (recorder, session) = (meeting.recorder, meeting.session)
    try await meeting.run()
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
    await meeting.end()
  }

  @Test func anAccessoryThatEndsAsTheControllerSaysSo() async throws {
    let meeting = try await Encounter(role: .controller)
    let recorder = meeting.recorder
    try await meeting.run()
    #expect(await recorder.waitForUpdates(3))
    try await meeting.accessory.stop()
    #expect(await recorder.wait { $0.contains(.removed(.peerEnded)) })
    recorder.drain()
    #expect(recorder.calls.last == .removed(.peerEnded))
    await meeting.end()
  }

  @Test func severalSessionsShareAChip() async throws {
    let stage = try Stage(others: [SIMD3<Double>(2, 0, 1), SIMD3<Double>(5, 1, 1)])
    var accessories: [TestAccessory] = []
    var recorders: [Recorder] = []
    var sessions: [NISession] = []
    for (index, chip) in stage.others.enumerated() {
      let accessory = try await TestAccessory(chip, role: index == 0 ? .controller : .controlee)
      let recorder = Recorder()
      recorder.connect(to: accessory)
      let session = recorder.session(on: stage.path)
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
    // The end of one is not the other's.
    try await accessories[0].stop()
    #expect(await recorders[0].wait { $0.last == .removed(.peerEnded) })
    let before = recorders[1].objects.count
    #expect(await recorders[1].waitForUpdates(before + 3))
    #expect(recorders[1].milestones.count == 2)
    for session in sessions { await session.close() }
    for accessory in accessories { await accessory.close() }
    stage.bench.stop()
  }

  @Test func theChipSaysHowManySessionsThereMayBe() async throws {
    var profile = ChipProfile.qm33PDoA
    profile.maximumSessions = 2
    let stage = try Stage(profile)
    let accessory = try await TestAccessory(stage.others[0])
    let recorders = (0..<3).map { _ in Recorder() }
    var sessions: [NISession] = []
    for (index, recorder) in recorders.enumerated() {
      let session = recorder.session(on: stage.path)
      session.run(try await accessory.configuration())
      if index < 2 { #expect(await recorder.wait { $0.contains(.started) }) }
      sessions.append(session)
    }
    #expect(await recorders[2].wait { !$0.isEmpty })
    #expect(recorders[2].calls == [.invalidated(.activeSessionsLimitExceeded)])
    for session in sessions { await session.close() }
    await accessory.close()
    stage.bench.stop()
  }
}
