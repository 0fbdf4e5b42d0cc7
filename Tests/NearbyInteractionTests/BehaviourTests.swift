// SPDX-License-Identifier: Apache-2.0
import Foundation
import Locking
import SIMDMath
import Testing

@testable import NearbyInteraction

/// What apps see at the session itself, beside the rows of the table that `MachineTests` plays; time is
/// virtual.
@Suite struct BehaviourTests {
  /// A delegate that keeps the objects of each call.
  private final class Objects: NSObject, NISessionDelegate, @unchecked Sendable {
    // Sound: behind a lock.
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

  @Test func aNewSessionHasItsOwnTokenAtOnceAndNoConfiguration() throws {
    let parts = try SessionTests.Parts()
    let other = try SessionTests.Parts()
    #expect(parts.session.configuration == nil)
    let token = try #require(parts.session.discoveryToken)
    #expect(token == parts.session.discoveryToken && token != other.session.discoveryToken)
    parts.clock.advance(.seconds(1_000))
    parts.recorder.drain()
    #expect(parts.recorder.calls.isEmpty && parts.runner.orders.isEmpty)
  }

  @Test func eachCallIsAboutTheOneObjectOfTheConfiguration() throws {
    let parts = try SessionTests.Parts()
    let objects = Objects()
    parts.session.delegate = objects
    parts.run()
    parts.feed(2)
    parts.recorder.drain()
    parts.clock.advance(.seconds(10))
    parts.recorder.drain()
    #expect(objects.calls == ["shareable", "update", "timeout"])
    for list in objects.objects {
      #expect(list.count == 1)
      #expect(list.first?.discoveryToken == parts.configuration.accessoryDiscoveryToken)
    }
  }

  @Test func aPausedSessionKeepsItsTokenAndItsConfiguration() throws {
    let parts = try SessionTests.Parts()
    let token = parts.session.discoveryToken
    parts.run()
    parts.session.pause()
    parts.clock.advance(.seconds(10_000))
    parts.feed(2)
    let kept = try #require(parts.session.configuration as? NINearbyAccessoryConfiguration)
    #expect(kept.accessoryDiscoveryToken == parts.configuration.accessoryDiscoveryToken)
    parts.session.run(kept)
    #expect(parts.session.discoveryToken == token)
    parts.recorder.drain()
    #expect(parts.recorder.calls == [.started, .shareable(Data([1, 2, 3]))])
    #expect(parts.runner.orders == [.begin(1), .end(tellPeer: false), .begin(2)])
  }

  @Test func anInvalidationIsTheLastCallWhateverIsOnItsWay() throws {
    let parts = try SessionTests.Parts()
    parts.run()
    parts.recorder.drain()
    parts.recorder.queue.suspend()
    parts.core.handle(.report(run: 1, .failed(NIError(.sessionFailed, reason: "x"))))
    parts.feed(2)
    parts.core.handle(.report(run: 1, .peerEnded))
    parts.core.handle(.report(run: 1, .available))
    parts.recorder.queue.resume()
    parts.clock.advance(.seconds(1_000))
    parts.recorder.drain()
    #expect(parts.recorder.calls.suffix(1) == [.invalidated(.sessionFailed)])
    #expect(parts.recorder.calls.count == 3)
  }

  /// The first news is that there is no result yet; it comes before the measurement that it is about.
  @Test func assistanceTellsHowFarItHasComeBeforeEachUpdateThatChangesIt() throws {
    let parts = try SessionTests.Parts()
    let objects = Objects()
    let track = MotionTests.track()
    parts.configuration.isCameraAssistanceEnabled = true
    parts.session.poseSource = track
    parts.session.delegate = objects
    parts.run()
    let target = simd_float3(4, 0.2, -3)
    for step in 0...100 {
      let time = UInt64(step + 1) * 100_000_000
      let place = try #require(track.pose(at: time)).transform.columns.3
      let here = simd_float3(place.x, place.y, place.z)
      parts.feed(Double(simd_distance(here, target)), time: time)
      parts.core.state.withLock { $0.finder }?.queue.sync {}
      parts.recorder.drain()
    }
    let calls = objects.calls
    #expect(calls.prefix(3) == ["shareable", "convergence", "update"])
    #expect(calls.count(where: { $0 == "update" }) == 101)
    #expect(calls.count(where: { $0 == "convergence" }) >= 2 && calls.last == "update")
    let last = try #require(objects.objects.last?.first)
    #expect(last.horizontalAngle != nil && last.direction != nil)
    #expect(parts.session.worldTransform(for: last) != nil)
    #expect(parts.session.worldTransform(for: NINearbyObject(token: .accessory())) == nil)
    #expect(
      objects.objects.allSatisfy {
        $0.first?.discoveryToken == parts.configuration.accessoryDiscoveryToken
      })
  }

