// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyInteraction

/// The rows of the table of behaviour in which an object is removed, as events and the calls that follow.
@Suite struct MachineRemovalTests {
  @Test func silenceEndsInATimeout() {
    var run = MachineRun.ranging()
    run.pass(.seconds(9))
    run.report(.heard)
    run.pass(.milliseconds(9_999))
    #expect(run.calls.isEmpty)
    run.pass(.milliseconds(1))
    #expect(run.calls == [.removed(.timeout)] && run.machine.phase == .removed)
  }

  @Test func silenceCountsFromTheFirstAnswerOn() {
    var run = MachineRun.ranging()
    run.pass(.milliseconds(9_999))
    #expect(run.calls.isEmpty)
    run.pass(.milliseconds(1))
    #expect(run.calls == [.removed(.timeout)])
  }

  @Test func thePublishedTimesCanBeChanged() {
    var run = MachineRun()
    run.timeouts.preparedness = .seconds(2)
    run.timeouts.silence = .seconds(1)
    run.run()
    run.report(.started(needsData: false))
    run.pass(.seconds(1.9))
    run.report(.heard)
    run.pass(.seconds(0.9))
    #expect(run.calls == [.started])
    run.pass(.seconds(0.2))
    #expect(run.calls == [.started, .removed(.timeout)])
  }

  /// As if they had been so from the beginning.
  @Test func timesThatAreChangedCountForWhatIsWaitedFor() {
    var run = MachineRun()
    run.run()
    run.report(.started(needsData: false))
    run.pass(.seconds(5))
    run.timeouts.preparedness = .seconds(6)
    run.pass(.seconds(0.5))
    run.report(.heard)
    run.timeouts.silence = .seconds(3)
    run.pass(.seconds(2.9))
    #expect(run.calls == [.started])
    run.timeouts.silence = .seconds(60)
    run.pass(.seconds(57))
    #expect(run.calls == [.started])
    run.timeouts.silence = .seconds(1)
    run.pass(.zero)
    #expect(run.calls == [.started, .removed(.timeout)])

    var away = MachineRun.ranging()
    away.report(.lost(MachineRun.absence))
    away.pass(.seconds(200))
    away.timeouts.suspension = .seconds(201)
    away.pass(.seconds(0.9))
    #expect(away.calls == [.suspended])
    away.pass(.seconds(0.1))
    #expect(away.calls.count == 2 && away.machine.phase == .invalidated)

    var active = MachineRun.ranging()
    active.timeouts.activity = .seconds(5)
    active.timeouts.activity = nil
    active.pass(.seconds(6))
    #expect(active.calls.isEmpty)
    active.timeouts.activity = .seconds(7)
    active.pass(.seconds(1))
    #expect(active.calls.count == 1 && active.machine.phase == .invalidated)
  }

  @Test func thePeerSaysThatItEnds() {
    var run = MachineRun.ranging()
    run.report(.peerEnded)
    #expect(run.calls == [.removed(.peerEnded)])
    run.pass(.seconds(1_000))
    #expect(run.calls == [.removed(.peerEnded)])
  }

  @Test func afterARemovalNothingOfTheOldRunIsOfInterestAndRunTriesAgain() {
    var run = MachineRun.ranging(needsData: true)
    run.report(.peerEnded)
    run.forget()
    run.report(.heard)
    #expect(!run.machine.isRanging(1))
    run.run()
    run.handle(.report(run: 1, .lost(MachineRun.absence)))
    run.report(.started(needsData: true))
    #expect(run.calls == [.started, .shareable])
    #expect(run.machine.isRanging(2) && !run.machine.isRanging(1))
  }

  @Test func listeningToAnchorsRemovesNobody() {
    var run = MachineRun()
    run.run(hasObject: false)
    run.report(.started(needsData: false))
    run.pass(.seconds(1_000))
    #expect(run.calls == [.started])
  }
}
