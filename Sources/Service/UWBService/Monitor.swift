// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import UCI
import Varlink

/// A client's stream of measurements, and the measurements that wait for the client.
@ServiceActor final class Monitor: VarlinkStream {
  /// The filter. Its chip has the name that the list of chips shows.
  private let wanted: ChipCall.Monitor
  /// The peers of the filter; nil for all peers.
  private let peers: Set<MACAddress>?
  private var queue: MeasurementQueue
  /// The events of the stream; nil if the client does not want them.
  private var events: EventCursor?
  /// The chip whose events concern the stream; nil for all chips.
  private let eventChip: String?
  private var rate: PeerRate
  private var state = State.sending
  private weak var connection: VarlinkConnection?

  private enum State {
    case sending
    /// Measurements are collected until the pause is over.
    case collecting
    /// The error follows the last measurement.
    case ending(ServiceError)
  }

  init(
    _ wanted: ChipCall.Monitor, of peers: Set<MACAddress>?, events: EventCursor?,
    of eventChip: String?, _ connection: VarlinkConnection
  ) {
    (self.wanted, self.peers, self.connection, self.events) = (wanted, peers, connection, events)
    self.eventChip = eventChip
    queue = MeasurementQueue(wanted.keep, limit: wanted.queue)
    rate = PeerRate(wanted.interval)
  }

  var hasNulls: Bool { wanted.hasNulls }

  private func includes(_ measurement: PublishedMeasurement) -> Bool {
    wanted.chip ?? measurement.chip == measurement.chip
      && wanted.sessionID ?? measurement.sessionID == measurement.sessionID
      && peers?.contains(measurement.peer) ?? true
      && (wanted.hasOneWay || !measurement.isOneWay)
  }

  private func includes(_ event: Chips.Event) -> Bool {
    eventChip ?? event.chip == event.chip
      && (event.sessionID == nil || wanted.sessionID ?? event.sessionID == event.sessionID)
  }

  /// Queues a measurement if the client wants it, and sends it if the client accepts bytes.
  ///
  /// - Parameter room: The greatest number of bytes that may wait.
  func offer(_ measurement: PublishedMeasurement, room: @autoclosure () -> Int) {
    guard includes(measurement), rate.passes(measurement) else { return }
    queue.add(measurement, room: room())
    guard case .sending = state else { return }
    guard wanted.pause > .zero else { return sendMeasurements() }
    state = .collecting
    ServiceQueue.shared.later(after: wanted.pause) { [weak self] in
      guard let self else { return }
      if case .collecting = state { state = .sending }
      sendMeasurements()
    }
  }

  private func sendMeasurements() {
    connection?.sendReplies()
    if queue.lost > 0 { connection?.closeIfStuck() }
  }

  /// Sends recorded events. Collected measurements wait, and so do the events after them.
  func sendEvents() {
    if events != nil { connection?.sendReplies() }
  }

  /// Ends the measurements of a session that the client names.
  func ended(_ session: SharedSession, _ reason: ServiceError) {
    guard wanted.sessionID == session.id, wanted.chip ?? session.chip == session.chip else {
      return
    }
    state = .ending(reason)
    connection?.sendReplies()
  }

  func appendReplies(to output: inout OutputBuffer, more: Bool) -> Bool {
    if case .collecting = state { return false }
    while !more || appendEvents(through: queue.first?.event ?? .max, to: &output),
      let (measurement, lost) = queue.next()
    {
      let reply = hasNulls ? measurement.reply : measurement.withoutNulls ?? measurement.reply
      let identity = wanted.hasIdentity ? measurement.identity : nil
      if more, lost == 0, identity == nil {
        output.append(reply.message)
      } else {
        output.encode { reply.append(to: &$0, lost: lost, identity: identity, continues: more) }
      }
      if !more { return true }
    }
    guard output.isEmpty, case .ending(let error) = state else { return false }
    output.append(error.reply.bytes)
    return true
  }

  /// Appends the events of the stream that happened up to a number.
  ///
  /// - Returns: Whether there is room for more.
  private func appendEvents(through end: Int, to output: inout OutputBuffer) -> Bool {
    events?.append(to: &output, through: end, where: includes)
      ?? (output.count < EventCursor.mostEncoded)
  }
}
