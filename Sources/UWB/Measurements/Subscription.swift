// SPDX-License-Identifier: Apache-2.0
internal import Locking
public import UCI
public import UWBLink

/// Sees each notification in place, on the reader's thread. Must not wait for anything.
public typealias MeasurementCallback =
  @Sendable (borrowing SessionInfoView, FrameInfo) -> Void

/// One taker of the measurements of one session, or of all that is said of its rounds: a callback, or
/// a ring.
final class Subscription: @unchecked Sendable {
  // Sound: `producer` and `isInterrupted` are used on the reader's thread only; the rest is locked.

  let session: SessionRecord
  /// Whether it takes diagnostics, too.
  let takesDiagnostics: Bool
  private let callback: MeasurementCallback?
  private let taker: RoundTaker?

  /// Not a closure alone: without optimisation one in an optional costs an allocation each time.
  private struct RoundTaker {
    let body: RoundCallback
  }
  private var producer: FrameProducer?
  private var isInterrupted = false

  private struct Notes {
    var failure: DriverError?
    /// Why nothing comes for now.
    var interruption: DriverError?
    /// The causes of the interruptions that the ring holds marks of.
    var causes: [DriverError] = []
  }
  private let notes = Locked(Notes())

  init(
    session: SessionRecord, producer: consuming FrameProducer, takesDiagnostics: Bool = false
  ) {
    self.session = session
    self.producer = .some(producer)
    self.takesDiagnostics = takesDiagnostics
    callback = nil
    taker = nil
  }

  init(session: SessionRecord, callback: @escaping MeasurementCallback) {
    self.session = session
    self.callback = callback
    producer = nil
    taker = nil
    takesDiagnostics = false
  }

  init(session: SessionRecord, roundCallback: @escaping RoundCallback) {
    self.session = session
    taker = RoundTaker(body: roundCallback)
    producer = nil
    callback = nil
    takesDiagnostics = true
  }

  var dropped: Int { producer?.dropped ?? 0 }

  // MARK: reader's thread

  /// Hands a notification over; true when it had to be dropped.
  func deliver(_ view: borrowing SessionInfoView, _ info: FrameInfo) -> Bool {
    if isInterrupted { resume() }
    if let callback {
      callback(view, info)
      return false
    }
    if let taker {
      taker.body(RoundNotification(.measurements, view.payload, info))
      return false
    }
    let outcome = producer?.offer(view.payload, receivedAt: info.receivedAt, mayBeDropped: true)
    return outcome == .dropped
  }

  /// Hands diagnostics over; true when they had to be dropped.
  func deliver(_ opcode: Opcode, _ payload: RawSpan, _ info: FrameInfo) -> Bool {
    if let taker {
      taker.body(RoundNotification(.diagnostics(opcode), payload, info))
      return false
    }
    let outcome = producer?.offer(
      payload, receivedAt: info.receivedAt, tag: opcode.word, mayBeDropped: true)
    return outcome == .dropped
  }

  /// Nothing comes for now.
  func interrupt(_ cause: DriverError) {
    guard !isInterrupted else { return }
    isInterrupted = true
    notes.withLock {
      $0.interruption = cause
      if producer != nil { $0.causes.append(cause) }
    }
    put(.interrupted)
    tell(.interrupted(cause))
  }

  /// Measurements follow again.
  func resume() {
    guard isInterrupted else { return }
    isInterrupted = false
    notes.withLock { $0.interruption = nil }
    put(.resumed)
    tell(.resumed)
  }

  /// A mark among the measurements: one byte, which no notification is.
  enum Mark: UInt8 { case interrupted, resumed }

  private func put(_ mark: Mark) {
    let byte = [mark.rawValue]
    producer?.offer(unsafe byte.span.bytes, receivedAt: Engine.now(), mayBeDropped: false)
  }

  private func tell(_ kind: RoundNotification.Kind) {
    guard let taker else { return }
    let nothing: [UInt8] = []
    taker.body(
      RoundNotification(kind, unsafe nothing.span.bytes, FrameInfo(receivedAt: Engine.now())))
  }

  // MARK: any thread

  /// No measurement will follow.
  func finish(_ error: DriverError?) {
    notes.withLock { $0.failure = $0.failure ?? error }
    producer?.finish()
  }

  var failure: DriverError? { notes.withLock { $0.failure } }
  var interruption: DriverError? { notes.withLock { $0.interruption } }

  /// The cause of the interruption whose mark has just been taken out.
  func takeCause() -> DriverError {
    notes.withLock { $0.causes.isEmpty ? .recovering : $0.causes.removeFirst() }
  }
}
