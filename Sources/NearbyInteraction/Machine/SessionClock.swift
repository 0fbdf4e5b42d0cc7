// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import UWB

/// The time of a session. Tests have one that they advance.
protocol SessionClock: Sendable {
  /// `now` does not go back, and stands still while the machine sleeps; `slept` is how long the
  /// machine has slept since it was switched on.
  var times: (now: Duration, slept: Duration) { get }
  /// Calls `body` after a time, unless what is returned is called before.
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
    var value = timespec()
    clock_gettime(clock, &value)
    return .seconds(value.tv_sec) + .nanoseconds(value.tv_nsec)
  }
}
