// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Creates the elements of a stream from notifications. Only the stream's consumer uses it.
struct RoundDecoder<Element: Sendable>: Sendable {
  /// The pipeline that computes estimates; nil for streams without estimates.
  private var pipeline: EstimationPipeline?
  /// The decoded elements; the elements from `position` on have not been returned yet.
  private var elements: [Element] = []
  private var position = 0
  // These closures are specialised for the type of the elements, so that no generic call is
  // necessary.
  private let addValues: @Sendable (borrowing RoundNotification, inout [Element]) -> Void
  private let addEstimate: @Sendable (EstimatedRound, inout [Element]) -> Void

  /// Creates a decoder for the values in each notification.
  init(values: @escaping @Sendable (borrowing RoundNotification, inout [Element]) -> Void) {
    addValues = values
    addEstimate = { _, _ in }
    elements.reserveCapacity(16)
  }

  /// Creates a decoder for the rounds that a pipeline completes.
  init(
    _ settings: EstimationSettings,
    estimates: @escaping @Sendable (EstimatedRound, inout [Element]) -> Void
  ) {
    pipeline = EstimationPipeline(settings)
    addValues = { _, _ in }
    addEstimate = estimates
    elements.reserveCapacity(64)
  }

  /// Adds the elements that this notification completes.
  mutating func decode(_ round: borrowing RoundNotification) {
    addValues(round, &elements)
    pipeline?.add(round) { addEstimate($0, &elements) }
  }

  /// Adds the measurements that wait for diagnostics, because no notification is available now.
  mutating func flush() { pipeline?.flush { addEstimate($0, &elements) } }

  /// Removes and returns the oldest element; nil if there is none.
  mutating func next() -> Element? {
    guard position < elements.count else {
      position = 0
      elements.removeAll(keepingCapacity: true)
      return nil
    }
    defer { position += 1 }
    return elements[position]
  }
}

extension RoundDecoder<RangingMeasurement> {
  static var measurements: Self {
    Self { round, elements in round.forEachMeasurement { elements.append($0) } }
  }
}

extension RoundDecoder<RoundEvent> {
  static func events(_ dialect: Dialect) -> Self {
    Self { round, elements in round.forEachEvent(dialect: dialect) { elements.append($0) } }
  }
}

extension RoundDecoder<EstimatedMeasurement> {
  static func estimates(_ settings: EstimationSettings) -> Self {
    Self(settings) { round, elements in
      if case .estimate(let estimate) = round { elements.append(estimate) }
    }
  }
}

extension RoundDecoder<EstimatedRound> {
  static func estimatedRounds(_ settings: EstimationSettings) -> Self {
    Self(settings) { round, elements in elements.append(round) }
  }
}
