// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
internal import UWB

/// The clock of a session. Tests have a clock that they advance.
protocol SessionClock: Sendable {
  /// The monotonic time `now`, which stops while the machine sleeps, and the time `slept` since the
  /// machine booted.
  var times: (now: Duration, slept: Duration) { get }
  /// Calls `body` after a time, unless the returned closure is called first.
  func after(_ time: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// The kernel's clocks.
struct SystemClock: SessionClock {
  var times: (now: Duration, slept: Duration) {
    let now = Self.time(CLOCK_MONOTONIC)
    return (now, Self.time(CLOCK_BOOTTIME) - now)
  }

  func after(_ time: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let timer = OneShotTimer(after: time, body)
    return { timer.cancel() }
  }

  private static func time(_ clock: clockid_t) -> Duration {
    .nanoseconds(Int64(clamping: nanoseconds(of: clock)))
  }
}
