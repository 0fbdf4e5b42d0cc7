// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// The items that live sources have sent and the loop has not processed yet.
///
/// Each source has its own bounded queue. A source that is too fast loses its own oldest items, but
/// never items of other sources.
package final class Mailbox: Sendable {
  /// An item with its source, and its arrival by the clock of the loop in seconds.
  package struct Delivery: Sendable, Hashable {
    package var source: Int
    package var item: SourceItem
    package var arrival: Double
  }

  fileprivate struct Queue {
    var items: [Delivery] = []
    /// The changes of state that preceded dropped items.
    var states: [Delivery] = []
    /// The index of the oldest item.
    var first = 0
    /// The number of items that were lost since the last delivery.
    var lost = 0
  }

  private struct State {
    var queues: [Queue]
    /// The index of the queue that is read next.
    var next = 0
    var isClosed = false
  }

  /// The greatest number of waiting items of each source.
  package static let usualBound = 16_384
  /// The greatest number of items of one source in a delivery, so that no source waits for long.
  private static let share = 256

  private let bound: Int
  private let state: Mutex<State>
  private let arrived = DispatchSemaphore(value: 0)

  package init(sources: Int, bound: Int = Mailbox.usualBound) {
    self.bound = bound
    state = Mutex(State(queues: Array(repeating: Queue(), count: sources)))
  }

  package var isClosed: Bool { state.withLock(\.isClosed) }

  /// Closes all ports, which stops their sources.
  package func close() {
    state.withLock { $0.isClosed = true }
    arrived.signal()
  }

  /// Adds items of a source. A full queue drops its oldest items.
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

  /// Removes and returns some items of each source in turn. A report of lost items precedes the
  /// next item.
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

  /// Waits for new items, for at most some seconds. Blocks the thread.
  package func wait(_ seconds: Double) {
    let nanoseconds = Int(max(0, min(seconds, 3600)) * 1e9)
    guard arrived.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else { return }
    // One wake-up is enough for all items that have arrived.
    while arrived.wait(timeout: .now()) == .success {}
  }
}

extension Mailbox.Queue {
  fileprivate var count: Int { items.count - first }

  /// Drops the oldest measurements, but keeps changes of state.
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
    // Usually, one source has sent a few items, which are moved rather than copied.
    if taken.isEmpty, lost == 0, states.isEmpty, first == 0, end == items.count {
      return swap(&items, &taken)
    }
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

  /// Frees the memory of removed items from time to time. Each item is moved at most once.
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

/// The connection from one live source to the loop.
package struct SourcePort: Sendable {
  private let mailbox: Mailbox
  private let source: Int
  private let clock: @Sendable () -> Double

  package init(_ mailbox: Mailbox, _ source: Int, clock: @escaping @Sendable () -> Double) {
    (self.mailbox, self.source, self.clock) = (mailbox, source, clock)
  }

  /// The time in seconds by the clock of the loop.
  package var now: Double { clock() }

  /// Whether the source has to stop.
  package var isClosed: Bool { mailbox.isClosed }

  /// Sends items that arrive now.
  package func send(_ items: [SourceItem]) { mailbox.put(items, from: source, at: now) }

  package func send(_ state: SourceState) { send([.state(state)]) }
}