  @Test func withoutAQueueCallsComeOnTheMainQueue() async throws {
    final class OnMain: NSObject, NISessionDelegate, @unchecked Sendable {
      // Sound: set before the session runs.
      let key = DispatchSpecificKey<Bool>()
      var started: CheckedContinuation<Bool, Never>?
      func sessionDidStartRunning(_ session: NISession) {
        started?.resume(returning: DispatchQueue.getSpecific(key: key) == true)
      }
    }
    let parts = try SessionTests.Parts()
    let delegate = OnMain()
    DispatchQueue.main.setSpecific(key: delegate.key, value: true)
    parts.session.delegateQueue = nil
    parts.session.delegate = delegate
    let isOnMain = await withCheckedContinuation { continuation in
      delegate.started = continuation
      parts.run()
    }
    DispatchQueue.main.setSpecific(key: delegate.key, value: nil)
    #expect(isOnMain)
  }

  /// The queue before may be blocked, as the main one of a program that does not run it: what was on
  /// its way there waits, what comes later does not.
  @Test func anotherQueueDoesNotWaitForTheOneBefore() throws {
    let parts = try SessionTests.Parts()
    let blocked = DispatchQueue(label: "blocked")
    blocked.suspend()
    parts.session.delegateQueue = blocked
    parts.run()
    parts.session.delegateQueue = parts.recorder.queue
    parts.feed(2)
    parts.recorder.drain()
    #expect(parts.recorder.calls == [.updated(2)])
    blocked.resume()
    blocked.sync {}
    #expect(parts.recorder.calls == [.updated(2), .started, .shareable(Data([1, 2, 3]))])
  }

  // MARK: what the other side hears

  /// Two sessions that range with each other in one virtual time: what the one's chip says at its end
  /// is all that the other's hears.
  private struct Pair {
    var here = MachineRun.ranging()
    var there = MachineRun.ranging()

    mutating func pass(seconds: Int) {
      for _ in 0..<seconds {
        if here.machine.phase == .running, there.machine.phase == .running {
          here.report(.heard)
          there.report(.heard)
        }
        if here.orders.last == .end(tellPeer: true) { there.report(.peerEnded) }
        here.pass(.seconds(1))
        there.pass(.seconds(1))
      }
    }
  }

  @Test func whatIsPausedTooLongTimesOutAtThePeer() {
    var pair = Pair()
    pair.pass(seconds: 60)
    pair.here.handle(.pause)
    pair.pass(seconds: 8)
    #expect(pair.there.calls.isEmpty)
    pair.pass(seconds: 60)
    #expect(pair.here.calls.isEmpty)
    #expect(pair.there.calls == [.removed(.timeout)])
  }

  @Test func aShortPauseIsNoRemovalAtThePeer() {
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

  @Test func whatIsSuspendedTooLongEndsHereAndTimesOutAtThePeer() {
    var pair = Pair()
    pair.pass(seconds: 60)
    pair.here.report(.lost(MachineRun.absence))
    pair.pass(seconds: 400)
    #expect(pair.there.calls == [.removed(.timeout)])
    #expect(pair.here.calls.first == .suspended && pair.here.calls.count == 2)
    #expect(pair.here.machine.phase == .invalidated)
  }

  @Test func whatIsInvalidatedHasEndedAtThePeer() {
    var pair = Pair()
    pair.pass(seconds: 60)
    pair.here.handle(.invalidate)
    pair.pass(seconds: 60)
    #expect(pair.here.calls.isEmpty)
    #expect(pair.there.calls == [.removed(.peerEnded)])
  }
}
