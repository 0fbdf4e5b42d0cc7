// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import UCI
import Varlink

/// The measurements that a client wants and that wait for it.
@ServiceActor final class Monitor: VarlinkStream {
  /// The filter. A chip has its name in the list.
  private let wanted: ChipCall.Monitor
  private var queue: MeasurementQueue
  private var state = State.sending
  private weak var connection: VarlinkConnection?

  private enum State {
    case sending
    /// Measurements are collected until the pause is over.
    case collecting
    /// The error follows the last measurement.
    case ending(ServiceError)
  }

  /// The bytes of measurements that are encoded for one call of send(2).
  private static let mostEncoded = 32_768

  init(_ wanted: ChipCall.Monitor, _ connection: VarlinkConnection) {
    (self.wanted, self.connection) = (wanted, connection)
    queue = MeasurementQueue(wanted.keep, limit: wanted.queue)
  }

  private func includes(_ measurement: PublishedMeasurement) -> Bool {
    wanted.chip ?? measurement.chip == measurement.chip
      && wanted.sessionID ?? measurement.sessionID == measurement.sessionID
      && wanted.peer.map { $0 == measurement.peer.description } ?? true
  }

  /// Queues a measurement if the client wants it, and sends it if the client accepts bytes.
  ///
  /// - Parameter room: The most bytes that may wait.
  func offer(_ measurement: PublishedMeasurement, room: @autoclosure () -> Int) {
    guard includes(measurement) else { return }
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
    while output.count < Self.mostEncoded, let (measurement, lost) = queue.next() {
      output.encode { measurement.reply.append(to: &$0, lost: lost, continues: more) }
      if !more { return true }
    }
    guard output.isEmpty, case .ending(let error) = state else { return false }
    output.append(error.reply.bytes)
    return true
  }
}
