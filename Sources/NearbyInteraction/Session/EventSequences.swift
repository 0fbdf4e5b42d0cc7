// SPDX-License-Identifier: Apache-2.0
internal import DequeModule
internal import Locking

/// Who iterates over the events of a session, and what they have not been told yet.
///
/// Part of the state of a session, and so behind its lock; told is outside of it. To wake a task takes a
/// lock of the runtime's, which whoever cancels the task holds while the handlers of the cancellation
/// run. Both the stream's own and an app's, which may well end the session, come for the session's lock.
struct EventSequences {
  typealias Taker = AsyncStream<NISession.Event>.Continuation

  /// For whom it is, and what; nil: nothing follows.
  struct News {
    var takers: [Taker]
    var event: NISession.Event?
  }

  private var takers: [Int: Taker] = [:]
  private var next = 0
  private var news = Deque<News>()
  private var isTelling = false

  mutating func add(_ taker: Taker) -> Int {
    next += 1
    takers[next] = taker
    return next
  }

  mutating func remove(_ id: Int) { takers[id] = nil }

  mutating func send(_ event: NISession.Event) {
    guard !takers.isEmpty else { return }
    news.append(News(takers: Array(takers.values), event: event))
  }

  /// Behind what was sent.
  mutating func finish() {
    guard !takers.isEmpty else { return }
    news.append(News(takers: Array(takers.values)))
    takers = [:]
  }

  /// Whether the caller is to tell what there is; otherwise there is nothing, or somebody is at it.
  mutating func begin() -> Bool {
    guard !isTelling, !news.isEmpty else { return false }
    isTelling = true
    return true
  }

  /// What is to be told next, by the one who has begun; nil: that was all.
  mutating func take() -> News? {
    guard let first = news.popFirst() else {
      isTelling = false
      return nil
    }
    return first
  }
}

extension SessionCore {
  func events() -> AsyncStream<NISession.Event> {
    let (stream, taker) = AsyncStream<NISession.Event>.makeStream(
      bufferingPolicy: .bufferingNewest(256))
    let id = state.withLock { state in
      state.machine.phase == .invalidated ? nil : state.sequences.add(taker)
    }
    guard let id else {
      taker.finish()
      return stream
    }
    taker.onTermination = { [weak self] _ in self?.state.withLock { $0.sequences.remove(id) } }
    return stream
  }

  /// Tells everything there is, in order: one thread at a time.
  func tell() {
    while let news = state.withLock({ $0.sequences.take() }) {
      for taker in news.takers {
        if let event = news.event { taker.yield(event) } else { taker.finish() }
      }
    }
  }
}
