// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Computes estimates from notifications, in a stream.
final class EstimateDecoder: RoundDecoder<EstimatedMeasurement> {
  private var pipeline: EstimationPipeline

  init(_ settings: EstimationSettings) {
    pipeline = EstimationPipeline(settings)
    super.init(capacity: 64)
  }

  override func decode(_ round: borrowing RoundNotification) {
    pipeline.take(round) { elements.append($0) }
  }

  override func flush() { pipeline.flush { elements.append($0) } }
}

/// The events that a program shows of the rounds of a session.
package enum EstimatedRound: Sendable {
  /// An estimate for each entry of a round.
  case estimate(EstimatedMeasurement)
  case empty(EmptyRound)

  package var sequenceNumber: UInt32 {
    switch self {
    case .estimate(let estimate): estimate.measurement.sequenceNumber
    case .empty(let round): round.sequenceNumber
    }
  }

  package var receivedAt: UInt64 {
    switch self {
    case .estimate(let estimate): estimate.measurement.receivedAt
    case .empty(let round): round.receivedAt
    }
  }
}

/// Computes estimates from notifications, and reports the rounds without any.
struct RoundEstimator: Sendable {
  private var pipeline: EstimationPipeline
  private var followsInterruption = false

  init(_ settings: EstimationSettings) { pipeline = EstimationPipeline(settings) }

  mutating func take(_ round: borrowing RoundNotification, _ emit: (EstimatedRound) -> Void) {
    pipeline.take(round) { emit(.estimate($0)) }
    switch round.kind {
    case .measurements(let view):
      if var empty = EmptyRound(view, round.info) {
        empty.followsInterruption = followsInterruption
        emit(.empty(empty))
      }
      followsInterruption = false
    case .interrupted: followsInterruption = true
    case .diagnostics, .resumed: break
    }
  }

  mutating func flush(_ emit: (EstimatedRound) -> Void) {
    pipeline.flush { emit(.estimate($0)) }
  }
}

final class EstimatedRoundDecoder: RoundDecoder<EstimatedRound> {
  private var estimator: RoundEstimator

  init(_ settings: EstimationSettings) {
    estimator = RoundEstimator(settings)
    super.init(capacity: 64)
  }

  override func decode(_ round: borrowing RoundNotification) {
    estimator.take(round) { elements.append($0) }
  }

  override func flush() { estimator.flush { elements.append($0) } }
}

/// Computes estimates from notifications in a callback on the reader thread.
package final class InlineEstimator: @unchecked Sendable {
  // Safe because it is used in the callback of one subscription only, which is called on one
  // thread.
  private var pipeline: EstimationPipeline

  package init(_ settings: EstimationSettings = EstimationSettings()) {
    pipeline = EstimationPipeline(settings)
  }

  package func take(
    _ round: borrowing RoundNotification, _ emit: (EstimatedMeasurement) -> Void
  ) {
    pipeline.take(round, emit)
  }
}

extension UWBSession {
  /// Returns a stream of estimates from now on: each measurement with the values computed from it.
  /// Call it before `start` to get the first. `SessionConfiguration.diagnostics` provides more
  /// input.
  ///
  /// - Parameters:
  ///   - settings: The assumptions of the estimates, from a calibration for example.
  ///   - capacity: The number of notifications kept for a slow consumer.
  public func estimates(
    _ settings: EstimationSettings = EstimationSettings(), capacity: Int = 256
  ) -> RangingStream<EstimatedMeasurement> {
    RangingStream(
      self, capacity: capacity, includesDiagnostics: true, EstimateDecoder(completed(settings)))
  }

  /// Returns the stream of estimates, with the rounds in which nothing was measured.
  package func estimatedRounds(
    _ settings: EstimationSettings = EstimationSettings(), capacity: Int = 256
  ) -> RangingStream<EstimatedRound> {
    RangingStream(
      self, capacity: capacity, includesDiagnostics: true,
      EstimatedRoundDecoder(completed(settings)))
  }

  /// Calls `body` with each estimate on the reader thread, without a wake or an allocation.
  ///
  /// - Parameters:
  ///   - settings: The assumptions of the estimates, from a calibration for example.
  ///   - body: Receives each estimate. Must not block, above all not wait for this device.
  /// - Returns: A handle that ends the calls; they continue if it is discarded.
  @discardableResult
  public func onEstimates(
    _ settings: EstimationSettings = EstimationSettings(),
    _ body: @escaping @Sendable (EstimatedMeasurement) -> Void
  ) -> RangingSubscription {
    let estimator = InlineEstimator(completed(settings))
    return onRounds { round in estimator.take(round, body) }
  }

  private func completed(_ settings: EstimationSettings) -> EstimationSettings {
    var settings = settings
    settings.expectsDiagnostics = settings.expectsDiagnostics ?? hasDiagnostics
    return settings
  }
}
