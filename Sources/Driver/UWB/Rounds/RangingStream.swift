// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import UCI
internal import UWBLink

/// The results of a session in order: measurements, estimates, or all events of its rounds.
///
/// The stream ends when the session stops, and throws when the device is permanently lost. The
/// table has the number of times that a notification wakes another thread. The kernel's wake of the
/// reader thread is not included.
///
/// | way | wakes for a notification |
/// |---|---|
/// | `UWBSession.onEstimates`, `onRounds`: a callback on the reader thread | none |
/// | `for await` in `Task(executorPreference: device.executor)` | none |
/// | `next(timeout:)` on a blocking thread | one if it sleeps; none while it is busy |
/// | `for await` in any other task | one if it is suspended; none while it is busy |
///
/// A stream has one consumer. It may move from one task or thread to another, but the program stops
/// if two calls of `next` overlap. When the consumer is too slow, the newest notifications are
/// dropped and counted: see `dropped`, `RangingMeasurement.lostBefore` and
/// `DeviceEvent.measurementsDropped`.
///
/// With `UWBDevice.Options.recovery`, a lost device interrupts the stream and does not end it.
/// During the interruption, `interruption` has the cause. The first measurement after it has
/// `RangingMeasurement.followsInterruption`. `UWBSession.rounds` has elements for the beginning and
/// the end of an interruption.
public final class RangingStream<Element: Sendable>: AsyncSequence, @unchecked Sendable {
  // Safe because `consumer` and `decoder` are used only between `claim` and `release`, and
  // overlapping claims stop the program. The rest is constant, atomic or locked.

  /// The error that is thrown when the device is permanently lost.
  public typealias Failure = DriverError

  private var consumer: FrameConsumer
  private var decoder: RoundDecoder<Element>
  private let subscription: Subscription
  private let router: MessageRouter
  private let isClaimed = Atomic<Bool>(false)

  init(
    _ session: UWBSession, capacity: Int, includesDiagnostics: Bool,
    _ decoder: RoundDecoder<Element>
  ) {
    let ends = FrameRing.make(capacity: capacity)
    subscription = Subscription(
      session: session.record, producer: ends.producer, includesDiagnostics: includesDiagnostics)
    consumer = ends.consumer
    self.decoder = decoder
    router = session.device.core.router
    router.add(subscription)
  }

  deinit { router.remove(subscription) }

  /// The number of notifications that were dropped because the consumer was too slow. Any thread.
  public var dropped: Int { subscription.dropped }

  /// The cause of the interruption while the device is being recovered; nil otherwise. Any thread.
  public var interruption: DriverError? { subscription.interruption }

  /// Returns the next element. Blocks the calling thread until there is one.
  ///
  /// - Parameter timeout: The time to wait; nil waits without a limit.
  /// - Returns: nil if the session has stopped, or after the time-out.
  /// - Throws: `DriverError` if the device is permanently lost.
  public func next(timeout: Duration? = nil) throws(DriverError) -> Element? {
    claim()
    defer { release() }
    let deadline = timeout.map { ContinuousClock.now + $0 }
    while true {
      if let element = decoder.next() { return element }
      guard consumer.wait(timeout: deadline.map { $0 - .now }) == .ready else { return try end() }
      decode()
    }
  }

  fileprivate nonisolated(nonsending) func nextInTask() async throws(DriverError) -> Element? {
    claim()
    defer { release() }
    while true {
      if let element = decoder.next() { return element }
      guard await consumer.waitAsync() == .ready else { return try end() }
      decode()
    }
  }

  private func claim() {
    guard !isClaimed.exchange(true, ordering: .acquiring) else {
      fatalError(
        "a RangingStream has one consumer: next() was called while another call of it was waiting")
    }
  }

  private func release() { isClaimed.store(false, ordering: .releasing) }

  private func decode() {
    consumer.take { payload, info in
      switch RoundTag(rawValue: info.tag) {
      case .measurements(let gap):
        // The router validated these bytes before it put them into the ring.
        let view = unsafe SessionInfoView(unchecked: payload)
        decoder.decode(RoundNotification(.measurements(view), info, gap: gap))
      case .diagnostics(let opcode):
        decoder.decode(RoundNotification(.diagnostics(opcode, payload), info))
      case .interrupted:
        decoder.decode(RoundNotification(.interrupted(subscription.nextCause()), info))
      case .resumed: decoder.decode(RoundNotification(.resumed, info))
      }
    }
  }

  private func end() throws(DriverError) -> Element? {
    decoder.flush()
    if let element = decoder.next() { return element }
    if let failure = subscription.failure { throw failure }
    return nil
  }

  /// Creates an iterator. All iterators of a stream advance the same stream, one at a time.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// Iterates over the elements of a stream.
  public struct Iterator: AsyncIteratorProtocol {
    let stream: RangingStream

    /// Returns the next element; nil if the session has stopped or the task was cancelled.
    ///
    /// - Throws: `DriverError` if the device is permanently lost.
    public mutating func next() async throws(DriverError) -> Element? {
      try await stream.nextInTask()
    }

    /// Returns the next element. Does not suspend the caller's actor if one is available.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DriverError) -> Element? {
      try await stream.nextInTask()
    }
  }
}
