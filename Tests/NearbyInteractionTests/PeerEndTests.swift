// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UCI
import UWB
import UWBSimulator

@testable import NearbyInteraction

/// What two Linux hosts hear of each other's ends, on chips.
@Suite struct PeerEndTests {
  /// Two sessions that range with each other, the controller's first.
  private struct Pair {
    let stage: Stage
    let recorders = [Recorder(), Recorder()]
    let sessions: [NISession]
    let configurations: [NINearbyPeerConfiguration]

    init() async throws {
      stage = try Stage(others: [SIMD3<Double>(2, 1, 1)])
      let paths = [stage.path, stage.others[0].path]
      let recorders = recorders
      let made = zip(recorders, paths).map { $0.session(on: $1) }
      let tokens = try await waiting { try made.map { try #require($0.discoveryToken) } }
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
      stage.bench.stop()
    }
  }

  @Test func theControllersInvalidateIsHeard() async throws {
    let pair = try await Pair()
    pair.sessions[0].invalidate()
    #expect(await pair.recorders[1].wait { $0.last == .removed(.peerEnded) })
    pair.recorders[0].drain()
    #expect(pair.recorders[0].milestones == [.started])
    await pair.end()
  }

  @Test func theControleesInvalidateIsSilence() async throws {
    let pair = try await Pair()
    pair.sessions[0].timeouts.silence = .milliseconds(500)
    pair.sessions[1].invalidate()
    #expect(await pair.recorders[0].wait { $0.last == .removed(.timeout) })
    await pair.end()
  }

  /// Paused and run again in time: neither is the other's end, whoever of them does it.
  @Test(arguments: [0, 1]) func aShortPauseIsNoEnd(which: Int) async throws {
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

  /// The delegate is the app's: it goes when the app lets go of it, and nobody is told any more.
  @Test func aDelegateThatIsGoneIsNotTold() async throws {
    final class Gone: NSObject, NISessionDelegate {}
    let parts = try SessionTests.Parts()
    weak var gone: Gone?
    do {
      let delegate = Gone()
      gone = delegate
      parts.session.delegate = delegate
      parts.run()
      parts.recorder.drain()
    }
    #expect(gone == nil && parts.session.delegate == nil)
    parts.feed(2)
    parts.recorder.drain()
    #expect(parts.recorder.calls.isEmpty)
  }
}
