// SPDX-License-Identifier: Apache-2.0

package import UCI
package import UWBLink

/// The measurements of one session with what was computed of them, in order, taken by one task or
/// thread.
///
/// Ends when the session stops; throws when the device is lost for good. What each way of taking
/// costs in wakes is as with `MeasurementStream`.
public final class EstimateStream: AsyncSequence, @unchecked Sendable {
  // Sound: taken by one task or thread at a time; anything else traps as an overlapping access.

  /// One measurement, not one notification.
  public typealias Element = EstimatedMeasurement
  /// The device is lost.
  public typealias Failure = DriverError

  private let rounds: RoundStream
  private var pipeline: EstimationPipeline
  private var ready: [EstimatedMeasurement] = []
  private var position = 0
  private var wasInterrupted = false
  private var isOver = false

  init(_ rounds: RoundStream, _ settings: EstimationSettings) {
    self.rounds = rounds
    pipeline = EstimationPipeline(settings)
    ready.reserveCapacity(64)
  }

  /// Notifications dropped so far because they were not taken in time.
  public var dropped: Int { rounds.dropped }
  /// Rounds whose diagnostics were waited for in vain.
  public var missingDiagnostics: Int { pipeline.missing }
  /// Diagnostics that came when their measurement had been given out.
  public var lateDiagnostics: Int { pipeline.late }

  /// The next one, for a thread of one's own.
  ///
  /// - Parameter timeout: milliseconds for each notification; -1 waits for ever. A measurement that
  ///   waits for diagnostics is given out when the time has passed.
  /// - Returns: nil when the session has stopped, or the time has passed.
  /// - Throws: `DriverError` when the device is lost.
  public func next(timeout: Int32 = -1) throws(DriverError) -> EstimatedMeasurement? {
    while true {
      if let estimate = buffered() { return estimate }
      startOver()
      var failure: DriverError?
      do throws(DriverError) {
        if try rounds.take(timeout: timeout, { take($0) }) { continue }
      } catch { failure = error }
      flush()
      if let estimate = buffered() { return estimate }
      if let failure { throw failure }
      return nil
    }
  }

  fileprivate nonisolated(nonsending) func next() async throws(DriverError) -> EstimatedMeasurement?
  {
    while true {
      if let estimate = buffered() { return estimate }
      startOver()
      var failure: DriverError?
      do throws(DriverError) {
        if try await rounds.take({ take($0) }) { continue }
      } catch { failure = error }
      flush()
      if let estimate = buffered() { return estimate }
      if let failure { throw failure }
      return nil
    }
  }

  private func buffered() -> EstimatedMeasurement? {
    guard position < ready.count else { return nil }
    defer { position += 1 }
    return ready[position]
  }

  private func startOver() {
    position = 0
    ready.removeAll(keepingCapacity: true)
  }

  private func flush() { pipeline.flush { ready.append($0) } }

  private func take(_ notification: borrowing RoundNotification) {
    pipeline.take(notification, isAfterInterruption: &wasInterrupted) { ready.append($0) }
  }

  /// Takes the estimates. All iterators of a stream take from the same place.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// Takes the estimates of a stream.
  public struct Iterator: AsyncIteratorProtocol {
    let stream: EstimateStream

    /// The next one; nil when the session has stopped or the task was cancelled.
    ///
    /// - Throws: `DriverError` when the device is lost.
    public mutating func next() async throws(DriverError) -> EstimatedMeasurement? {
      try await stream.next()
    }

    /// The next one, without leaving the caller's actor when one is there already.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(DriverError) -> EstimatedMeasurement? {
      try await stream.next()
    }
  }
}

extension EstimationPipeline {
  /// Takes a notification of a session's rounds.
  ///
  /// - Parameter isAfterInterruption: whether the device was lost since the last measurement; kept
  ///   by the caller, false at first.
  public mutating func take(
    _ notification: borrowing RoundNotification, isAfterInterruption: inout Bool,
    _ give: (EstimatedMeasurement) -> Void
  ) {
    switch notification.kind {
    case .measurements:
      guard let view = try? SessionInfoView(notification.payload) else { return }
      take(view, notification.info, isAfterInterruption: isAfterInterruption, give)
      isAfterInterruption = false
    case .diagnostics(let opcode): takeDiagnostics(opcode, notification.payload, give)
    case .interrupted:
      flush(give)
      isAfterInterruption = true
    case .resumed: break
    }
  }
}

/// A pipeline that belongs to the reader's thread.
package final class PipelineInPlace: @unchecked Sendable {
  // Sound: used in the callback of one subscription only, which is never called twice at a time.
  private var pipeline: EstimationPipeline
  private var wasInterrupted = false

  package init(_ settings: EstimationSettings = EstimationSettings()) {
    pipeline = EstimationPipeline(settings)
  }

  func take(
    _ notification: borrowing RoundNotification, _ give: (EstimatedMeasurement) -> Void
  ) {
    pipeline.take(notification, isAfterInterruption: &wasInterrupted, give)
  }

  /// Measurements that came by another way than that of a session.
  package func take(
    _ view: borrowing SessionInfoView, _ info: FrameInfo,
    _ give: (EstimatedMeasurement) -> Void
  ) {
    pipeline.take(view, info, give)
  }
}

extension UWBSession {
  /// A stream of measurements from now on with what is computed of them. Ask before `start` to get
  /// the first; with `SessionConfiguration.diagnostics` there is more to compute.
  ///
  /// - Parameter capacity: notifications it holds while they are not taken.
  public func estimates(
    _ settings: EstimationSettings = EstimationSettings(), capacity: Int = 256
  ) -> EstimateStream {
    EstimateStream(rounds(capacity: capacity), completed(settings))
  }

  /// Calls `body` with each measurement and what is computed of it, on the reader's thread: the
  /// fastest way, without a wake or an allocation. `body` must not wait for anything.
  ///
  /// - Returns: ends the calls when called; one call may still be under way.
  @discardableResult
  public func onEstimates(
    _ settings: EstimationSettings = EstimationSettings(),
    _ body: @escaping @Sendable (EstimatedMeasurement) -> Void
  ) -> @Sendable () -> Void {
    let own = PipelineInPlace(completed(settings))
    return onRounds { notification in own.take(notification, body) }
  }

  private func completed(_ settings: EstimationSettings) -> EstimationSettings {
    var settings = settings
    settings.expectsDiagnostics = settings.expectsDiagnostics ?? hasDiagnostics
    return settings
  }
}
