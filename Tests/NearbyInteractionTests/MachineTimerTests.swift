// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyInteraction

/// Which times run when, and what begins and ends them.
@Suite struct MachineTimerTests {
  private let failure = NIError(.sessionFailed, reason: "x")

  /// Whatever comes in whatever order: silence is waited for while the session ranges, the device while
  /// it is away, and nothing at any other time.
  @Test func timersRunOnlyInTheirPhases() {
    var state: UInt64 = 11
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    var seen: [SessionMachine.Timer] = []
    for _ in 0..<2_000 {
      var run = MachineRun()
      run.timeouts.activity = .seconds(600)
      for _ in 0..<30 {
        let reports: [SessionEvent.Report] = [
          .started(needsData: true), .unavailable(failure), .lost(failure), .available, .heard,
          .peerEnded,
          .failed(failure),
        ]
        switch random(12) {
        case 0, 1: run.run(hasObject: random(3) > 0)
        case 2: run.handle(.pause)
        case 3: if random(8) == 0 { run.handle(.invalidate) }
        case 4: run.handle(.slept)
        case 5: run.pass(.seconds(random(400)))
        default: run.report(reports[random(6 + (random(10) == 0 ? 1 : 0))])
        }
        switch run.machine.phase {
        case .running: #expect(run.waits.isSubset(of: [.silence, .activity]))
        case .suspended: #expect(run.waits == [.suspension])
        default: #expect(run.waits.isEmpty, "\(run.machine.phase)")
        }
        seen += run.waits
      }
    }
    #expect(Set(seen) == Set(SessionMachine.Timer.allCases))
  }

  @Test func eachRunWaitsForItsFirstAnswerAnew() {
    var run = MachineRun.ranging()
    run.handle(.pause)
    run.pass(.seconds(100))
    run.run()
    run.report(.started(needsData: false))
    run.pass(.milliseconds(19_999))
    #expect(run.machine.phase == .running)
    run.report(.heard)
    run.pass(.milliseconds(9_999))
    #expect(run.machine.phase == .running)
    run.pass(.milliseconds(1))
    #expect(run.calls == [.started, .removed(.timeout)])
  }

  @Test func anEarlyFirstAnswerBeginsTheShorterTime() {
    var run = MachineRun.ranging()
    run.handle(.pause)
    run.pass(.seconds(100))
    run.run()
    run.report(.started(needsData: false))
    run.pass(.seconds(1))
    run.report(.heard)
    run.pass(.milliseconds(9_999))
    #expect(run.machine.phase == .running)
    run.pass(.milliseconds(1))
    #expect(run.calls == [.started, .removed(.timeout)])
  }

  /// The app has asked for more time while it is waited.
  @Test func aLongerTimeCountsFromTheBeginningOfTheRun() {
    var run = MachineRun()
    run.pass(.seconds(100))
    run.run()
    run.report(.started(needsData: false))
    run.pass(.seconds(15))
    run.timeouts.preparedness = .seconds(30)
    run.pass(.milliseconds(14_999))
    #expect(run.calls == [.started])
    run.pass(.milliseconds(1))
    #expect(run.calls == [.started, .removed(.timeout)])
  }

  @Test func theFirstAnswerMayBeWaitedForLessThanTheNext() {
    var run = MachineRun()
    run.timeouts.preparedness = .seconds(2)
    run.timeouts.silence = .seconds(10)
    run.run()
    run.report(.started(needsData: true))
    run.pass(.milliseconds(1_999))
    #expect(run.machine.phase == .running)
    run.pass(.milliseconds(1))
    #expect(run.calls == [.started, .shareable, .removed(.timeout)])
  }

  @Test func theAllowanceCountsFromTheBeginningOfTheRun() {
    var run = MachineRun()
    run.pass(.seconds(100))
    run.run(hasObject: false)
    run.report(.started(needsData: false))
    run.timeouts.activity = .seconds(60)
    run.pass(.milliseconds(59_999))
    #expect(run.machine.phase == .running)
    run.pass(.milliseconds(1))
    #expect(run.machine.phase == .invalidated)
  }

  /// One of them comes with each round.
  @Test func furtherAnswersAskForNothing() {
    var run = MachineRun.ranging()
    #expect(run.machine.handle(.report(run: 1, .heard), at: .seconds(1)).isEmpty)
    #expect(run.machine.handle(.report(run: 1, .heard), at: .seconds(2)).isEmpty)
  }

  @Test func anchorsThatFallSilentAreWaitedFor() {
    var run = MachineRun()
    run.run(hasObject: false)
    run.report(.started(needsData: false))
    run.pass(.seconds(1_000))
    #expect(run.machine.isRanging(1))
    run.timeouts.silence = .seconds(5)
    run.pass(.seconds(1_000))
    #expect(run.machine.isRanging(1))
    run.report(.heard)
    run.pass(.seconds(1_000))
    #expect(run.machine.isRanging(1) && run.calls == [.started])
    // An end of theirs is nobody's.
    run.report(.peerEnded)
    #expect(run.machine.phase == .removed && run.calls == [.started])
  }

  // MARK: before the chip has begun

  @Test func sleepAndPauseWhileTheChipIsAsked() {
    var run = MachineRun()
    run.run()
    run.handle(.slept)
    #expect(run.calls == [.suspended, .suspensionEnded])
    #expect(run.orders == [.begin(run: 1), .end(tellPeer: false)])
    run.report(.started(needsData: true))
    #expect(run.machine.phase == .suspensionEnded && run.calls.count == 2)
    run.forget()
    run.run()
    run.handle(.pause)
    #expect(run.machine.phase == .paused)
    run.report(.started(needsData: true))
    #expect(run.effects == [.begin(run: 2), .end(tellPeer: false)])
  }

  @Test func aRunThatCannotBeIsTheEnd() {
    var run = MachineRun()
    run.run(problem: failure)
    #expect(run.machine.phase == .invalidated)
    run.run()
    #expect(run.calls.count == 2 && run.orders.isEmpty)
  }

  @Test func aFailureOfWhatIsOverIsOfNoInterest() {
    for end: SessionEvent in [.pause, .slept, .report(run: 1, .peerEnded)] {
      var run = MachineRun.ranging()
      run.handle(end)
      run.forget()
      run.report(.failed(failure))
      #expect(run.effects.isEmpty && run.machine.phase != .invalidated, "\(end)")
    }
  }
}
