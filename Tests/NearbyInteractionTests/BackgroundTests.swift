// SPDX-License-Identifier: Apache-2.0
import Accessory
import Channels
import Foundation
import System
import Testing
import UWB
import UWBSimulator

@testable import NearbyInteraction

/// Sessions of a program that is in the background for some time.
@Suite(.timeLimit(.minutes(10))) struct BackgroundTests {
  // MARK: the state machine

  private static func ranging(endures: Bool) -> MachinePlayer {
    var run = MachinePlayer()
    run.handle(.run(hasObject: true, endures: endures, problem: nil))
    run.report(.started(needsData: false))
    run.report(.measured)
    run.forget()
    return run
  }

  @Test func othersAreSuspendedUntilTheForeground() {
    var run = Self.ranging(endures: false)
    run.handle(.background(true))
    #expect(run.calls == [.suspended] && run.orders == [.end(notifiesPeer: false)])
    #expect(run.machine.phase == .suspended && run.waits == [.suspension])
    run.report(.measured)
    run.handle(.background(false))
    #expect(run.calls == [.suspended, .suspensionEnded])
    #expect(run.machine.phase == .suspensionEnded && run.waits.isEmpty)
    run.forget()
    run.run()
    #expect(run.effects == [.begin(run: 2)])
  }

  @Test func withABluetoothIdentifierItGoesOn() {
    var run = Self.ranging(endures: true)
    run.handle(.background(true))
    run.handle(.background(false))
    #expect(run.effects.isEmpty && run.machine.isRanging(1))
    // The limits hold in the background, too.
    run.handle(.background(true))
    run.pass(.seconds(10))
    #expect(run.calls == [.removed(.timeout)])
    run.handle(.run(hasObject: true, endures: true, problem: nil))
    #expect(run.orders.last == .begin(run: 2))
  }

  @Test func runInTheBackgroundWaitsForTheForeground() {
    var run = MachinePlayer()
    run.handle(.background(true))
    run.run()
    #expect(run.calls == [.suspended])
    #expect(!run.orders.contains { if case .begin = $0 { true } else { false } })
    run.run()
    #expect(run.calls == [.suspended, .suspended])
    run.handle(.background(false))
    #expect(run.calls.last == .suspensionEnded)
    run.run()
    #expect(run.orders.last == .begin(run: 3))
  }

  /// The device returns before or after the foreground: the app is notified once, when both have
  /// returned.
  @Test(arguments: [true, false]) func bothReasonsHaveToEnd(_ isDeviceFirst: Bool) {
    var run = Self.ranging(endures: false)
    run.report(.lost(MachinePlayer.absence))
    run.handle(.background(true))
    #expect(run.calls == [.suspended])
    if isDeviceFirst { run.report(.available) } else { run.handle(.background(false)) }
    #expect(run.calls == [.suspended])
    if isDeviceFirst { run.handle(.background(false)) } else { run.report(.available) }
    #expect(run.calls == [.suspended, .suspensionEnded])
  }

  @Test func theDeviceOfASessionThatGoesOnIsToldAtOnce() {
    var run = Self.ranging(endures: true)
    run.handle(.background(true))
    run.report(.lost(MachinePlayer.absence))
    run.report(.available)
    #expect(run.calls == [.suspended, .suspensionEnded])
  }

  @Test func tooLongInTheBackgroundEnds() {
    var run = Self.ranging(endures: false)
    run.handle(.background(true))
    run.pass(.seconds(299))
    #expect(run.calls == [.suspended])
    run.pass(.seconds(1))
    guard case .invalidated(let error)? = run.calls.last else {
      Issue.record("\(run.calls)")
      return
    }
    #expect(error.code == .sessionFailed && error.description.contains("bluetoothPeerIdentifier"))
    run.handle(.background(false))
    #expect(run.calls.count == 2)
  }

  // MARK: updates

  @Test func theNewestUpdateFollowsInTheForeground() throws {
    let program = ProgramState()
    let fixture = try SessionTests.CoreFixture(program: program, endures: true)
    fixture.run()
    fixture.feed(2)
    fixture.recorder.drain()
    let before = fixture.recorder.calls
    // An update that waits for the app's queue is no longer in time.
    fixture.recorder.queue.suspend()
    fixture.feed(2, time: 200_000_000)
    program.isInBackground = true
    fixture.recorder.queue.resume()
    for step in 1...50 { fixture.feed(2, time: UInt64(step + 1) * 200_000_000) }
    fixture.recorder.drain()
    #expect(fixture.recorder.calls == before)
    program.isInBackground = false
    fixture.recorder.drain()
    #expect(fixture.recorder.calls.count == before.count + 1)
    #expect(fixture.recorder.objects.last?.sample?.receivedAt == 10_200_000_000)
    fixture.feed(2, time: 10_400_000_000)
    fixture.recorder.drain()
    #expect(fixture.recorder.objects.last?.sample?.receivedAt == 10_400_000_000)
    #expect(fixture.core.state.withLock { $0.pendingUpdates } == 0)
  }

  @Test func oneThatWaitedFollowsIfNothingNewerWasMeasured() throws {
    let program = ProgramState()
    let fixture = try SessionTests.CoreFixture(program: program, endures: true)
    fixture.run()
    fixture.recorder.queue.suspend()
    fixture.feed(2, time: 200_000_000)
    program.isInBackground = true
    program.isInBackground = false
    fixture.recorder.queue.resume()
    fixture.recorder.drain()
    #expect(fixture.recorder.objects.count == 1)
  }

  @Test func updatesOfARunThatHasEndedAreDropped() throws {
    let program = ProgramState()
    let fixture = try SessionTests.CoreFixture(program: program, endures: true)
    fixture.run()
    fixture.recorder.drain()
    program.isInBackground = true
    fixture.feed(2)
    fixture.session.pause()
    program.isInBackground = false
    fixture.recorder.drain()
    #expect(fixture.recorder.objects.isEmpty)
  }

  @Test func sessionsMadeInTheBackgroundKnowIt() throws {
    let program = ProgramState()
    program.isInBackground = true
    let fixture = try SessionTests.CoreFixture(program: program)
    fixture.session.run(fixture.configuration)
    fixture.recorder.drain()
    #expect(fixture.recorder.calls == [.suspended] && fixture.runner.orders.isEmpty)
  }

  // MARK: the accessory

  private static func executor(
    _ confirm: @escaping RunExecutor.Confirmation, _ program: ProgramState = ProgramState()
  ) -> SessionCore {
    SessionCore(executor: RunExecutor(confirm: confirm), program: program)
  }

  @Test func anAccessoryThatIsNotConnectedEndsTheSession() async throws {
    let asked = Locked<[UUID]>([])
    let core = Self.executor { peer in
      asked.withLock { $0.append(peer.identifier) }
      return NIError(.accessoryPeerDeviceUnavailable, ChannelError(.notPaired("AA")))
    }
    let fixture = try await SessionFixture(core: core)
    let identifier = UUID()
    try await fixture.run(identifier)
    #expect(await fixture.recorder.wait { !$0.isEmpty })
    #expect(fixture.recorder.calls == [.invalidated(.accessoryPeerDeviceUnavailable)])
    #expect(asked.withLock { $0 } == [identifier])
    #expect(try await fixture.sessions == 0)
    await fixture.end()
  }

  /// The search for the device may take half a minute.
  @Test func theSearchEndsWithTheRun() async throws {
    let (begun, begin) = AsyncStream<Void>.makeStream()
    let core = Self.executor { _ in
      begin.yield()
      try? await Task.sleep(for: .seconds(1_000))
      return nil
    }
    let fixture = try await SessionFixture(core: core)
    try await fixture.run(UUID())
    for await _ in begun { break }
    await fixture.end()
    #expect(fixture.recorder.calls.isEmpty)
  }

  /// The first of two accessories, which has an identifier, continues to range in the background.
  @Test func onlyOneOfTwoGoesOn() async throws {
    let program = ProgramState()
    let chips = try ChipFixture(others: [SIMD3(2, 0, 1), SIMD3(3, 1, 1)])
    let accessories = [
      try await TestAccessory(chips.others[0], role: .controlee),
      try await TestAccessory(chips.others[1], role: .controlee),
    ]
    let recorders = [Recorder(), Recorder()]
    var sessions: [NISession] = []
    for (index, recorder) in recorders.enumerated() {
      recorder.connect(to: accessories[index])
      let session = recorder.session(on: chips.path, core: Self.executor({ _ in nil }, program))
      session.run(try await accessories[index].configuration(index == 0 ? UUID() : nil))
      sessions.append(session)
    }
    for recorder in recorders { #expect(await recorder.waitForUpdates(3)) }
    program.isInBackground = true
    #expect(await recorders[1].wait { $0.last == .suspended })
    recorders[0].drain()
    let (count, newest) = (recorders[0].objects.count, recorders[0].objects.last?.sample)
    // The accessory reports that ranging continues.
    var rounds = 0
    for await case .measured in accessories[0].accessory.events {
      rounds += 1
      if rounds == 10 { break }
    }
    #expect(recorders[0].objects.count == count)
    program.isInBackground = false
    #expect(await recorders[1].wait { $0.last == .suspensionEnded })
    #expect(await recorders[0].waitForUpdates(count + 1))
    let next = try #require(recorders[0].objects.dropFirst(count).first?.sample)
    #expect(next.receivedAt > (newest?.receivedAt ?? 0))
    for session in sessions { await session.close() }
    for accessory in accessories { await accessory.close() }
    chips.bench.stop()
  }
}
