// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Testing
import UWBTestSupport

@testable import System

@Suite(.timeLimit(.minutes(10))) struct TimerTests {
  /// The delay beyond the time of the timer depends on the machine.
  @Test func noTimerIsEarly() async {
    let time = Duration.milliseconds(50)
    // A released timer calls nothing.
    let kept = Locked<OneShotTimer?>(nil)
    let begin = AlarmClock.system.now()
    await withCheckedContinuation { continuation in
      let timer = AlarmClock.system.timer(time) { continuation.resume() }
      kept.withLock { $0 = timer }
    }
    #expect(AlarmClock.system.now() - begin >= 49_000_000)
    kept.withLock { $0 = nil }
  }

  @Test func aSleepEndsWithItsTimeOrItsTask() async {
    let time = VirtualTime()
    let clock = time.clock
    let begin = clock.now()
    let sleeper = Task { await clock.sleep(for: .seconds(3_600)) }
    await time.timers(1)
    time.advance(.seconds(3_600))
    await sleeper.value
    let cancelled = Task { await clock.sleep(for: .seconds(3_600)) }
    await time.timers(1)
    cancelled.cancel()
    await cancelled.value
    #expect(time.pending == 0)
    #expect(clock.now() - begin == 3_600_000_000_000)
  }

  @Test func aStopOfTheProcessIsAPartOfTheTime() async {
    let queue = DispatchQueue(label: "TimerTests")
    let end = Latch()
    let isOver = Locked(false)
    let wasOver = Locked(true)
    let resumed = Latch()
    queue.suspend()
    let timer = OneShotTimer(after: .milliseconds(40), on: queue) {
      isOver.withLock { $0 = true }
      end.open()
    }
    await AlarmClock.system.sleep(for: .milliseconds(80))
    queue.async {
      wasOver.withLock { $0 = isOver.withLock { $0 } }
      resumed.open()
    }
    queue.resume()
    await resumed.wait()
    // The queue was suspended for twice the time of the timer.
    #expect(!wasOver.withLock { $0 })
    await end.wait()
    timer.cancel()
    #expect(isOver.withLock { $0 })
  }

  @Test func aTimerThatIsStoppedOrLetGoOfCallsNothing() async {
    let calls = Locked(0)
    let count: @Sendable () -> Void = { calls.withLock { $0 += 1 } }
    OneShotTimer(after: .milliseconds(20), count).cancel()
    _ = OneShotTimer(after: .milliseconds(20), count)
    OneShotTimer(after: .seconds(Int64.max), count).cancel()
    // This timer ends later, on the same queue.
    let last = Latch()
    let timer = OneShotTimer(after: .milliseconds(60)) { last.open() }
    await last.wait()
    timer.cancel()
    #expect(calls.withLock { $0 } == 0)
  }
}
