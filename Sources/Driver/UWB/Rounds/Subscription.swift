// SPDX-License-Identifier: Apache-2.0
internal import System
internal import UCI
internal import UWBLink

/// A handle that ends the calls of a callback passed to `UWBSession.onRounds` or `onEstimates`.
public struct RangingSubscription: Sendable {
  let subscription: Subscription
  let router: MessageRouter

  /// Ends the calls. A call may still be in progress on the reader thread. Does nothing if called
  /// again.
  public func cancel() { router.remove(subscription) }
}

/// One subscriber to the rounds of a session: a callback on the reader thread, or the ring buffer
/// of a stream.
final class Subscription: @unchecked Sendable {
  // Safe because `producer`, `isInterrupted` and `gap` are used on the reader thread only. Other
  // threads use `ring` to end a stream and to read its losses. The rest is constant or locked.

  let session: SessionRecord
  /// Whether diagnostics are delivered as well.
  let includesDiagnostics: Bool
  private let callback: Callback?
  private let ring: FrameRing.Control?
  private var producer: FrameProducer?
  private var isInterrupted = false
  /// The marks for the next measurements, if an interruption precedes them.
  private var gap: RoundNotification.Gap = []

  /// A struct around the closure: without optimisation, a closure in an optional allocates at each
  /// call.
  private struct Callback {
    let body: RoundCallback
  }

  private struct Notes {
    var failure: DriverError?
    /// The cause of the interruption; nil while the session is measured.
    var interruption: DriverError?
    /// The causes of interruptions whose marks are still in the ring buffer.
    var causes: [DriverError] = []
  }
  private let notes = Locked(Notes())

  init(
    session: SessionRecord, producer: consuming FrameProducer, includesDiagnostics: Bool
  ) {
    self.session = session
    self.includesDiagnostics = includesDiagnostics
    ring = producer.control
    self.producer = .some(producer)
    callback = nil
  }

  init(session: SessionRecord, callback: @escaping RoundCallback) {
    self.session = session
    includesDiagnostics = true
    ring = nil
    producer = nil
    self.callback = Callback(body: callback)
  }

  // MARK: reader thread

  /// Delivers a notification. Returns whether it had to be dropped.
  func deliver(_ round: borrowing RoundNotification) -> Bool {
    switch round.kind {
    case .measurements(let view):
      if isInterrupted { resume() }
      let gap = gap
      if let callback {
        callback.body(RoundNotification(.measurements(view), round.info, gap: gap))
      } else if offer(
        view.payload, .measurements(gap: gap), round.info.receivedAt, mayBeDropped: true)
      {
        return true
      }
      self.gap.remove(.round)
      if view.type == .twoWay, view.count > 0 { self.gap = [] }
    case .diagnostics(let opcode, let payload):
      guard let callback else {
        return offer(payload, .diagnostics(opcode), round.info.receivedAt, mayBeDropped: true)
      }
      callback.body(round)
    case .interrupted, .resumed: break
    }
    return false
  }

  /// Marks the beginning of an interruption.
  func interrupt(_ cause: DriverError) {
    guard !isInterrupted else { return }
    isInterrupted = true
    gap = [.round, .measurement]
    notes.withLock {
      $0.interruption = cause
      if ring != nil { $0.causes.append(cause) }
    }
    let now = CommandEngine.now()
    callback?.body(RoundNotification(.interrupted(cause), FrameInfo(receivedAt: now)))
    _ = offer(RawSpan(), .interrupted, now, mayBeDropped: false)
  }

  /// Marks the end of an interruption.
  func resume() {
    guard isInterrupted else { return }
    isInterrupted = false
    notes.withLock { $0.interruption = nil }
    let now = CommandEngine.now()
    callback?.body(RoundNotification(.resumed, FrameInfo(receivedAt: now)))
    _ = offer(RawSpan(), .resumed, now, mayBeDropped: false)
  }

  private func offer(
    _ payload: RawSpan, _ tag: RoundTag, _ time: UInt64, mayBeDropped: Bool
  ) -> Bool {
    let outcome = producer?.offer(
      payload, receivedAt: time, tag: tag.rawValue, mayBeDropped: mayBeDropped)
    return outcome == .dropped
  }

  // MARK: any thread

  var dropped: Int { ring?.dropped ?? 0 }

  /// Ends the subscription: no notification follows.
  func finish(_ error: DriverError?) {
    notes.withLock { $0.failure = $0.failure ?? error }
    ring?.finish()
  }

  var failure: DriverError? { notes.withLock { $0.failure } }
  var interruption: DriverError? { notes.withLock { $0.interruption } }

  /// Returns the cause of the interruption whose mark was just removed from the ring buffer.
  func nextCause() -> DriverError {
    notes.withLock { $0.causes.isEmpty ? .recovering : $0.causes.removeFirst() }
  }
}
