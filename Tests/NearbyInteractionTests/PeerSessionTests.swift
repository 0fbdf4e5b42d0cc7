// SPDX-License-Identifier: Apache-2.0
import Foundation
@testable import NearbyInteraction
import Peers
import Testing
import UWBSimulator

/// Two Linux hosts with each other's tokens.
@Suite struct PeerSessionTests {
  private func sent(_ token: NIDiscoveryToken?) throws -> NIDiscoveryToken {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: try #require(token), requiringSecureCoding: true)
    return try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NIDiscoveryToken.self, from: data))
  }

  @Test(arguments: [ChipProfile.qm33PDoA, .sr250])
  func bothPeersMeasureEachOther(_ profile: ChipProfile) async throws {
    let chips = try ChipFixture(profile, others: [SIMD3(2, 1, 1)])
    let recorders = [Recorder(), Recorder()]
    let sessions = [
      recorders[0].session(on: chips.path), recorders[1].session(on: chips.otherPaths[0]),
    ]
    for session in sessions { await NISession.prepare(session.device) }
    let tokens = try sessions.map { try sent($0.discoveryToken) }
    #expect(tokens[0] != tokens[1] && tokens[0] == sessions[0].discoveryToken)
    #expect(
      tokens[0].deviceCapabilities.supportsDirectionMeasurement
        == profile.angles.isSuperset(of: [.azimuth180, .elevation]))
    sessions[0].run(NINearbyPeerConfiguration(peerToken: tokens[1]))
    sessions[1].run(NINearbyPeerConfiguration(peerToken: tokens[0]))
    for (recorder, peer) in zip(recorders, tokens.reversed()) {
      #expect(await recorder.waitForUpdates(3))
      let last = try #require(recorder.objects.last)
      #expect(last.discoveryToken == peer)
      #expect(abs(try #require(last.distance) - Float(5).squareRoot()) < 0.15)
      #expect(recorder.milestones == [.started])
    }
    for session in sessions { await session.close() }
    chips.bench.stop()
  }

  @Test func tokensOfOtherSessionsDoNotRange() async throws {
    let chips = try ChipFixture(others: [SIMD3(2, 1, 1)])
    let recorders = [Recorder(), Recorder()]
    let old = NISession()
    old.device = chips.otherPaths[0]
    let sessions = [
      recorders[0].session(on: chips.path), recorders[1].session(on: chips.otherPaths[0]),
    ]
    let replayed = try sent(old.discoveryToken)
    sessions[0].timeouts.firstMeasurement = .milliseconds(900)
    sessions[1].run(
      NINearbyPeerConfiguration(peerToken: try #require(sessions[0].discoveryToken)))
    #expect(await recorders[1].wait { $0 == [.started] })
    sessions[0].run(NINearbyPeerConfiguration(peerToken: replayed))
    #expect(await recorders[0].wait { $0 == [.started, .removed(.timeout)] })
    #expect(recorders[1].objects.isEmpty)
    for session in sessions { await session.close() }
    chips.bench.stop()
  }

  @Test func unusableTokensAreErrors() async throws {
    let chips = try ChipFixture(others: [])
    let recorder = Recorder()
    let own = recorder.session(on: chips.path)
    own.run(NINearbyPeerConfiguration(peerToken: try #require(own.discoveryToken)))
    #expect(await recorder.wait { $0 == [.invalidated(.invalidConfiguration)] })
    // The app runs the session again to find out whether it may range.
    own.run(NINearbyPeerConfiguration(peerToken: try #require(own.discoveryToken)))
    #expect(await recorder.wait { $0.count == 2 && $0.last == .invalidated(.invalidConfiguration) })
    let second = Recorder()
    let wrong = second.session(on: chips.path)
    wrong.run(NINearbyPeerConfiguration(peerToken: .accessory()))
    #expect(await second.wait { $0 == [.invalidated(.invalidConfiguration)] })
    let third = Recorder()
    let session = third.session(on: chips.path)
    let wide = NINearbyPeerConfiguration(peerToken: try #require(NISession().discoveryToken))
    wide.isExtendedDistanceMeasurementEnabled = true
    session.run(wide)
    #expect(await third.wait { $0 == [.invalidated(.incompatiblePeerDevice)] })
    chips.bench.stop()
  }

  @Test func tokensCanBeSentAsBytes() throws {
    let token = NIDiscoveryToken(
      .peer, try PeerIdentity(capabilities: [.preciseDistance, .controller]).token.bytes)
    #expect(try NIDiscoveryToken(data: token.data) == token)
    for damaged in [token.data.dropLast(), Data()] {
      let error = #expect(throws: NIError.self) { try NIDiscoveryToken(data: damaged) }
      #expect(error?.code == .invalidConfiguration)
    }
  }
}
