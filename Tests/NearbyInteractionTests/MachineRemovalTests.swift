// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyInteraction

/// The removal of objects, as events and the resulting calls.
@Suite struct MachineRemovalTests {
  @Test func inactivityEndsInATimeout() {
    var run = MachinePlayer.ranging()
    run.pass(.seconds(9))
    run.report(.measured)
    run.pass(.milliseconds(9_999))
    #expect(run.calls.isEmpty)
    run.pass(.milliseconds(1))
    #expect(run.calls == [.removed(.timeout)] && run.machine.phase == .removed)
  }

  @Test func inactivityCountsFromTheFirstMeasurement() {
    var run = MachinePlayer.ranging()
    run.pass(.milliseconds(9_999))
    #expect(run.calls.isEmpty)
    run.pass(.milliseconds(1))
    #expect(run.calls == [.removed(.timeout)])
  }

  @Test func timeoutsCanBeChanged() {
    var run = MachinePlayer()
    run.timeouts.firstMeasurement = .seconds(2)
    run.timeouts.inactivity = .seconds(1)
    run.run()
    run.report(.started(needsData: false))
    run.pass(.seconds(1.9))
    run.report(.measured)
    run.pass(.seconds(0.9))
    #expect(run.calls == [.started])
    run.pass(.seconds(0.2))
    #expect(run.calls == [.started, .removed(.timeout)])
  }

  /// The behaviour is the same as if they had been set from the beginning.
  @Test func changedTimeoutsApplyToRunningTimers() {
    var run = MachinePlayer()
    run.run()
    run.report(.started(needsData: false))
    run.pass(.seconds(5))
    run.timeouts.firstMeasurement = .seconds(6)
    run.pass(.seconds(0.5))
    run.report(.measured)
    run.timeouts.inactivity = .seconds(3)
    run.pass(.seconds(2.9))
    #expect(run.calls == [.started])
    run.timeouts.inactivity = .seconds(60)
    run.pass(.seconds(57))
    #expect(run.calls == [.started])
    run.timeouts.inactivity = .seconds(1)
    run.pass(.zero)
    #expect(run.calls == [.started, .removed(.timeout)])

    var away = MachinePlayer.ranging()
    away.report(.lost(MachinePlayer.absence))
    away.pass(.seconds(200))
    away.timeouts.suspension = .seconds(201)
    away.pass(.seconds(0.9))
    #expect(away.calls == [.suspended])
    away.pass(.seconds(0.1))
    #expect(away.calls.count == 2 && away.machine.phase == .invalidated)

    var active = MachinePlayer.ranging()
    active.timeouts.activity = .seconds(5)
    active.timeouts.activity = nil
    active.pass(.seconds(6))
    #expect(active.calls.isEmpty)
    active.timeouts.activity = .seconds(7)
    active.pass(.seconds(1))
    #expect(active.calls.count == 1 && active.machine.phase == .invalidated)
  }

  @Test func thePeersEndIsReported() {
    var run = MachinePlayer.ranging()
    run.report(.peerEnded)
    #expect(run.calls == [.removed(.peerEnded)])
    run.pass(.seconds(1_000))
    #expect(run.calls == [.removed(.peerEnded)])
  }

  @Test func removedRunsAreIgnoredAndRunTriesAgain() {
    var run = MachinePlayer.ranging(needsData: true)
    run.report(.peerEnded)
    run.forget()
    run.report(.measured)
    #expect(!run.machine.isRanging(1))
    run.run()
    run.handle(.report(run: 1, .lost(MachinePlayer.absence)))
    run.report(.started(needsData: true))
    #expect(run.calls == [.started, .shareable])
    #expect(run.machine.isRanging(2) && !run.machine.isRanging(1))
  }

  @Test func anchorSessionsRemoveNoObject() {
    var run = MachinePlayer()
    run.run(hasObject: false)
    run.report(.started(needsData: false))
    run.pass(.seconds(1_000))
    #expect(run.calls == [.started])
  }
}
