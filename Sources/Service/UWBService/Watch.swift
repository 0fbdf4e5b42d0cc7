// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import System
import Varlink

/// The events that a client watches. Its queue is the history of the service.
@ServiceActor final class Watch: VarlinkStream {
  private var cursor: EventCursor
  private let interval: Duration?
  private let sessions: @ServiceActor () -> [Chips.Event]
  /// Whether counters are due. A client that accepts no bytes for a while receives the counters
  /// once.
  private var countersAreDue = false
  private weak var connection: VarlinkConnection?

  /// - Parameters:
  ///   - interval: The time between two counts; nil for none.
  ///   - sessions: Returns the present counts of the sessions.
  init(
    _ cursor: EventCursor, every interval: Duration?, _ connection: VarlinkConnection,
    _ sessions: @escaping @ServiceActor () -> [Chips.Event]
  ) {
    (self.cursor, self.interval, self.connection) = (cursor, interval, connection)
    self.sessions = sessions
    countLater()
  }

  private func countLater() {
    guard let interval else { return }
    ServiceQueue.shared.later(after: interval) { [weak self] in
      guard let self, let connection, connection.stream === self else { return }
      countersAreDue = true
      sendEvents()
      countLater()
    }
  }

  func sendEvents() {
    connection?.sendReplies()
    if cursor.sequence < cursor.history.last { connection?.closeIfStuck() }
  }

  func appendReplies(to output: inout OutputBuffer, more: Bool) -> Bool {
    if more {
      guard cursor.append(to: &output) else { return false }
    } else if let (event, lost) = cursor.next() {
      output.encode { event.reply.append(to: &$0, lost: lost, continues: false) }
      return true
    }
    guard countersAreDue else { return false }
    countersAreDue = false
    for event in sessions() {
      let reply = cursor.history.encoded(event)
      output.encode { reply.append(to: &$0, lost: 0, continues: more) }
    }
    return !more && !output.isEmpty
  }
}
