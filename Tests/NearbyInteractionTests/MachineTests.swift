// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyInteraction

/// The transitions of the state machine, as events and the resulting calls.
@Suite struct MachineTests {
  private let failure = NIError(.sessionFailed, reason: "x")

  // MARK: run has one of three outcomes

  @Test func newSessionsCallNoDelegate() {
    var run = MachinePlayer()
    run.pass(.seconds(1_000))
    #expect(run.effects.isEmpty && run.machine.phase == .ready)
  }

  @Test func runSucceeds() {
    var run = MachinePlayer()
    run.run()
    #expect(run.effects == [.begin(run: 1)])
    run.report(.started(needsData: false))
    #expect(run.calls == [.started])
    run.report(.measured)
    #expect(run.calls == [.started] && run.machine.isRanging(1))
  }

  @Test func runWithoutADeviceSuspends() {
    var run = MachinePlayer()
    run.run()
    run.report(.unavailable(MachinePlayer.absence))
    #expect(run.calls == [.suspended] && run.machine.phase == .suspended)
  }

  @Test func runFails() {
    var run = MachinePlayer()
    run.run()
    run.report(.failed(failure))
    #expect(run.calls == [.invalidated(failure)])
    #expect(run.orders == [.begin(run: 1), .end(notifiesPeer: true)])
    // The failure was the last call of the delegate, and further reports change nothing.
    for report: SessionEvent.Report in [
      .started(needsData: true), .lost(MachinePlayer.absence), .peerEnded, .measured,
    ] {
      run.report(report)
    }
    run.pass(.seconds(1_000))
    #expect(run.calls == [.invalidated(failure)])
  }

  @Test func invalidRunsUseNoChip() {
    var run = MachinePlayer()
    run.run(problem: failure)
    #expect(run.effects == [.call(.invalidated(failure))])
  }

  // MARK: shareable data

  @Test func shareableDataIsGeneratedOncePerRun() {
    var run = MachinePlayer()
    run.run()
    run.report(.started(needsData: true))
    #expect(run.calls == [.started, .shareable])
    run.report(.started(needsData: true))
    #expect(run.calls == [.started, .shareable])
    run.run()
    run.report(.started(needsData: true))
    #expect(run.calls == [.started, .shareable, .started, .shareable])
  }

  @Test func accessoriesThatNeverRangeTimeOut() {
    var run = MachinePlayer()
    run.run()
    run.report(.started(needsData: true))
    run.pass(.milliseconds(19_999))
    #expect(run.machine.phase == .running)
    run.pass(.milliseconds(1))
    #expect(run.calls == [.started, .shareable, .removed(.timeout)])
    #expect(run.orders.last == .end(notifiesPeer: false))
  }

  // MARK: suspension

  @Test func aLostDeviceSuspendsAndItsReturnDoesNotResume() {
    var run = MachinePlayer.ranging()
    run.report(.lost(MachinePlayer.absence))
    #expect(run.calls == [.suspended])
    run.pass(.seconds(60))
    run.report(.available)
    #expect(run.calls == [.suspended, .suspensionEnded])
    #expect(run.orders == [.end(notifiesPeer: false)])
    run.pass(.seconds(10_000))
    run.report(.measured)
    #expect(run.calls == [.suspended, .suspensionEnded])
    run.run()
    run.report(.started(needsData: false))
    #expect(run.calls.last == .started)
  }

  @Test func runDuringSuspensionSuspendsAgain() {
    var run = MachinePlayer.ranging()
    run.report(.lost(MachinePlayer.absence))
    run.run()
    #expect(run.orders == [.end(notifiesPeer: false), .begin(run: 2)])
    run.handle(.report(run: 1, .available))
    #expect(run.calls == [.suspended])
    run.report(.unavailable(MachinePlayer.absence))
    #expect(run.calls == [.suspended, .suspended])
    run.report(.available)
    #expect(run.calls == [.suspended, .suspended, .suspensionEnded])
  }

  @Test func sleepSuspendsAndEndsTheSuspension() {
    var run = MachinePlayer.ranging()
    run.handle(.slept)
    #expect(run.calls == [.suspended, .suspensionEnded])
    #expect(run.orders == [.end(notifiesPeer: false)])
    run.handle(.slept)
    #expect(run.calls == [.suspended, .suspensionEnded])
  }

