// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Ranging
import Synchronization
import UCI

/// The end of a frame's path: reads the fields, estimates the distances, and records the time. It
/// belongs to the thread or task that receives the frames.
final class Destination: @unchecked Sendable {
  // Safe because another thread reads only `count`, and reads the rest after the receiver has
  // ended.

  /// The time at which each frame had been estimated, by sequence number.
  let arrived: Samples
  /// The time at which the handler was called, by sequence number; 0 if it is not recorded.
  let entered: Samples
  /// The time at which read(2) returned, by sequence number.
  let received: Samples
  let count = Atomic<Int>(0)
  private let estimator: Cell<RangeEstimator>
  private var total = 0

  init(capacity: Int) {
    arrived = Samples(capacity)
    entered = Samples(capacity)
    received = Samples(capacity)
    estimator = Cell(RangeEstimator())
  }

  deinit { estimator.destroy() }

  /// Handles a whole frame.
  func take(_ frame: RawSpan, receivedAt: UInt64, enteredAt: UInt64 = 0) {
    guard let view = DecodeSink.view(frame) else { return }
    let time = Double(receivedAt) * 1e-9
    view.forEachTwoWayMeasurement { measurement in
      guard let distance = measurement.distanceCentimetres else { return }
      estimator.pointer.pointee.update(
        RangeSample(
          time: time, distance: Double(distance) / 100,
          nonLineOfSight: measurement.lineOfSight == .nonLineOfSight))
    }
    let number = Int(view.sequenceNumber)
    if number < arrived.values.count {
      arrived.values[number] = cuwb_test_now()
      entered.values[number] = enteredAt
      received.values[number] = receivedAt
    }
    total += 1
    count.store(total, ordering: .releasing)
  }

  /// Records the time only, because the frame was handled elsewhere.
  func note(_ number: Int) {
    if number < arrived.values.count { arrived.values[number] = cuwb_test_now() }
    total += 1
    count.store(total, ordering: .releasing)
  }
}
