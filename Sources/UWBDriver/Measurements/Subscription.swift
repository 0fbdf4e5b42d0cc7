// SPDX-License-Identifier: Apache-2.0
internal import Locking
public import UCI
public import UWBLink

/// Sees each notification in place, on the reader's thread. Must not wait for anything.
public typealias MeasurementCallback =
  @Sendable (borrowing SessionInfoView, FrameInfo) -> Void

/// One taker of the measurements of one session: a callback, or a ring.
final class Subscription: @unchecked Sendable {
  // Sound: `producer` is used by `deliver` only, on the reader's thread.

  let token: UInt32
  private let callback: MeasurementCallback?
  private var producer: FrameProducer?
  private let error = Locked<DriverError?>(nil)

  init(token: UInt32, producer: consuming FrameProducer) {
    self.token = token
    self.producer = .some(producer)
    callback = nil
  }

  init(token: UInt32, callback: @escaping MeasurementCallback) {
    self.token = token
    self.callback = callback
    producer = nil
  }

  var dropped: Int { producer?.dropped ?? 0 }

  /// Hands a notification over; true when it had to be dropped.
  func deliver(_ view: borrowing SessionInfoView, _ info: FrameInfo) -> Bool {
    if let callback {
      callback(view, info)
      return false
    }
    let outcome = producer?.offer(view.payload, receivedAt: info.receivedAt, mayBeDropped: true)
    return outcome == .dropped
  }

  /// No measurement will follow. Any thread.
  func finish(_ error: DriverError?) {
    self.error.withLock { $0 = $0 ?? error }
    producer?.finish()
  }

  var failure: DriverError? { error.withLock { $0 } }
}
