// SPDX-License-Identifier: Apache-2.0
import System
import Testing

@Suite(.timeLimit(.minutes(10))) struct TimerTests {
  enum Way: CaseIterable { case timer, call, start }

  /// How much later it comes is the machine's business.
  @Test(arguments: Way.allCases) func noTimerIsEarly(_ way: Way) async {
    let time = Duration.milliseconds(50)
    // One that is let go of calls nothing.
    let kept = Locked<[any Sendable]>([])
    let begin = ContinuousClock.now
    await withCheckedContinuation { continuation in
      let end: @Sendable () -> Void = { continuation.resume() }
      switch way {
      case .timer:
        let timer = OneShotTimer(after: time, end)
        kept.withLock { $0 = [timer] }
      case .call: OneShotTimer.call(after: time, end)
      case .start:
        let stop = OneShotTimer.start(time, end)
        kept.withLock { $0 = [stop] }
      }
    }
    #expect(ContinuousClock.now - begin >= .milliseconds(49))
    kept.withLock { $0 = [] }
  }

  @Test func aTimerThatIsStoppedOrLetGoOfCallsNothing() async {
    let calls = Locked(0)
    let count: @Sendable () -> Void = { calls.withLock { $0 += 1 } }
    OneShotTimer.start(.milliseconds(20), count)()
    OneShotTimer(after: .milliseconds(20), count).cancel()
    _ = OneShotTimer(after: .milliseconds(20), count)
    // On the same queue, later.
    await withCheckedContinuation { continuation in
      OneShotTimer.call(after: .milliseconds(60)) { continuation.resume() }
    }
    #expect(calls.withLock { $0 } == 0)
  }
}
