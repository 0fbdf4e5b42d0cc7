// SPDX-License-Identifier: Apache-2.0
import System

@testable import NearbyInteraction

/// A clock that only tests advance.
final class VirtualClock: SessionClock {
  private struct Alarm {
    var id: Int
    var due: Duration
    var body: @Sendable () -> Void
  }
  private struct State {
    var now = Duration.seconds(1_000)
    var slept = Duration.zero
    var alarms: [Alarm] = []
    var next = 0
  }
  private let state = Locked(State())

  var times: (now: Duration, slept: Duration) { state.withLock { ($0.now, $0.slept) } }

  func after(_ time: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let id = state.withLock { state in
      state.next += 1
      state.alarms.append(Alarm(id: state.next, due: state.now + time, body: body))
      return state.next
    }
    return { [weak self] in self?.state.withLock { $0.alarms.removeAll { $0.id == id } } }
  }

  /// Lets the machine sleep, during which the clock stops.
  func sleep(_ time: Duration) { state.withLock { $0.slept += time } }

  func advance(_ time: Duration) {
    let end = times.now + time
    while let alarm = takeAlarm(before: end) { alarm() }
    state.withLock { $0.now = end }
  }

  private func takeAlarm(before end: Duration) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let first = state.alarms.min(by: { $0.due < $1.due }), first.due <= end else {
        return nil
      }
      state.alarms.removeAll { $0.id == first.id }
      state.now = max(state.now, first.due)
      return first.body
    }
  }
}

/// Records the requested runs.
final class RecordingExecutor: SessionCore.Executor {
  enum Order: Equatable {
    case begin(Int)
    case end(notifiesPeer: Bool)
    case finish
  }
  private let kept = Locked<[Order]>([])
  var orders: [Order] { kept.withLock { $0 } }

  func begin(_ run: Int, _ plan: SessionPlan, _ core: SessionCore) {
    kept.withLock { $0.append(.begin(run)) }
  }
  func end(notifiesPeer: Bool) { kept.withLock { $0.append(.end(notifiesPeer: notifiesPeer)) } }
  func finish() async { kept.withLock { $0.append(.finish) } }
}
