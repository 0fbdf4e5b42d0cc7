// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UWBLink

/// All that a chip says of the rounds of one session, in order and in place, for those who need more
/// than its measurements: what its receivers saw in single frames, and vendors' bytes.
///
/// Taken by one task or thread. Ends when the session stops; what the taker is too slow for is
/// dropped and counted, as with `MeasurementStream`. Notifications of more than 480 bytes, such as
/// impulse responses, are copied to the heap on their way.
public final class RoundStream: @unchecked Sendable {
  // Sound: taken by one task or thread at a time; anything else traps as an overlapping access.

  private var consumer: FrameConsumer
  private let subscription: Subscription
  private let unsubscribe: @Sendable (Subscription) -> Void

  init(
    consumer: consuming FrameConsumer, subscription: Subscription,
    unsubscribe: @escaping @Sendable (Subscription) -> Void
  ) {
    self.consumer = consumer
    self.subscription = subscription
    self.unsubscribe = unsubscribe
  }

  deinit { unsubscribe(subscription) }

  /// Notifications dropped so far because they were not taken in time.
  public var dropped: Int { consumer.dropped }

  /// Lends the next notification to `body`, for a thread of one's own.
  ///
  /// - Parameter timeout: milliseconds; -1 waits for ever.
  /// - Returns: false when the session has stopped, or the time has passed.
  /// - Throws: `DriverError` when the device is lost for good.
  public func take(
    timeout: Int32 = -1, _ body: (borrowing RoundNotification) -> Void
  ) throws(DriverError) -> Bool {
    guard consumer.wait(timeout: timeout) == .ready else { return try ending() }
    lend(body)
    return true
  }

  /// Lends the next notification to `body`, for a task.
  ///
  /// - Returns: false when the session has stopped, or the task was cancelled.
  /// - Throws: `DriverError` when the device is lost for good.
  public nonisolated(nonsending) func take(
    _ body: (borrowing RoundNotification) -> Void
  ) async throws(DriverError) -> Bool {
    guard await consumer.waitAsync() == .ready else { return try ending() }
    lend(body)
    return true
  }

  private func lend(_ body: (borrowing RoundNotification) -> Void) {
    consumer.take { payload, info in
      body(RoundNotification(kind(payload, info.tag), payload, info))
    }
  }

  private func kind(_ payload: RawSpan, _ tag: UInt32) -> RoundNotification.Kind {
    if tag != 0 { return .diagnostics(Opcode(word: tag)) }
    // A mark is one byte, which no notification is.
    guard payload.byteCount == 1 else { return .measurements }
    // Sound: there is one.
    switch Subscription.Mark(rawValue: unsafe payload.unsafeLoad(as: UInt8.self)) {
    case .interrupted: return .interrupted(subscription.takeCause())
    case .resumed: return .resumed
    case nil: return .measurements
    }
  }

  private func ending() throws(DriverError) -> Bool {
    if let failure = subscription.failure { throw failure }
    return false
  }
}
