// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Makes estimates of notifications, in a stream.
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

/// What a program shows of the rounds of a session.
package enum EstimatedRound: Sendable {
  /// One for each entry of a round.
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

/// Makes estimates of notifications, and reports the rounds without any.
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

/// Makes estimates of notifications in a callback on the reader thread.
package final class InlineEstimator: @unchecked Sendable {
  // Safe because it is used in the callback of one subscription only, which is called on one thread.
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
  /// A stream of estimates from now on: each measurement with what is computed of it. Ask before
  /// `start` to get the first; with `SessionConfiguration.diagnostics` there is more to compute.
  ///
  /// - Parameters:
  ///   - settings: What the estimates assume, from a calibration for example.
  ///   - capacity: How many notifications it holds while they are not taken.
  public func estimates(
    _ settings: EstimationSettings = EstimationSettings(), capacity: Int = 256
  ) -> RangingStream<EstimatedMeasurement> {
    RangingStream(
      self, capacity: capacity, includesDiagnostics: true, EstimateDecoder(completed(settings)))
  }

  /// The same with the rounds in which nothing was measured.
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
  ///   - settings: What the estimates assume, from a calibration for example.
  ///   - body: Must not wait for anything, above all not for this device.
  /// - Returns: What ends the calls; they go on when it is not kept.
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
