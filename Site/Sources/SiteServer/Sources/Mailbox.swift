// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// The items that live sources have sent and the loop has not yet taken.
///
/// Each source has a queue of its own with a bound. A source that sends faster than the loop takes
/// loses its own oldest items, and no others.
package final class Mailbox: Sendable {
  /// An item with its source, and its arrival by the clock of the loop in seconds.
  package struct Delivery: Sendable, Hashable {
    package var source: Int
    package var item: SourceItem
    package var arrival: Double
  }

  fileprivate struct Queue {
    var items: [Delivery] = []
    /// Changes of the state that were older than dropped items.
    var states: [Delivery] = []
    /// The index of the oldest item.
    var first = 0
    /// The number of items that were lost since the last delivery.
    var lost = 0
  }

  private struct State {
    var queues: [Queue]
    /// The queue whose turn is next.
    var next = 0
    var isClosed = false
  }

  /// The number of items that wait for each source at most.
  package static let usualBound = 16_384
  /// The number of items of one source in a delivery, so that all sources have their turn.
  private static let share = 256

  private let bound: Int
  private let state: Mutex<State>
  private let arrived = DispatchSemaphore(value: 0)

  package init(sources: Int, bound: Int = Mailbox.usualBound) {
    self.bound = bound
    state = Mutex(State(queues: Array(repeating: Queue(), count: sources)))
  }

  package var isClosed: Bool { state.withLock(\.isClosed) }

  /// Ends all ports: their sources stop.
  package func close() {
    state.withLock { $0.isClosed = true }
    arrived.signal()
  }

  /// Adds items of a source. Its oldest items make room.
  package func put(_ items: [SourceItem], from source: Int, at arrival: Double) {
    guard !items.isEmpty else { return }
    state.withLock { state in
      for item in items {
        state.queues[source].items.append(Delivery(source: source, item: item, arrival: arrival))
      }
      let excess = state.queues[source].count - bound
      if excess > 0 { state.queues[source].drop(excess) }
    }
    arrived.signal()
  }

  /// Takes some items of each source in turn; a report of lost items stands before the next one.
  package func take() -> [Delivery] {
    state.withLock { state in
      var taken: [Delivery] = []
      for step in state.queues.indices {
        state.queues[(state.next + step) % state.queues.count].move(Self.share, to: &taken)
      }
      if !state.queues.isEmpty { state.next = (state.next + 1) % state.queues.count }
      return taken
    }
  }

  /// Waits for new items, for some seconds at most. It blocks the thread.
  package func wait(_ seconds: Double) {
    let nanoseconds = Int(max(0, min(seconds, 3600)) * 1e9)
    guard arrived.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return }
    // One wake for all items that have arrived.
    while arrived.wait(timeout: .now()) == .success {}
  }
}

extension Mailbox.Queue {
  fileprivate var count: Int { items.count - first }

  /// Drops the oldest measurements. Changes of the state stay.
  fileprivate mutating func drop(_ excess: Int) {
    for index in first..<min(items.count, first + excess) {
      if items[index].item.isState {
        states.append(items[index])
      } else {
        lost += items[index].item.measurements
      }
    }
    first = min(items.count, first + excess)
    compact()
  }

  fileprivate mutating func move(_ most: Int, to taken: inout [Mailbox.Delivery]) {
    let end = min(items.count, first + most)
    guard end > first else { return }
    if lost > 0 {
      let oldest = items[first]
      taken.append(
        Mailbox.Delivery(source: oldest.source, item: .lost(lost), arrival: oldest.arrival))
      lost = 0
    }
    taken += states
    states.removeAll()
    taken += items[first..<end]
    first = end
    compact()
  }

  /// Frees the taken items from time to time: each one is moved once at most.
  private mutating func compact() {
    guard first > items.count / 2 else { return }
    if first == items.count {
      items.removeAll(keepingCapacity: true)
    } else {
      items.removeFirst(first)
    }
    first = 0
  }
}

extension SourceItem {
  var isState: Bool {
    if case .state = self { true } else { false }
  }

  /// The number of measurements that are lost with the item.
  var measurements: Int {
    switch self {
    case .measurement, .message, .failed, .bad: 1
    case .lost(let count): count
    case .state: 0
    }
  }
}

/// The way of one live source to the loop.
package struct SourcePort: Sendable {
  private let mailbox: Mailbox
  private let source: Int
  private let clock: @Sendable () -> Double

  package init(_ mailbox: Mailbox, _ source: Int, clock: @escaping @Sendable () -> Double) {
    (self.mailbox, self.source, self.clock) = (mailbox, source, clock)
  }

  /// Seconds by the clock of the loop.
  package var now: Double { clock() }

  /// Whether the source has to stop.
  package var isClosed: Bool { mailbox.isClosed }

  /// Sends items, which arrive now.
  package func send(_ items: [SourceItem]) { mailbox.put(items, from: source, at: now) }

  package func send(_ state: SourceState) { send([.state(state)]) }
}