  @Test func longSuspensionsEndTheSession() {
    var run = MachinePlayer.ranging()
    run.report(.lost(MachinePlayer.absence))
    run.pass(.seconds(299))
    #expect(run.calls == [.suspended])
    run.pass(.seconds(1))
    guard case .invalidated(let error)? = run.calls.last else {
      Issue.record("\(run.calls)")
      return
    }
    #expect(error.code == .sessionFailed && run.machine.phase == .invalidated)
    // The cause, and the next step.
    #expect(error.description.contains("no device") && error.description.contains("Plug it in"))
    run.report(.available)
    #expect(run.calls.count == 2)
  }

  // MARK: pause

  @Test func pauseIsNotReportedAndRunResumes() {
    var run = MachinePlayer.ranging()
    run.handle(.pause)
    run.pass(.seconds(1_000))
    #expect(run.effects == [.end(notifiesPeer: false)])
    run.report(.lost(MachinePlayer.absence))
    run.report(.measured)
    #expect(run.calls.isEmpty && run.machine.phase == .paused)
    run.run()
    run.report(.started(needsData: false))
    #expect(run.calls == [.started])
  }

  @Test func pausingAnIdleSessionDoesNothing() {
    for phase in 0..<3 {
      var run = MachinePlayer.ranging()
      if phase == 0 { run = MachinePlayer() }
      if phase == 1 { run.report(.lost(MachinePlayer.absence)) }
      if phase == 2 { run.report(.peerEnded) }
      let before = run.machine.phase
      run.handle(.pause)
      #expect(run.machine.phase == before)
    }
  }

  // MARK: the end

  @Test func invalidateTellsOnlyThePeer() {
    var run = MachinePlayer.ranging()
    run.handle(.invalidate)
    #expect(run.effects == [.end(notifiesPeer: true)])
    run.handle(.invalidate)
    run.report(.measured)
    run.report(.peerEnded)
    run.handle(.pause)
    run.handle(.slept)
    run.pass(.seconds(1_000))
    #expect(run.effects == [.end(notifiesPeer: true)])
  }

  @Test func runAfterTheEndIsAnError() {
    var run = MachinePlayer()
    run.handle(.invalidate)
    run.run()
    run.run(problem: NIError(.userDidNotAllow, reason: "x"))
    let codes = run.calls.map { call -> NIError.Code? in
      if case .invalidated(let error) = call { error.code } else { nil }
    }
    #expect(codes == [.sessionFailed, .userDidNotAllow])
    #expect(run.orders.isEmpty)
  }

  @Test func theActivityLimitEndsTheSession() {
    var run = MachinePlayer()
    run.timeouts.activity = .seconds(60)
    run.run()
    run.report(.started(needsData: false))
    for _ in 0..<59 {
      run.pass(.seconds(1))
      run.report(.measured)
    }
    #expect(run.calls == [.started])
    run.pass(.seconds(1))
    guard case .invalidated(let error)? = run.calls.last else {
      Issue.record("\(run.calls)")
      return
    }
    #expect(error.code == .resourceUsageTimeout)
  }

  // MARK: another configuration

  @Test func runWhileRangingRestarts() {
    var run = MachinePlayer.ranging()
    run.run()
    #expect(run.orders == [.end(notifiesPeer: false), .begin(run: 2)])
    run.handle(.report(run: 1, .measured))
    run.handle(.report(run: 1, .failed(failure)))
    #expect(run.calls.isEmpty)
    run.report(.started(needsData: true))
    #expect(run.calls == [.started, .shareable])
  }

  /// For all orders of events: at most one end, no call after it, and never two runs on the chip at
  /// the same time.
  @Test func invariantsHoldForAllOrdersOfEvents() {
    var state: UInt64 = 7
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    for _ in 0..<2_000 {
      var run = MachinePlayer()
      for _ in 0..<30 {
        let reports: [SessionEvent.Report] = [
          .started(needsData: true), .unavailable(MachinePlayer.absence),
          .lost(MachinePlayer.absence),
          .available, .measured, .peerEnded,
          .failed(failure),
        ]
        switch random(12) {
        case 0, 1: run.run()
        case 2: run.handle(.pause)
        case 3: if random(8) == 0 { run.handle(.invalidate) }
        case 4: run.handle(.slept)
        case 5: run.pass(.seconds(random(400)))
        default: run.report(reports[random(6 + (random(10) == 0 ? 1 : 0))])
        }
      }
      var open = 0
      var ended = false
      for effect in run.effects {
        switch effect {
        case .begin:
          open += 1
          #expect(open == 1 && !ended)
        case .end: open -= 1
        case .call(.invalidated): ended = true
        case .call: #expect(!ended)
        default: break
        }
        #expect((0...1).contains(open))
      }
    }
  }
}
