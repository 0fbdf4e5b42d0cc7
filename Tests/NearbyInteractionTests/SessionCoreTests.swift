// SPDX-License-Identifier: Apache-2.0
import Foundation
import System
import Testing
import UCI
import UWB
import UWBLink

@testable import NearbyInteraction

/// The implementation of a session, with a virtual clock and no chip.
@Suite struct SessionCoreTests {
  @Test func invalidateDropsPendingCallbacks() throws {
    let fixture = try SessionTests.CoreFixture()
    fixture.recorder.queue.suspend()
    fixture.run()
    fixture.session.invalidate()
    fixture.recorder.queue.resume()
    fixture.recorder.drain()
    #expect(fixture.recorder.calls.isEmpty)
    #expect(fixture.runner.orders == [.begin(1), .end(notifiesPeer: true)])
  }

  @Test func closeWaitsForTheChip() async throws {
    let fixture = try SessionTests.CoreFixture()
    fixture.run()
    await fixture.session.close()
    #expect(fixture.runner.orders == [.begin(1), .end(notifiesPeer: true), .finish])
  }

  // MARK: sleep

  /// The program cannot read both clocks at the same instant.
  @Test func smallClockDifferencesAreNoSleep() throws {
    let fixture = try SessionTests.CoreFixture()
    fixture.run()
    for step in 1...5 {
      fixture.clock.sleep(.milliseconds(step == 1 ? 900 : 0))
      fixture.feed(2, time: UInt64(step) * 1_000_000)
    }
    fixture.recorder.drain()
    #expect(fixture.recorder.milestones == [.started, .shareable(Data([1, 2, 3]))])
    #expect(fixture.recorder.objects.count == 5)
  }

  /// The app runs the session before the first event after the sleep.
  @Test func runAfterSleepReportsNoSuspension() throws {
    let fixture = try SessionTests.CoreFixture()
    fixture.run()
    fixture.clock.sleep(.seconds(3_600))
    fixture.run()
    fixture.recorder.drain()
    let data = Recorder.Call.shareable(Data([1, 2, 3]))
    #expect(fixture.recorder.calls == [.started, data, .started, data])
    #expect(fixture.runner.orders == [.begin(1), .end(notifiesPeer: false), .begin(2)])
  }

  // MARK: runs

  @Test func dataOfEarlierRunsIsIgnored() throws {
    let fixture = try SessionTests.CoreFixture()
    fixture.session.run(fixture.configuration)
    fixture.session.run(fixture.configuration)
    fixture.core.keep([2], for: 2)
    fixture.core.keep([1], for: 1)
    fixture.core.handle(.report(run: 2, .started(needsData: true)))
    fixture.recorder.drain()
    #expect(fixture.recorder.calls == [.started, .shareable(Data([2]))])
  }

  @Test func readConfigurationsAreCopies() throws {
    let fixture = try SessionTests.CoreFixture()
    fixture.session.run(fixture.configuration)
    let read = try #require(fixture.session.configuration as? NINearbyAccessoryConfiguration)
    read.isCameraAssistanceEnabled = true
    let again = try #require(fixture.session.configuration as? NINearbyAccessoryConfiguration)
    #expect(again !== read && !again.isCameraAssistanceEnabled)
  }

  /// Sessions with anchors have no object.
  @Test func anchorsHaveNoInactivityTimeout() throws {
    let fixture = try SessionTests.CoreFixture()
    fixture.session.run(NIDLTDOAConfiguration(networkIdentifier: 7))
    fixture.core.handle(.report(run: 1, .started(needsData: false)))
    fixture.clock.advance(.seconds(1_000))
    fixture.recorder.drain()
    #expect(fixture.recorder.calls == [.started])
    #expect(fixture.core.state.withLock { $0.machine.phase } == .running)
  }

  // MARK: requests

  private func problem(
    _ configuration: NIConfiguration, _ change: (NISession) -> Void
  ) throws -> NIError? {
    let fixture = try SessionTests.CoreFixture()
    change(fixture.session)
    return RunRequest(configuration, of: fixture.session).problem
  }

  @Test func invalidPoseSourcesAreNamed() throws {
    let configuration = try SessionTests.CoreFixture().configuration
    configuration.isCameraAssistanceEnabled = true
    let wrong = try problem(configuration) { $0.setARSession(NSObject()) }
    #expect(wrong?.code == .invalidARConfiguration)
    #expect(wrong?.description.contains("setARSession") == true)
    let none = try problem(configuration) { _ in }
    #expect(none?.code == .invalidARConfiguration)
    #expect(none?.description.contains("setARSession") == false)
    let mended = try problem(configuration) {
      $0.setARSession(NSObject())
      $0.poseSource = PoseTrack()
    }
    #expect(mended == nil)
  }

  /// An unsupported request is reported before its missing requirements.
  @Test func theFirstProblemIsReported() throws {
    let sounding = NINearbyAccessoryConfiguration(
      bluetoothChannelSoundingIdentifier: UUID(), previousBluetoothIdentifier: nil)
    sounding.isCameraAssistanceEnabled = true
    #expect(try problem(sounding) { _ in }?.code == .unsupportedPlatform)
    sounding.isCameraAssistanceEnabled = false
    #expect(
      try problem(sounding) { $0.setARSession(PoseTrack()) }?.code == .unsupportedPlatform)
    // An unused source of poses is no error, but an unused ARKit session is.
    let plain = try SessionTests.CoreFixture().configuration
    #expect(try problem(plain) { $0.setARSession(PoseTrack()) }?.code == .invalidARConfiguration)
    let changed = try problem(plain) {
      $0.setARSession(PoseTrack())
      $0.poseSource = PoseTrack()
    }
    #expect(changed == nil)
  }

  @Test func peersNeedASourceOfPosesToo() throws {
    let other = try #require(NISession().discoveryToken)
    let configuration = NINearbyPeerConfiguration(peerToken: other)
    configuration.isCameraAssistanceEnabled = true
    #expect(try problem(configuration) { _ in }?.code == .invalidARConfiguration)
    let fixture = try SessionTests.CoreFixture()
    fixture.session.poseSource = PoseTrack()
    let request = RunRequest(configuration, of: fixture.session)
    #expect(request.problem == nil && request.finder != nil && request.token == other)
  }

  @Test func accessoryTokensAreNoPeerTokens() throws {
    let found = try problem(NINearbyPeerConfiguration(peerToken: .accessory())) { _ in }
    #expect(found?.code == .invalidConfiguration)
    #expect(found?.description.contains("belongs to an accessory") == true)
  }
}
