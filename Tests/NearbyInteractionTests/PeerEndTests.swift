// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UCI
import UWB
import UWBSimulator

@testable import NearbyInteraction

/// Reports of the other host's end between two Linux hosts, on simulated chips.
@Suite struct PeerEndTests {
  /// Two sessions that range with each other, the controller's first.
  private struct Pair {
    let chips: ChipFixture
    let recorders = [Recorder(), Recorder()]
    let sessions: [NISession]
    let configurations: [NINearbyPeerConfiguration]

    init() async throws {
      chips = try ChipFixture(others: [SIMD3(2, 1, 1)])
      let paths = [chips.path, chips.otherPaths[0]]
      let recorders = recorders
      let made = zip(recorders, paths).map { $0.session(on: $1) }
      let tokens = try made.map { try #require($0.discoveryToken) }
      let plan = try made[0].identity.plan(with: tokens[1], nil).get()
      guard case .peer(let session) = plan.target else { throw CancellationError() }
      let order = session.role == .controller ? [0, 1] : [1, 0]
      sessions = order.map { made[$0] }
      configurations = order.map { NINearbyPeerConfiguration(peerToken: tokens[1 - $0]) }
      for (session, recorder) in zip(sessions, recorders) { session.delegate = recorder }
      for (session, configuration) in zip(sessions, configurations) { session.run(configuration) }
      for recorder in recorders { #expect(await recorder.waitForUpdates(3)) }
    }

    func end() async {
      for session in sessions { await session.close() }
      chips.bench.stop()
    }
  }

  @Test func aControllersInvalidateIsReported() async throws {
    let pair = try await Pair()
    pair.sessions[0].invalidate()
    #expect(await pair.recorders[1].wait { $0.last == .removed(.peerEnded) })
    pair.recorders[0].drain()
    #expect(pair.recorders[0].milestones == [.started])
    await pair.end()
  }

  @Test func aControleesInvalidateTimesOut() async throws {
    let pair = try await Pair()
    pair.sessions[0].timeouts.inactivity = .milliseconds(500)
    pair.sessions[1].invalidate()
    #expect(await pair.recorders[0].wait { $0.last == .removed(.timeout) })
    await pair.end()
  }

  /// Pausing and running again in time does not end the peer, on either side.
  @Test(arguments: [0, 1]) func shortPausesDoNotEndTheSession(which: Int) async throws {
    let pair = try await Pair()
    let (one, other) = (pair.recorders[which], pair.recorders[1 - which])
    pair.sessions[which].pause()
    one.drain()
    let before = one.objects.count
    pair.sessions[which].run(pair.configurations[which])
    #expect(await one.waitForUpdates(before + 3))
    let heard = other.objects.count
    #expect(await other.waitForUpdates(heard + 3))
    #expect(one.milestones == [.started, .started])
    #expect(other.milestones == [.started])
    await pair.end()
  }

  /// The session does not retain its delegate.
  @Test func releasedDelegatesAreNotCalled() async throws {
    final class Gone: NSObject, NISessionDelegate {}
    let fixture = try SessionTests.CoreFixture()
    weak var gone: Gone?
    do {
      let delegate = Gone()
      gone = delegate
      fixture.session.delegate = delegate
      fixture.run()
      fixture.recorder.drain()
    }
    #expect(gone == nil && fixture.session.delegate == nil)
    fixture.feed(2)
    fixture.recorder.drain()
    #expect(fixture.recorder.calls.isEmpty)
  }
}
