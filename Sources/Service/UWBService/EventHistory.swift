// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import DequeModule
import Glibc
import System
import Varlink

/// The last events of this run of the service. Streams read them from here, each from a position of
/// its own, so that a slow or abandoned stream holds no events.
@ServiceActor final class EventHistory {
  /// The random name of this run.
  nonisolated let run: String
  nonisolated let host: String
  /// The number of the last event.
  private(set) var last = 0
  private var events: Deque<RecordedEvent> = []

  static let capacity = 1_000

  nonisolated init() {
    run = String(UInt64.random(in: .min ... .max), radix: 16)
    var name = [CChar](repeating: 0, count: 65)
    // The last byte stays zero, so that a longer name ends there.
    unsafe gethostname(&name, name.count - 1)
    host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Records an event with the time and the next number.
  func add(_ event: Chips.Event) {
    last += 1
    if events.count == Self.capacity { events.removeFirst() }
    events.append(RecordedEvent(event: event, reply: encoded(event)))
  }

  /// Returns the reply for an event that is not recorded. The reply has the number of the last
  /// recorded event.
  func encoded(_ event: Chips.Event, after sequence: Int? = nil) -> EventReply {
    var event = event
    event.sequence = sequence ?? last
    event.monotonic = nanoseconds(of: CLOCK_MONOTONIC) / 1_000
    event.utc = nanoseconds(of: CLOCK_REALTIME) / 1_000
    return EventReply(event, run: run)
  }

  /// Returns the oldest recorded event after a number, and the number of that event.
  fileprivate func first(after sequence: Int) -> (event: RecordedEvent, sequence: Int)? {
    let oldest = last - events.count + 1
    let next = max(sequence + 1, oldest)
    return next > last ? nil : (events[next - oldest], next)
  }
}

struct RecordedEvent {
  var event: Chips.Event
  var reply: EventReply
}

/// The position of a stream in the history.
@ServiceActor struct EventCursor {
  let history: EventHistory
  /// The number of the last event read.
  private(set) var sequence: Int
  /// Whether the stream has no reply yet.
  private var isNew = true
  /// The note in the first reply of the stream.
  private let note: String?

  /// The bytes of replies that are encoded for one call of send(2).
  static let mostEncoded = 32_768

  /// - Parameter note: A note on the stream for users.
  init(_ history: EventHistory, after sequence: Int? = nil, note: String? = nil) {
    (self.history, self.sequence, self.note) = (history, sequence ?? history.last, note)
  }

  /// Reads the next event up to a number.
  ///
  /// - Returns: The event and the number of events before it that were missed.
  mutating func next(through end: Int = .max) -> (event: RecordedEvent, lost: Int)? {
    guard let (event, number) = history.first(after: sequence), number <= end else { return nil }
    defer { sequence = number }
    return (event, number - sequence - 1)
  }

  /// Appends the selected events up to a number. The first event of a stream is `watching`.
  ///
  /// - Returns: Whether there is room for more.
  mutating func append(
    to output: inout OutputBuffer, through end: Int = .max,
    where includes: (Chips.Event) -> Bool = { _ in true }
  ) -> Bool {
    if isNew {
      let first = history.encoded(Chips.Event(.watching, reason: note), after: sequence)
      output.encode { first.append(to: &$0, lost: 0, continues: true) }
    }
    isNew = false
    while output.count < Self.mostEncoded, let (recorded, lost) = next(through: end) {
      // The next event reports a gap, even if that event is not selected.
      guard includes(recorded.event) || lost > 0 else { continue }
      output.encode { recorded.reply.append(to: &$0, lost: lost, continues: true) }
    }
    return output.count < Self.mostEncoded
  }
}
