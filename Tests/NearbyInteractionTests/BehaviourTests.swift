// SPDX-License-Identifier: Apache-2.0
import Foundation
import System
import SIMDMath
import Testing

@testable import NearbyInteraction

/// The behaviour of sessions beyond the state machine, in virtual time.
@Suite struct BehaviourTests {
  /// A delegate that keeps the objects of each call.
  private final class Objects: NSObject, NISessionDelegate, @unchecked Sendable {
    // Sendable: all state is behind a lock.
    private let kept = Locked<[(call: String, objects: [NINearbyObject])]>([])
    var calls: [String] { kept.withLock { $0.map(\.call) } }
    var objects: [[NINearbyObject]] { kept.withLock { $0.map(\.objects) } }
    private func keep(_ call: String, _ objects: [NINearbyObject]) {
      kept.withLock { $0.append((call, objects)) }
    }
    func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
      keep("update", nearbyObjects)
    }
    func session(
      _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
      reason: NINearbyObject.RemovalReason
    ) { keep(reason == .timeout ? "timeout" : "peerEnded", nearbyObjects) }
    func session(
      _ session: NISession, didGenerateShareableConfigurationData data: Data,
      for object: NINearbyObject
    ) { keep("shareable", [object]) }
    func session(
      _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
      for object: NINearbyObject?
    ) { keep("convergence", object.map { [$0] } ?? []) }
  }

  @Test func newSessionsHaveATokenAndNoConfiguration() throws {
    let fixture = try SessionTests.CoreFixture()
    let other = try SessionTests.CoreFixture()
    #expect(fixture.session.configuration == nil)
    let token = try #require(fixture.session.discoveryToken)
    #expect(token == fixture.session.discoveryToken && token != other.session.discoveryToken)
    fixture.clock.advance(.seconds(1_000))
    fixture.recorder.drain()
    #expect(fixture.recorder.calls.isEmpty && fixture.runner.orders.isEmpty)
  }

  @Test func callsNameTheObjectOfTheConfiguration() throws {
    let fixture = try SessionTests.CoreFixture()
    let objects = Objects()
    fixture.session.delegate = objects
    fixture.run()
    fixture.feed(2)
    fixture.recorder.drain()
    for _ in 0..<10 {
      fixture.clock.advance(.seconds(1))
      fixture.recorder.drain()
    }
    // The object is measured once, and is then out of range each second until the time-out.
    var calls = ["shareable"]
    calls += [String](repeating: "update", count: 10)
    calls.append("timeout")
    #expect(objects.calls == calls)
    for list in objects.objects {
      #expect(list.count == 1)
      #expect(list.first?.discoveryToken == fixture.configuration.accessoryDiscoveryToken)
    }
  }

  @Test func pausingKeepsTokenAndConfiguration() throws {
    let fixture = try SessionTests.CoreFixture()
    let token = fixture.session.discoveryToken
    fixture.run()
    fixture.session.pause()
    fixture.clock.advance(.seconds(10_000))
    fixture.feed(2)
    let kept = try #require(fixture.session.configuration as? NINearbyAccessoryConfiguration)
    #expect(kept.accessoryDiscoveryToken == fixture.configuration.accessoryDiscoveryToken)
    fixture.session.run(kept)
    #expect(fixture.session.discoveryToken == token)
    fixture.recorder.drain()
    #expect(fixture.recorder.calls == [.started, .shareable(Data([1, 2, 3]))])
    #expect(fixture.runner.orders == [.begin(1), .end(notifiesPeer: false), .begin(2)])
  }

  @Test func invalidationIsTheLastCall() throws {
    let fixture = try SessionTests.CoreFixture()
    fixture.run()
    fixture.recorder.drain()
    fixture.recorder.queue.suspend()
    fixture.core.handle(.report(run: 1, .failed(NIError(.sessionFailed, reason: "x"))))
    fixture.feed(2)
    fixture.core.handle(.report(run: 1, .peerEnded))
    fixture.core.handle(.report(run: 1, .available))
    fixture.recorder.queue.resume()
    fixture.clock.advance(.seconds(1_000))
    fixture.recorder.drain()
    #expect(fixture.recorder.calls.suffix(1) == [.invalidated(.sessionFailed)])
    #expect(fixture.recorder.calls.count == 3)
  }

  /// The first status reports that nothing has converged. It precedes the measurement that it
  /// refers to.
  @Test func convergencePrecedesTheUpdateThatChangesIt() throws {
    let fixture = try SessionTests.CoreFixture()
    let objects = Objects()
    let track = MotionTests.track()
    fixture.configuration.isCameraAssistanceEnabled = true
    fixture.session.poseSource = track
    fixture.session.delegate = objects
    fixture.run()
    let target = simd_float3(4, 0.2, -3)
    for step in 0...100 {
      let time = UInt64(step + 1) * 100_000_000
      let place = try #require(track.pose(at: time)).transform.columns.3
      let here = simd_float3(place.x, place.y, place.z)
      fixture.feed(Double(simd_distance(here, target)), time: time)
      fixture.core.state.withLock { $0.finder }?.queue.sync {}
      fixture.recorder.drain()
    }
    let calls = objects.calls
    #expect(calls.prefix(3) == ["shareable", "convergence", "update"])
    #expect(calls.count(where: { $0 == "update" }) == 101)
    #expect(calls.count(where: { $0 == "convergence" }) >= 2 && calls.last == "update")
    let last = try #require(objects.objects.last?.first)
    #expect(last.horizontalAngle != nil && last.direction != nil)
    #expect(fixture.session.worldTransform(for: last) != nil)
    #expect(fixture.session.worldTransform(for: NINearbyObject(token: .accessory())) == nil)
    #expect(
      objects.objects.allSatisfy {
        $0.first?.discoveryToken == fixture.configuration.accessoryDiscoveryToken
      })
  }

  @Test func withoutAQueueCallsAreOnTheMainQueue() async throws {
    final class OnMain: NSObject, NISessionDelegate, @unchecked Sendable {
      // Safe because it is set before the session runs.
      let key = DispatchSpecificKey<Bool>()
      var started: CheckedContinuation<Bool, Never>?
      func sessionDidStartRunning(_ session: NISession) {
        started?.resume(returning: DispatchQueue.getSpecific(key: key) == true)
      }
    }
    let fixture = try SessionTests.CoreFixture()
    let delegate = OnMain()
    DispatchQueue.main.setSpecific(key: delegate.key, value: true)
    fixture.session.delegateQueue = nil
    fixture.session.delegate = delegate
    let isOnMain = await withCheckedContinuation { continuation in
      delegate.started = continuation
      fixture.run()
    }
    DispatchQueue.main.setSpecific(key: delegate.key, value: nil)
    #expect(isOnMain)
  }

  /// The former queue may be blocked, such as the main queue of a program that does not run it.
  /// Callbacks on the former queue wait, and callbacks on the new queue do not.
  @Test func newQueuesDoNotWaitForFormerOnes() throws {
    let fixture = try SessionTests.CoreFixture()
    let blocked = DispatchQueue(label: "blocked")
    blocked.suspend()
    fixture.session.delegateQueue = blocked
    fixture.run()
    fixture.session.delegateQueue = fixture.recorder.queue
    fixture.feed(2)
    fixture.recorder.drain()
    #expect(fixture.recorder.calls == [.updated(2)])
    blocked.resume()
    blocked.sync {}
    #expect(fixture.recorder.calls == [.updated(2), .started, .shareable(Data([1, 2, 3]))])
  }

  // MARK: the peer

  /// Two sessions that range with each other in one virtual time.
  private struct Pair {
    var here = MachinePlayer.ranging()
    var there = MachinePlayer.ranging()

    mutating func pass(seconds: Int) {
      for _ in 0..<seconds {
        if here.machine.phase == .running, there.machine.phase == .running {
          here.report(.measured)
          there.report(.measured)
        }
        if here.orders.last == .end(notifiesPeer: true) { there.report(.peerEnded) }
        here.pass(.seconds(1))
        there.pass(.seconds(1))
      }
    }
  }

  @Test func longPausesTimeOutAtThePeer() {
    var pair = Pair()
    pair.pass(seconds: 60)
    pair.here.handle(.pause)
    pair.pass(seconds: 8)
    #expect(pair.there.calls.isEmpty)
    pair.pass(seconds: 60)
    #expect(pair.here.calls.isEmpty)
    #expect(pair.there.calls == [.removed(.timeout)])
  }

  @Test func shortPausesRemoveNoPeer() {
    var pair = Pair()
    pair.pass(seconds: 60)
    pair.here.handle(.pause)
    pair.pass(seconds: 5)
    pair.here.run()
    pair.here.report(.started(needsData: false))
    pair.pass(seconds: 60)
    #expect(pair.here.calls == [.started])
    #expect(pair.there.calls.isEmpty && pair.there.machine.isRanging(1))
  }

  @Test func longSuspensionsEndHereAndTimeOutAtThePeer() {
    var pair = Pair()
    pair.pass(seconds: 60)
    pair.here.report(.lost(MachinePlayer.absence))
    pair.pass(seconds: 400)
    #expect(pair.there.calls == [.removed(.timeout)])
    #expect(pair.here.calls.first == .suspended && pair.here.calls.count == 2)
    #expect(pair.here.machine.phase == .invalidated)
  }

  @Test func invalidateEndsThePeersSession() {
    var pair = Pair()
    pair.pass(seconds: 60)
    pair.here.handle(.invalidate)
    pair.pass(seconds: 60)
    #expect(pair.here.calls.isEmpty)
    #expect(pair.there.calls == [.removed(.peerEnded)])
  }
}
