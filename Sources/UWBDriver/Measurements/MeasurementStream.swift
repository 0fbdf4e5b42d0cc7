// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UWBLink

/// The measurements of one session in order, taken by one task or one thread.
///
/// Ends when the session stops; throws when the device is lost. What each way costs in wakes of
/// another thread, beyond the kernel's own wake of the reader:
///
/// | way | wakes for a notification |
/// |---|---|
/// | `UWBSession.onMeasurements`: callback on the reader's thread | none |
/// | `for await` in `Task(executorPreference: device.executor)` | none |
/// | `next(timeout:)` on a thread of your own | one, if it sleeps; none while it is busy |
/// | `for await` in any other task | one, if it is suspended; none while it is busy |
///
/// When the taker is too slow the newest notifications are dropped and counted; see
/// `RangingMeasurement.lostBefore` and `DeviceEvent.measurementsDropped`.
public final class MeasurementStream: AsyncSequence, @unchecked Sendable {
  // Sound: taken by one task or thread at a time; anything else traps as an overlapping access.

  /// One measurement, not one notification.
  public typealias Element = RangingMeasurement
  /// The device is lost.
  public typealias Failure = DriverError

  private var consumer: FrameConsumer
  private let subscription: Subscription
  private let unsubscribe: @Sendable (Subscription) -> Void
  private var round: [RangingMeasurement] = []
  private var position = 0

  init(
    consumer: consuming FrameConsumer, subscription: Subscription,
    unsubscribe: @escaping @Sendable (Subscription) -> Void
  ) {
    self.consumer = consumer
    self.subscription = subscription
    self.unsubscribe = unsubscribe
    round.reserveCapacity(16)
  }

  deinit { unsubscribe(subscription) }

  /// Notifications dropped so far because they were not taken in time.
  public var dropped: Int { consumer.dropped }

  /// The next measurement, for a thread of one's own.
  ///
  /// - Parameter timeout: milliseconds; -1 waits for ever.
  /// - Returns: nil when the session has stopped, or the time has passed.
  /// - Throws: `DriverError` when the device is lost.
  public func next(timeout: Int32 = -1) throws(DriverError) -> RangingMeasurement? {
    while true {
      if let measurement = buffered() { return measurement }
      guard consumer.wait(timeout: timeout) == .ready else { return try ending() }
      takeRound()
    }
  }

  fileprivate nonisolated(nonsending) func next() async throws(DriverError) -> RangingMeasurement? {
    while true {
      if let measurement = buffered() { return measurement }
      guard await consumer.waitAsync() == .ready else { return try ending() }
      takeRound()
    }
  }

  private func buffered() -> RangingMeasurement? {
    guard position < round.count else { return nil }
    defer { position += 1 }
    return round[position]
  }

  private func takeRound() {
    position = 0
    round.removeAll(keepingCapacity: true)
    consumer.take { payload, info in
      guard let view = try? SessionInfoView(payload) else { return }
      view.forEachTwoWayMeasurement { result in
        round.append(
          RangingMeasurement(
            sessionToken: view.sessionToken, sequenceNumber: view.sequenceNumber,
            receivedAt: info.receivedAt, lostBefore: info.lostBefore, result: result))
      }
    }
  }

  private func ending() throws(DriverError) -> RangingMeasurement? {
    if let failure = subscription.failure { throw failure }
    return nil
  }

  /// Takes the measurements. All iterators of a stream take from the same place.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// Takes the measurements of a stream.
  public struct Iterator: AsyncIteratorProtocol {
    let stream: MeasurementStream

    /// The next measurement; nil when the session has stopped or the task was cancelled.
    ///
    /// - Throws: `DriverError` when the device is lost.
    public mutating func next() async throws(DriverError) -> RangingMeasurement? {
      try await stream.next()
    }

    /// The next measurement, without leaving the caller's actor when one is there already.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DriverError) -> RangingMeasurement? {
      try await stream.next()
    }
  }
}
