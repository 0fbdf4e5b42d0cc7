// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UWBLink

/// The measurements of one session in order, taken by one task or one thread.
///
/// Ends when the session stops; throws when the device is lost for good. What each way costs in wakes
/// of another thread, beyond the kernel's own wake of the reader:
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
///
/// With `UWBDevice.Options.recovery` a lost device is an interruption, not the end: the first
/// measurement behind it says so (`RangingMeasurement.followsInterruption`), `interruption` says so
/// while it lasts, and `events` has a mark where it begins and where it ends.
public final class MeasurementStream: AsyncSequence, @unchecked Sendable {
  // Sound: taken by one task or thread at a time; anything else traps as an overlapping access.

  /// One measurement, not one notification.
  public typealias Element = RangingMeasurement
  /// The device is lost.
  public typealias Failure = DriverError

  /// A measurement, or what happened between two.
  public enum Event: Sendable, Hashable {
    /// A measurement.
    case measurement(RangingMeasurement)
    /// The device was lost and is being recovered; nothing is measured for now.
    case interrupted(DriverError)
    /// The session ranges again.
    case resumed
  }

  private var consumer: FrameConsumer
  private let subscription: Subscription
  private let unsubscribe: @Sendable (Subscription) -> Void
  private var round: [RangingMeasurement] = []
  private var position = 0
  private var mark: Event?
  private var wasInterrupted = false

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

  /// Why nothing is measured for now, while the device is being recovered; nil otherwise. Any thread.
  public var interruption: DriverError? { subscription.interruption }

  /// The next measurement, for a thread of one's own.
  ///
  /// - Parameter timeout: milliseconds; -1 waits for ever. Begins anew behind the mark of an
  ///   interruption.
  /// - Returns: nil when the session has stopped, or the time has passed.
  /// - Throws: `DriverError` when the device is lost.
  public func next(timeout: Int32 = -1) throws(DriverError) -> RangingMeasurement? {
    while true {
      if let measurement = buffered() { return measurement }
      guard consumer.wait(timeout: timeout) == .ready else { return try ending() }
      takeNotification()
    }
  }

  fileprivate nonisolated(nonsending) func next() async throws(DriverError) -> RangingMeasurement? {
    while true {
      if let measurement = buffered() { return measurement }
      guard await consumer.waitAsync() == .ready else { return try ending() }
      takeNotification()
    }
  }

  fileprivate nonisolated(nonsending) func nextEvent() async throws(DriverError) -> Event? {
    while true {
      if let measurement = buffered() { return .measurement(measurement) }
      if let mark = mark.take() { return mark }
      guard await consumer.waitAsync() == .ready else {
        return try ending().map { .measurement($0) }
      }
      takeNotification()
    }
  }

  private func buffered() -> RangingMeasurement? {
    guard position < round.count else { return nil }
    defer { position += 1 }
    return round[position]
  }

  private func takeNotification() {
    position = 0
    round.removeAll(keepingCapacity: true)
    consumer.take { payload, info in
      guard let view = try? SessionInfoView(payload) else {
        takeMark(payload)
        return
      }
      view.forEachTwoWayMeasurement { result in
        round.append(
          RangingMeasurement(
            sessionToken: view.sessionToken, sequenceNumber: view.sequenceNumber,
            receivedAt: info.receivedAt, lostBefore: info.lostBefore,
            followsInterruption: wasInterrupted, result: result))
        wasInterrupted = false
      }
    }
  }

  private func takeMark(_ payload: RawSpan) {
    guard payload.byteCount == 1 else { return }
    switch Subscription.Mark(rawValue: unsafe payload.unsafeLoad(as: UInt8.self)) {
    case .interrupted:
      wasInterrupted = true
      mark = .interrupted(subscription.takeCause())
    case .resumed: mark = .resumed
    case nil: break
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

  /// The measurements with marks where the device was lost and found again. In the place of the
  /// stream itself: both take from the same.
  public var events: Events { Events(stream: self) }

  /// The measurements of a stream and what happened between them.
  public struct Events: AsyncSequence, Sendable {
    let stream: MeasurementStream

    /// Takes the events.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: stream) }

    /// Takes the events of a stream.
    public struct Iterator: AsyncIteratorProtocol {
      let stream: MeasurementStream

      /// The next event; nil when the session has stopped or the task was cancelled.
      ///
      /// - Throws: `DriverError` when the device is lost for good.
      public mutating func next() async throws(DriverError) -> Event? {
        try await stream.nextEvent()
      }

      /// The next event, without leaving the caller's actor when one is there already.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(DriverError) -> Event? {
        try await stream.nextEvent()
      }
    }
  }
}
