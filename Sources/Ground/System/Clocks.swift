// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// Returns the time of a clock in nanoseconds.
package func nanoseconds(of clock: clockid_t) -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(clock, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// A clock with timers. Code that waits takes a clock as an input, so that its tests run in virtual
/// time.
package struct AlarmClock: Sendable {
  /// Returns the time in nanoseconds. A virtual clock begins at the time of CLOCK_MONOTONIC,
  /// because the arrival times of frames are times of that clock.
  package let now: @Sendable () -> UInt64
  /// Calls `body` after a time, unless the timer is cancelled or released first. `body` must not
  /// block.
  package let timer:
    @Sendable (_ time: Duration, _ body: @escaping @Sendable () -> Void) -> OneShotTimer

  package init(
    now: @escaping @Sendable () -> UInt64,
    timer: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> OneShotTimer
  ) {
    (self.now, self.timer) = (now, timer)
  }

  /// The clock CLOCK_MONOTONIC, which stops while the machine sleeps.
  package static let system = AlarmClock(
    now: { nanoseconds(of: CLOCK_MONOTONIC) }, timer: { OneShotTimer(after: $0, $1) })

  /// Suspends the task for a time; returns at once when the task is cancelled.
  package func sleep(for time: Duration) async {
    let end = Latch()
    let timer = timer(time) { end.open() }
    await withTaskCancellationHandler {
      await end.wait()
    } onCancel: {
      end.open()
    }
    timer.cancel()
  }
}
