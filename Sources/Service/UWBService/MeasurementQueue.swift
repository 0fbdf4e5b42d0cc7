// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import DequeModule
import UWB

/// A measurement on its way to the clients that monitor it.
struct PublishedMeasurement: Sendable {
  var chip: String
  var sessionID: UInt32
  var peer: MACAddress
  /// The users who may see it.
  var audience: Audience
  var reply: MeasurementReply
}

/// The measurements that wait for one client.
struct MeasurementQueue {
  let rule: Chips.Keep
  /// The capacity of the queue.
  let limit: Int
  private var waiting: Deque<PublishedMeasurement> = []
  /// The number of measurements dropped since the last one removed.
  private(set) var lost = 0

  init(_ rule: Chips.Keep, limit: Int) { (self.rule, self.limit) = (rule, limit) }

  mutating func add(_ measurement: PublishedMeasurement) {
    if rule == .newest,
      let index = waiting.firstIndex(where: {
        $0.peer == measurement.peer && $0.sessionID == measurement.sessionID
          && $0.chip == measurement.chip
      })
    {
      // The new measurement keeps the position of the one it replaces.
      waiting[index] = measurement
      lost += 1
      return
    }
    if waiting.count == limit {
      waiting.removeFirst()
      lost += 1
    }
    waiting.append(measurement)
  }

  /// Removes the oldest measurement, and returns it with the number dropped before it.
  mutating func next() -> (measurement: PublishedMeasurement, lost: Int)? {
    guard let measurement = waiting.popFirst() else { return nil }
    defer { lost = 0 }
    return (measurement, lost)
  }
}
