// SPDX-License-Identifier: Apache-2.0
internal import Locking
public import UCI
public import UWBLink

/// Sees each notification in place, on the reader's thread. Must not wait for anything.
public typealias MeasurementCallback =
  @Sendable (borrowing SessionInfoView, FrameInfo) -> Void

/// One taker of the measurements of one session: a callback, or a ring.
final class Subscription: @unchecked Sendable {
  // Sound: `producer` and `isInterrupted` are used on the reader's thread only; the rest is locked.

  let session: SessionRecord
  private let callback: MeasurementCallback?
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

  init(session: SessionRecord, producer: consuming FrameProducer) {
    self.session = session
    self.producer = .some(producer)
    callback = nil
  }

  init(session: SessionRecord, callback: @escaping MeasurementCallback) {
    self.session = session
    self.callback = callback
    producer = nil
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
    let outcome = producer?.offer(view.payload, receivedAt: info.receivedAt, mayBeDropped: true)
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
  }

  /// Measurements follow again.
  func resume() {
    guard isInterrupted else { return }
    isInterrupted = false
    notes.withLock { $0.interruption = nil }
    put(.resumed)
  }

  /// A mark among the measurements: one octet, which no notification is.
  enum Mark: UInt8 { case interrupted, resumed }

  private func put(_ mark: Mark) {
    let octet = [mark.rawValue]
    producer?.offer(unsafe octet.span.bytes, receivedAt: Engine.now(), mayBeDropped: false)
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
