// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyInteraction

/// The timers: when they run, start and end.
@Suite struct MachineTimerTests {
  private let failure = NIError(.sessionFailed, reason: "x")

  /// For all orders of events: the inactivity timer runs while the session ranges, the suspension
  /// timer while it is suspended, and no timer at any other time.
  @Test func timersRunOnlyInTheirPhases() {
    var state: UInt64 = 11
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    var seen: [SessionMachine.Timer] = []
    for _ in 0..<2_000 {
      var run = MachinePlayer()
      run.timeouts.activity = .seconds(600)
      for _ in 0..<30 {
        let reports: [SessionEvent.Report] = [
          .started(needsData: true), .unavailable(failure), .lost(failure), .available, .measured,
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
        case .running: #expect(run.waits.isSubset(of: [.absence, .inactivity, .activity]))
        case .suspended: #expect(run.waits == [.suspension])
        default: #expect(run.waits.isEmpty, "\(run.machine.phase)")
        }
        seen += run.waits
      }
    }
    #expect(Set(seen) == Set(SessionMachine.Timer.allCases))
  }

  /// An object that is no longer measured is out of range. The machine reports this repeatedly
  /// until the object is measured or removed. An object that has not been measured yet is being
  /// searched.
  @Test func objectsOutOfRangeAreReportedUntilTheTimeout() {
    var run = MachinePlayer()
    run.run()
    run.report(.started(needsData: false))
    run.pass(.seconds(19))
    #expect(run.absences == 0)
    // Single failed rounds do not make the object absent.
    for _ in 0..<10 {
      run.report(.measured)
      run.pass(.milliseconds(999))
    }
    #expect(run.absences == 0)
    run.pass(.milliseconds(1))
    #expect(run.absences == 1)
    run.pass(.seconds(4))
    #expect(run.absences == 5)
    run.report(.measured)
    run.pass(.milliseconds(999))
    #expect(run.absences == 5)
    run.pass(.milliseconds(8_500))
    #expect(run.absences == 14)
    run.pass(.seconds(20))
    #expect(run.calls == [.started, .removed(.timeout)])
  }

  /// The limit is the time of three rounds if that is longer than a second. Sessions with anchors
  /// have no limit.
  @Test func slowSessionsAreGivenMoreTime() {
    var run = MachinePlayer()
    run.run()
    run.report(.started(needsData: false, interval: .seconds(2)))
    run.report(.measured)
    run.pass(.milliseconds(5_999))
    #expect(run.absences == 0)
    run.pass(.milliseconds(1))
    #expect(run.absences == 1)
    var anchors = MachinePlayer()
    anchors.run(hasObject: false)
    anchors.report(.started(needsData: false))
    anchors.report(.measured)
    anchors.pass(.seconds(60))
    #expect(anchors.absences == 0)
  }

  @Test func runsRestartTheFirstMeasurementTimeout() {
    var run = MachinePlayer.ranging()
    run.handle(.pause)
    run.pass(.seconds(100))
    run.run()
    run.report(.started(needsData: false))
    run.pass(.milliseconds(19_999))
    #expect(run.machine.phase == .running)
    run.report(.measured)
    run.pass(.milliseconds(9_999))
    #expect(run.machine.phase == .running)
    run.pass(.milliseconds(1))
    #expect(run.calls == [.started, .removed(.timeout)])
  }

  @Test func theFirstMeasurementStartsTheShorterTimeout() {
    var run = MachinePlayer.ranging()
    run.handle(.pause)
    run.pass(.seconds(100))
    run.run()
    run.report(.started(needsData: false))
    run.pass(.seconds(1))
    run.report(.measured)
    run.pass(.milliseconds(9_999))
    #expect(run.machine.phase == .running)
    run.pass(.milliseconds(1))
    #expect(run.calls == [.started, .removed(.timeout)])
  }

  /// The app extends a timeout while it is running.
  @Test func extendedTimeoutsCountFromTheStartOfTheRun() {
    var run = MachinePlayer()
    run.pass(.seconds(100))
    run.run()
    run.report(.started(needsData: false))
    run.pass(.seconds(15))
    run.timeouts.firstMeasurement = .seconds(30)
    run.pass(.milliseconds(14_999))
    #expect(run.calls == [.started])
    run.pass(.milliseconds(1))
    #expect(run.calls == [.started, .removed(.timeout)])
  }

  @Test func theFirstTimeoutCanBeTheShorterOne() {
    var run = MachinePlayer()
    run.timeouts.firstMeasurement = .seconds(2)
    run.timeouts.inactivity = .seconds(10)
    run.run()
    run.report(.started(needsData: true))
    run.pass(.milliseconds(1_999))
    #expect(run.machine.phase == .running)
    run.pass(.milliseconds(1))
    #expect(run.calls == [.started, .shareable, .removed(.timeout)])
  }

  @Test func theActivityLimitCountsFromTheStartOfTheRun() {
    var run = MachinePlayer()
    run.pass(.seconds(100))
    run.run(hasObject: false)
    run.report(.started(needsData: false))
    run.timeouts.activity = .seconds(60)
    run.pass(.milliseconds(59_999))
    #expect(run.machine.phase == .running)
    run.pass(.milliseconds(1))
    #expect(run.machine.phase == .invalidated)
  }

  /// One update arrives with each round.
  @Test func furtherMeasurementsSetNoTimers() {
    var run = MachinePlayer.ranging()
    #expect(run.machine.handle(.report(run: 1, .measured), at: .seconds(1)).isEmpty)
    #expect(run.machine.handle(.report(run: 1, .measured), at: .seconds(2)).isEmpty)
  }

  @Test func silentAnchorsAreWaitedFor() {
    var run = MachinePlayer()
    run.run(hasObject: false)
    run.report(.started(needsData: false))
    run.pass(.seconds(1_000))
    #expect(run.machine.isRanging(1))
    run.timeouts.inactivity = .seconds(5)
    run.pass(.seconds(1_000))
    #expect(run.machine.isRanging(1))
    run.report(.measured)
    run.pass(.seconds(1_000))
    #expect(run.machine.isRanging(1) && run.calls == [.started])
    // Timers that fire afterwards have no effect.
    run.report(.peerEnded)
    #expect(run.machine.phase == .removed && run.calls == [.started])
  }

  // MARK: before the chip has begun

  @Test func sleepAndPauseWhileStarting() {
    var run = MachinePlayer()
    run.run()
    run.handle(.slept)
    #expect(run.calls == [.suspended, .suspensionEnded])
    #expect(run.orders == [.begin(run: 1), .end(notifiesPeer: false)])
    run.report(.started(needsData: true))
    #expect(run.machine.phase == .suspensionEnded && run.calls.count == 2)
    run.forget()
    run.run()
    run.handle(.pause)
    #expect(run.machine.phase == .paused)
    run.report(.started(needsData: true))
    #expect(run.effects == [.begin(run: 2), .end(notifiesPeer: false)])
  }

  @Test func invalidRunsEndTheSession() {
    var run = MachinePlayer()
    run.run(problem: failure)
    #expect(run.machine.phase == .invalidated)
    run.run()
    #expect(run.calls.count == 2 && run.orders.isEmpty)
  }

  @Test func failuresOfEarlierRunsAreIgnored() {
    for end: SessionEvent in [.pause, .slept, .report(run: 1, .peerEnded)] {
      var run = MachinePlayer.ranging()
      run.handle(end)
      run.forget()
      run.report(.failed(failure))
      #expect(run.effects.isEmpty && run.machine.phase != .invalidated, "\(end)")
    }
  }
}
