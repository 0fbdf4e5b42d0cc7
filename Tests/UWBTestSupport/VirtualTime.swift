// SPDX-License-Identifier: Apache-2.0
package import System

/// A clock that only the test advances. Its timers call back in the task that advances it.
package final class VirtualTime: Sendable {
  private struct Alarm {
    var due: UInt64
    var body: @Sendable () -> Void
  }
  private struct State {
    var now = AlarmClock.system.now()
    var alarms: [Int: Alarm] = [:]
    var last = 0
    /// Resumed when `count` timers are pending.
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }
  private let state = Locked(State())

  package init() {}

  /// The clock to pass to the code under test.
  package var clock: AlarmClock {
    AlarmClock(now: { self.state.withLock { $0.now } }, timer: { self.timer($0, $1) })
  }

  /// The number of timers that are neither due nor cancelled.
  package var pending: Int { state.withLock { $0.alarms.count } }

  /// Waits until `count` timers are pending.
  package func timers(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.alarms.count < count { state.waiting.append((count, continuation)) }
        return state.alarms.count >= count
      }
      if isThere { continuation.resume() }
    }
  }

  /// Advances the time, timer by timer. Timers that start meanwhile are included.
  package func advance(_ time: Duration) {
    let end = state.withLock { $0.now + UInt64(time / .nanoseconds(1)) }
    while let body = state.withLock({ state -> (@Sendable () -> Void)? in
      guard let (id, alarm) = state.alarms.min(by: { $0.value.due < $1.value.due }),
        alarm.due <= end
      else {
        state.now = end
        return nil
      }
      state.alarms[id] = nil
      state.now = max(state.now, alarm.due)
      return alarm.body
    }) { body() }
  }

  private func timer(_ time: Duration, _ body: @escaping @Sendable () -> Void) -> OneShotTimer {
    let (id, ready) = state.withLock { state in
      state.last += 1
      let due = state.now + UInt64(max(time, .zero) / .nanoseconds(1))
      state.alarms[state.last] = Alarm(due: due, body: body)
      let ready = state.waiting.filter { $0.count <= state.alarms.count }
      state.waiting.removeAll { $0.count <= state.alarms.count }
      return (state.last, ready)
    }
    for waiting in ready { waiting.continuation.resume() }
    return OneShotTimer(cancellation: { [weak self] in
      _ = self?.state.withLock { $0.alarms.removeValue(forKey: id) }
    })
  }
}

extension AlarmClock {
  /// Creates a clock for dialogues with chips that answer in real time, however busy the machine
  /// is: pauses end at once, and no time-out passes.
  ///
  /// - Parameter ends: Returns whether a time ends at once. By default the driver's two pauses: for
  ///   a chip to settle, and for reports that some chips leave out.
  package static func patient(
    _ ends: @escaping @Sendable (Duration) -> Bool = {
      $0 <= .milliseconds(150) || $0 == .milliseconds(500)
    }
  ) -> AlarmClock {
    AlarmClock(
      now: AlarmClock.system.now,
      timer: { time, body in
        ends(time) ? OneShotTimer(after: .zero, body) : OneShotTimer(cancellation: {})
      })
  }
}
