// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import DequeModule
import UWB

/// A measurement on its way to the clients that monitor it.
///
/// All queues share one object, and differ in references of eight bytes.
final class PublishedMeasurement: Sendable {
  let chip: String
  let sessionID: UInt32
  let peer: MACAddress
  /// The users who may see it.
  let audience: Audience
  let reply: MeasurementReply

  init(
    chip: String, sessionID: UInt32, peer: MACAddress, audience: Audience, reply: MeasurementReply
  ) {
    (self.chip, self.sessionID, self.peer) = (chip, sessionID, peer)
    (self.audience, self.reply) = (audience, reply)
  }
}

/// The measurements that wait for one client.
struct MeasurementQueue {
  let rule: Chips.Keep
  /// The capacity of the queue.
  let limit: Int
  private var waiting: Deque<PublishedMeasurement> = []
  /// The number of measurements dropped since the last one removed.
  private(set) var lost = 0
  /// The length of the waiting measurements in bytes.
  private var bytes = 0

  init(_ rule: Chips.Keep, limit: Int) { (self.rule, self.limit) = (rule, limit) }

  /// - Parameter room: The most bytes that may wait, except for the newest measurement.
  mutating func add(_ measurement: PublishedMeasurement, room: Int = .max) {
    bytes += measurement.reply.count
    defer { while bytes > room, waiting.count > 1 { dropFirst() } }
    if rule == .newest,
      let index = waiting.firstIndex(where: {
        $0.peer == measurement.peer && $0.sessionID == measurement.sessionID
          && $0.chip == measurement.chip
      })
    {
      // The new measurement keeps the position of the one it replaces.
      bytes -= waiting[index].reply.count
      waiting[index] = measurement
      lost += 1
      return
    }
    if waiting.count == limit { dropFirst() }
    waiting.append(measurement)
  }

  private mutating func dropFirst() {
    bytes -= waiting.removeFirst().reply.count
    lost += 1
  }

  /// Removes the oldest measurement, and returns it with the number dropped before it.
  mutating func next() -> (measurement: PublishedMeasurement, lost: Int)? {
    guard let measurement = waiting.popFirst() else { return nil }
    bytes -= measurement.reply.count
    defer { lost = 0 }
    return (measurement, lost)
  }
}
