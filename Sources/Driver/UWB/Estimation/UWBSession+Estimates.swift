// SPDX-License-Identifier: Apache-2.0
package import Ranging
internal import UCI

/// The events in the rounds of a session that programs show.
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

/// Computes estimates from notifications in a callback on the reader thread.
package final class InlineEstimator: @unchecked Sendable {
  // Safe because it is used in the callback of one subscription only, which is called on one
  // thread.
  private var pipeline: EstimationPipeline

  package init(_ settings: EstimationSettings = EstimationSettings()) {
    pipeline = EstimationPipeline(settings)
  }

  /// Adds a notification, and calls `emit` with each estimate that it completes.
  package func add(
    _ round: borrowing RoundNotification, _ emit: (EstimatedMeasurement) -> Void
  ) {
    pipeline.add(round) { if case .estimate(let estimate) = $0 { emit(estimate) } }
  }
}

extension UWBSession {
  /// Returns a stream of estimates from now on: each measurement with the values computed from it.
  /// Call it before `start` to get the first one. `SessionConfiguration.diagnostics` improves the
  /// estimates.
  ///
  /// - Parameters:
  ///   - settings: The assumptions of the estimates, from a calibration for example.
  ///   - capacity: The number of notifications kept for a slow consumer.
  public func estimates(
    _ settings: EstimationSettings = EstimationSettings(), capacity: Int = 256
  ) -> RangingStream<EstimatedMeasurement> {
    RangingStream(
      self, capacity: capacity, includesDiagnostics: true, .estimates(completed(settings)))
  }

  /// Returns the stream of estimates, including rounds without a measurement.
  package func estimatedRounds(
    _ settings: EstimationSettings = EstimationSettings(), capacity: Int = 256
  ) -> RangingStream<EstimatedRound> {
    RangingStream(
      self, capacity: capacity, includesDiagnostics: true, .estimatedRounds(completed(settings)))
  }

  /// Calls `body` with each estimate on the reader thread. Wakes no other thread, and does not
  /// allocate.
  ///
  /// - Parameters:
  ///   - settings: The assumptions of the estimates, from a calibration for example.
  ///   - body: Receives each estimate. It must not block, and in particular not wait for this
  ///     device.
  /// - Returns: A handle that ends the calls; they continue if it is discarded.
  @discardableResult
  public func onEstimates(
    _ settings: EstimationSettings = EstimationSettings(),
    _ body: @escaping @Sendable (EstimatedMeasurement) -> Void
  ) -> RangingSubscription {
    let estimator = InlineEstimator(completed(settings))
    return onRounds { round in estimator.add(round, body) }
  }

  private func completed(_ settings: EstimationSettings) -> EstimationSettings {
    var settings = settings
    settings.expectsDiagnostics = settings.expectsDiagnostics ?? hasDiagnostics
    settings.chip = device.family
    return settings
  }
}

extension UWBDevice {
  /// The family of the chip, which determines the error of distances without a calibration.
  package var family: ChipFamily { ChipFamily(profile.vendor) }
}
