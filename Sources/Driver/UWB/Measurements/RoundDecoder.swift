// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Creates the elements of a stream from notifications. Belongs to the stream's consumer.
class RoundDecoder<Element: Sendable> {
  /// The elements not yet returned, from `position` on.
  final var elements: [Element] = []
  private final var position = 0

  init(capacity: Int) { elements.reserveCapacity(capacity) }

  /// Appends the contents of a notification to `elements`.
  func decode(_ round: borrowing RoundNotification) {}

  /// Appends the measurements that wait for another notification: none arrives for now.
  func flush() {}

  final func next() -> Element? {
    guard position < elements.count else {
      position = 0
      elements.removeAll(keepingCapacity: true)
      return nil
    }
    defer { position += 1 }
    return elements[position]
  }
}

final class MeasurementDecoder: RoundDecoder<RangingMeasurement> {
  private var followsInterruption = false

  init() { super.init(capacity: 16) }

  override func decode(_ round: borrowing RoundNotification) {
    switch round.kind {
    case .measurements(let view):
      view.forEachTwoWayMeasurement { result in
        elements.append(
          RangingMeasurement(
            sessionToken: view.sessionToken, sequenceNumber: view.sequenceNumber,
            receivedAt: round.info.receivedAt, lostBefore: round.info.lostBefore,
            followsInterruption: followsInterruption, result: result))
        followsInterruption = false
      }
    case .interrupted: followsInterruption = true
    case .diagnostics, .resumed: break
    }
  }
}

final class RoundEventDecoder: RoundDecoder<RoundEvent> {
  private let measurements = MeasurementDecoder()
  private var followsInterruption = false

  init() { super.init(capacity: 16) }

  override func decode(_ round: borrowing RoundNotification) {
    measurements.decode(round)
    while let measurement = measurements.next() { elements.append(.measurement(measurement)) }
    switch round.kind {
    case .measurements(let view):
      let isFirst = followsInterruption
      followsInterruption = false
      guard view.type != .twoWay else {
        if var empty = EmptyRound(view, round.info) {
          empty.followsInterruption = isFirst
          elements.append(.empty(empty))
        }
        return
      }
      var reader = PayloadReader(view.payload)
      guard let info = try? SessionInfo(from: &reader, dialect: .assumed) else { return }
      elements.append(.oneWay(info))
    case .diagnostics(let opcode, let payload):
      elements.append(
        .diagnostics(opcode, unsafe payload.withUnsafeBytes { unsafe Array($0) }))
    case .interrupted(let cause):
      followsInterruption = true
      elements.append(.interrupted(cause))
    case .resumed: elements.append(.resumed)
    }
  }
}
