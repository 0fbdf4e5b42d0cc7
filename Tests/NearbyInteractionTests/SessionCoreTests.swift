// SPDX-License-Identifier: Apache-2.0
import Foundation
import Locking
import Testing
import UCI
import UWB
import UWBLink

@testable import NearbyInteraction

/// The inside of a session, with a clock of the test's and nobody in the chip's place.
@Suite struct SessionCoreTests {
  @Test func invalidateSilencesWhatIsOnItsWay() throws {
    let parts = try SessionTests.Parts()
    parts.recorder.queue.suspend()
    parts.run()
    parts.session.invalidate()
    parts.recorder.queue.resume()
    parts.recorder.drain()
    #expect(parts.recorder.calls.isEmpty)
    #expect(parts.runner.orders == [.begin(1), .end(tellPeer: true)])
  }

  @Test func closeWaitsForTheChip() async throws {
    let parts = try SessionTests.Parts()
    parts.run()
    await parts.session.close()
    #expect(parts.runner.orders == [.begin(1), .end(tellPeer: true), .finish])
  }

  // MARK: sleep

  /// The two clocks are read one after the other.
  @Test func aLittleDifferenceBetweenTheClocksIsNoSleep() throws {
    let parts = try SessionTests.Parts()
    parts.run()
    for step in 1...5 {
      parts.clock.sleep(.milliseconds(step == 1 ? 900 : 0))
      parts.feed(2, time: UInt64(step) * 1_000_000)
    }
    parts.recorder.drain()
    #expect(parts.recorder.milestones == [.started, .shareable(Data([1, 2, 3]))])
    #expect(parts.recorder.objects.count == 5)
  }

  /// The app is quicker than the first event behind the sleep.
  @Test func whoRunsASessionBehindASleepIsNotToldOfIt() throws {
    let parts = try SessionTests.Parts()
    parts.run()
    parts.clock.sleep(.seconds(3_600))
    parts.run()
    parts.recorder.drain()
    let data = Recorder.Call.shareable(Data([1, 2, 3]))
    #expect(parts.recorder.calls == [.started, data, .started, data])
    #expect(parts.runner.orders == [.begin(1), .end(tellPeer: false), .begin(2)])
  }

  // MARK: runs

  @Test func dataOfAnEarlierRunIsNotKept() throws {
    let parts = try SessionTests.Parts()
    parts.session.run(parts.configuration)
    parts.session.run(parts.configuration)
    parts.core.keep([2], for: 2)
    parts.core.keep([1], for: 1)
    parts.core.handle(.report(run: 2, .started(needsData: true)))
    parts.recorder.drain()
    #expect(parts.recorder.calls == [.started, .shareable(Data([2]))])
  }

  @Test func theConfigurationThatIsReadIsACopy() throws {
    let parts = try SessionTests.Parts()
    parts.session.run(parts.configuration)
    let read = try #require(parts.session.configuration as? NINearbyAccessoryConfiguration)
    read.isCameraAssistanceEnabled = true
    let again = try #require(parts.session.configuration as? NINearbyAccessoryConfiguration)
    #expect(again !== read && !again.isCameraAssistanceEnabled)
  }

  /// Nobody can fall silent who was not ranged with.
  @Test func anchorsMayBeSilent() throws {
    let parts = try SessionTests.Parts()
    parts.session.run(NIDLTDOAConfiguration(networkIdentifier: 7))
    parts.core.handle(.report(run: 1, .started(needsData: false)))
    parts.clock.advance(.seconds(1_000))
    parts.recorder.drain()
    #expect(parts.recorder.calls == [.started])
    #expect(parts.core.state.withLock { $0.machine.phase } == .running)
  }

  // MARK: what is asked for

  private func problem(
    _ configuration: NIConfiguration, _ change: (NISession) -> Void
  ) throws -> NIError? {
    let parts = try SessionTests.Parts()
    change(parts.session)
    return RunRequest(configuration, of: parts.session).problem
  }

  @Test func theSourceOfPosesThatIsNoneIsNamed() throws {
    let configuration = try SessionTests.Parts().configuration
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

  /// What cannot be done at all is said before what is missing for it.
  @Test func theFirstProblemIsTold() throws {
    let sounding = NINearbyAccessoryConfiguration(
      bluetoothChannelSoundingIdentifier: UUID(), previousBluetoothIdentifier: nil)
    sounding.isCameraAssistanceEnabled = true
    #expect(try problem(sounding) { _ in }?.code == .unsupportedPlatform)
    sounding.isCameraAssistanceEnabled = false
    #expect(
      try problem(sounding) { $0.setARSession(PoseTrack()) }?.code == .unsupportedPlatform)
    // A source of poses that is not asked for is none; that of ARKit is.
    let plain = try SessionTests.Parts().configuration
    #expect(try problem(plain) { $0.setARSession(PoseTrack()) }?.code == .invalidARConfiguration)
    let changed = try problem(plain) {
      $0.setARSession(PoseTrack())
      $0.poseSource = PoseTrack()
    }
    #expect(changed == nil)
  }

  @Test func peersNeedASourceOfPosesAsWell() throws {
    let other = try #require(NISession().discoveryToken)
    let configuration = NINearbyPeerConfiguration(peerToken: other)
    configuration.isCameraAssistanceEnabled = true
    #expect(try problem(configuration) { _ in }?.code == .invalidARConfiguration)
    let parts = try SessionTests.Parts()
    parts.session.poseSource = PoseTrack()
    let request = RunRequest(configuration, of: parts.session)
    #expect(request.problem == nil && request.finder != nil && request.token == other)
  }

  @Test func theTokenOfAnAccessoryIsNoPeers() throws {
    let found = try problem(NINearbyPeerConfiguration(peerToken: .accessory())) { _ in }
    #expect(found?.code == .invalidConfiguration)
    #expect(found?.description.contains("that of an accessory") == true)
  }
}
