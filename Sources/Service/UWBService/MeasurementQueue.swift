// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import DequeModule
import UWB
import Varlink

/// A measurement on its way to the clients that monitor it.
///
/// All queues share one object, so that each client costs a reference of eight bytes.
@ServiceActor final class PublishedMeasurement {
  nonisolated let chip: String
  nonisolated let sessionID: UInt32
  nonisolated let peer: MACAddress
  /// The time of the measurement in nanoseconds of CLOCK_MONOTONIC.
  nonisolated let time: UInt64
  /// The users who may see the measurement.
  nonisolated let audience: Audience
  /// The number of the last event before the measurement.
  nonisolated let event: Int
  nonisolated let identity: EncodedIdentity?
  /// Whether the measurement is a message of one-way ranging.
  nonisolated let isOneWay: Bool
  /// The message; without the members that are null if no client wants them.
  nonisolated let reply: MeasurementReply
  /// The message without the members that are null, if clients want both forms.
  nonisolated let withoutNulls: MeasurementReply?

  nonisolated init(
    chip: String, sessionID: UInt32, peer: MACAddress, time: UInt64, audience: Audience,
    event: Int = 0, identity: EncodedIdentity? = nil, isOneWay: Bool = false,
    reply: MeasurementReply,
    withoutNulls: MeasurementReply? = nil
  ) {
    (self.chip, self.sessionID, self.peer, self.time) = (chip, sessionID, peer, time)
    (self.audience, self.event, self.identity) = (audience, event, identity)
    self.isOneWay = isOneWay
    (self.reply, self.withoutNulls) = (reply, withoutNulls)
  }
}

/// Limits the measurements of each peer to a rate.
struct PeerRate {
  private struct Peer: Hashable {
    var chip: String
    var sessionID: UInt32
    var address: MACAddress
  }

  /// The shortest time between two measurements of a peer in nanoseconds.
  private let interval: UInt64
  /// The times of the last measurements that passed, in nanoseconds.
  private var passed: [Peer: UInt64] = [:]

  /// The number of remembered peers at which peers without a recent measurement are forgotten. It
  /// doubles if most peers remain.
  private var limit = 1_024
  private static let mostPeers = 16_384

  init(_ interval: Duration) { self.interval = UInt64(interval / .nanoseconds(1)) }

  /// Returns whether a measurement passes.
  mutating func passes(_ measurement: PublishedMeasurement) -> Bool {
    guard interval > 0 else { return true }
    let peer = Peer(
      chip: measurement.chip, sessionID: measurement.sessionID, address: measurement.peer)
    let time = measurement.time
    if let before = passed[peer], time < before + interval { return false }
    if passed.count >= limit {
      passed = passed.filter { time < $0.value + interval }
      // Honest chips do not have this many peers in an hour. Memory stays limited, and the rate
      // does not.
      if passed.count >= Self.mostPeers / 2 { passed = [:] }
      limit = max(1_024, 2 * passed.count)
    }
    passed[peer] = time
    return true
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
  var first: PublishedMeasurement? { waiting.first }

  init(_ rule: Chips.Keep, limit: Int) { (self.rule, self.limit) = (rule, limit) }

  /// - Parameter room: The greatest number of bytes that may wait, not counting the newest
  ///   measurement.
  mutating func add(_ measurement: PublishedMeasurement, room: @autoclosure () -> Int = .max) {
    bytes += measurement.reply.count
    defer { while waiting.count > 1, bytes > room() { dropFirst() } }
    if rule == .newest,
      let index = waiting.firstIndex(where: {
        $0.peer == measurement.peer && $0.sessionID == measurement.sessionID
          && $0.chip == measurement.chip
      })
    {
      // The new measurement keeps the position of the measurement that it replaces.
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
