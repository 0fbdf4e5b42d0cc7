// SPDX-License-Identifier: Apache-2.0
import DequeModule
import UWB

/// A measurement as it is sent, up to what differs from client to client.
struct PublishedMeasurement: Sendable {
  var chip: String
  var sessionID: UInt32
  var peer: MACAddress
  /// The members of the reply without `lost`, as JSON.
  var members: String
}

/// Measurements that wait for a client to take them.
struct MeasurementQueue {
  /// Which of them are dropped.
  enum Rule: String {
    /// All but the newest of each peer of a session.
    case newest
    /// The oldest when too many wait.
    case all
  }

  let rule: Rule
  /// How many can wait.
  let limit: Int
  private var waiting: Deque<PublishedMeasurement> = []
  /// Dropped since the last one that was taken.
  private(set) var lost = 0

  init(_ rule: Rule, limit: Int) { (self.rule, self.limit) = (rule, limit) }

  mutating func add(_ measurement: PublishedMeasurement) {
    if rule == .newest,
      let index = waiting.firstIndex(where: {
        $0.peer == measurement.peer && $0.sessionID == measurement.sessionID
          && $0.chip == measurement.chip
      })
    {
      // The one that has waited longest is taken first.
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

  /// The next one, and how many were dropped since the one before.
  mutating func next() -> (measurement: PublishedMeasurement, lost: Int)? {
    guard let measurement = waiting.popFirst() else { return nil }
    defer { lost = 0 }
    return (measurement, lost)
  }
}
