// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import System

@testable import NearbyInteraction

/// A delegate that records its calls and their queue.
final class Recorder: NSObject, NISessionDelegate, @unchecked Sendable {
  // Sendable: all mutable state is behind locks.

  /// A call of the delegate, in short.
  enum Call: Equatable {
    case started
    case shareable(Data)
    case updated(Float?)
    case removed(NINearbyObject.RemovalReason)
    case suspended
    case suspensionEnded
    case invalidated(NIError.Code?)
    case converged(NIAlgorithmConvergenceStatus)
    case anchors(Int)
  }

  private let kept = Locked<[Call]>([])
  private struct Waiter {
    let id: Int
    let condition: @Sendable ([Call]) -> Bool
    let continuation: CheckedContinuation<Bool, Never>
  }
  private let waiting = Locked<(list: [Waiter], next: Int)>(([], 0))
  private let newest = Locked<[NINearbyObject]>([])
  private let messages = Locked<[NIDLTDOAMeasurement]>([])
  let queue = DispatchQueue(label: "recorder")
  private let key = DispatchSpecificKey<Bool>()
  private let strays = Locked(0)
  /// Called with each call, on the queue.
  private let handler = Locked<(@Sendable (NISession, Call) -> Void)?>(nil)

  override init() {
    super.init()
    queue.setSpecific(key: key, value: true)
  }

  /// Creates a session with this delegate.
  func session(on device: String? = nil, core: SessionCore = SessionCore()) -> NISession {
    let session = NISession(core: core)
    session.delegate = self
    session.delegateQueue = queue
    session.device = device
    return session
  }

  var calls: [Call] { kept.withLock { $0 } }
  /// The calls without the measurements.
  var milestones: [Call] {
    calls.filter { if case .updated = $0 { false } else { true } }
  }
  var objects: [NINearbyObject] { newest.withLock { $0 } }
  var anchorMessages: [NIDLTDOAMeasurement] { messages.withLock { $0 } }
  /// Calls on any other queue than the delegate's.
  var strayCalls: Int { strays.withLock { $0 } }

  func onEach(_ body: @escaping @Sendable (NISession, Call) -> Void) {
    handler.withLock { $0 = body }
  }

  /// Waits until the calls fulfil a condition; false after a time that should always suffice.
  func wait(
    seconds: Double = 300, _ condition: @escaping @Sendable ([Call]) -> Bool
  ) async -> Bool {
    await withCheckedContinuation { continuation in
      let id = waiting.withLock { waiting in
        waiting.next += 1
        waiting.list.append(
          Waiter(id: waiting.next, condition: condition, continuation: continuation))
        return waiting.next
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
        self?.leave { $0.id == id }?.continuation.resume(returning: false)
      }
      check()
    }
  }

  /// Waits for a number of measurements.
  func waitForUpdates(_ count: Int) async -> Bool {
    await wait { calls in
      calls.count { if case .updated = $0 { true } else { false } } >= count
    }
  }

  /// Waits until the queue has finished all calls scheduled so far.
  func drain() { queue.sync {} }

  private func check() {
    let calls = calls
    while let waiter = leave({ $0.condition(calls) }) {
      waiter.continuation.resume(returning: true)
    }
  }

  private func leave(_ which: (Waiter) -> Bool) -> Waiter? {
    waiting.withLock { waiting in
      waiting.list.firstIndex(where: which).map { waiting.list.remove(at: $0) }
    }
  }

  private func keep(_ call: Call, _ session: NISession) {
    if DispatchQueue.getSpecific(key: key) != true { strays.withLock { $0 += 1 } }
    kept.withLock { $0.append(call) }
    check()
    handler.withLock { $0 }?(session, call)
  }

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    newest.withLock { $0 += nearbyObjects }
    keep(.updated(nearbyObjects.first?.distance), session)
  }
  func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) { keep(.removed(reason), session) }
  func sessionWasSuspended(_ session: NISession) { keep(.suspended, session) }
  func sessionSuspensionEnded(_ session: NISession) { keep(.suspensionEnded, session) }
  func session(_ session: NISession, didInvalidateWith error: any Error) {
    keep(.invalidated((error as? NIError)?.code), session)
  }
  func session(
    _ session: NISession, didGenerateShareableConfigurationData shareableConfigurationData: Data,
    for object: NINearbyObject
  ) { keep(.shareable(shareableConfigurationData), session) }
  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) { keep(.converged(convergence.status), session) }
  func sessionDidStartRunning(_ session: NISession) { keep(.started, session) }
  func session(_ session: NISession, didUpdateDLTDOA measurements: [NIDLTDOAMeasurement]) {
    messages.withLock { $0 += measurements }
    keep(.anchors(measurements.count), session)
  }
}
