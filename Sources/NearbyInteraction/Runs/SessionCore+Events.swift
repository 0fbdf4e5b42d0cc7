// SPDX-License-Identifier: Apache-2.0
internal import DequeModule
internal import Locking
internal import UWB

/// The events of a session that its subscribers have not received yet.
///
/// Part of the state behind the session's lock, but published outside of it: waking a task takes a lock
/// of the runtime, which is also held while the cancellation handlers of a task run, and those (the
/// stream's own, and an app's that ends the session) take the session's lock.
struct UnpublishedEvents {
  /// nil: the end.
  private var events = Deque<NISession.Event?>()
  private var isPublishing = false
  private var hasEnded = false
  /// Somebody has subscribed.
  var isObserved = false

  mutating func append(_ event: NISession.Event) {
    if isObserved, !hasEnded { events.append(event) }
  }

  mutating func finish() {
    if isObserved, !hasEnded { events.append(nil) }
    hasEnded = true
  }

  /// Whether the caller has to publish; otherwise there is nothing, or another thread does it.
  mutating func beginPublishing() -> Bool {
    guard !isPublishing, !events.isEmpty else { return false }
    isPublishing = true
    return true
  }

  /// The next event for the thread that publishes; nil: there is none left.
  mutating func next() -> NISession.Event?? {
    let next = events.popFirst()
    if next == nil { isPublishing = false }
    return next
  }
}

extension SessionCore {
  func events() -> AsyncStream<NISession.Event> {
    let hasEnded = state.withLock { state in
      state.unpublished.isObserved = true
      return state.machine.phase == .invalidated
    }
    return hasEnded ? AsyncStream { $0.finish() } : broadcast.subscribe(.bufferingNewest(256))
  }

  /// Publishes all events, in order: one thread at a time.
  func publish() {
    while let next = state.withLock({ $0.unpublished.next() }) {
      if let next { broadcast.send(next) } else { broadcast.finish() }
    }
  }
}
