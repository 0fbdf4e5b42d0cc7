// SPDX-License-Identifier: Apache-2.0
import AccessoryProtocol
import CUWBTestSupport
import Foundation
import System
import Testing
import UCI
import UWB
import UWBLink

@testable import NearbyInteraction

/// A session with a virtual clock and no chip: the calls of the delegate, and their queue.
@Suite struct SessionTests {
  struct CoreFixture {
    let clock = VirtualClock()
    let runner = RecordingExecutor()
    let core: SessionCore
    let recorder = Recorder()
    let session: NISession
    let configuration: NINearbyAccessoryConfiguration
    /// The handler of the first run's rounds.
    let reports: RoundCallback

    /// - Parameter endures: the session continues in the background.
    init(program: ProgramState = ProgramState(), endures: Bool = false) throws {
      core = SessionCore(clock: clock, executor: runner, program: program)
      reports = core.reports(of: 1)
      // A name without a device node, so no permissions are checked.
      session = recorder.session(on: "tcp:127.0.0.1:9", core: core)
      let uwb = UWBConfigurationData(role: .controller, address: 7)
      let data = Data(AccessoryConfigurationData(uwb: uwb).bytes)
      configuration =
        endures
        ? try NINearbyAccessoryConfiguration(accessoryData: data, bluetoothPeerIdentifier: UUID())
        : try NINearbyAccessoryConfiguration(data: data)
    }

    /// Runs the session until it ranges.
    func run() {
      session.run(configuration)
      let run = core.state.withLock { $0.machine.run }
      core.keep([1, 2, 3], for: run)
      core.handle(.report(run: run, .started(needsData: true)))
    }

    func feed(_ metres: Double, time: UInt64 = 1_000_000) {
      feed(
        TwoWayMeasurement(peer: MACAddress(7), status: .ok, rawDistance: UInt16(metres * 100)),
        time: time, to: reports)
    }

    /// - Parameter reports: the reports of a run.
    func feed(
      _ measurement: TwoWayMeasurement, time: UInt64, round: UInt32 = 0,
      to reports: RoundCallback
    ) {
      let info = SessionInfo(
        sequenceNumber: round, sessionToken: 1, intervalMilliseconds: 200, twoWay: [measurement])
      let bytes = info.encoded(dialect: .assumed)
      guard let view = try? SessionInfoView(bytes.span.bytes) else { return }
      reports(RoundNotification(.measurements(view), FrameInfo(receivedAt: time)))
    }
  }

  @Test func timeoutsWorkWithoutAChip() throws {
    let fixture = try CoreFixture()
    fixture.run()
    fixture.clock.advance(.seconds(19))
    fixture.feed(2)
    fixture.clock.advance(.milliseconds(9_999))
    fixture.recorder.drain()
    // The object is out of range from the first second.
    #expect(
      fixture.recorder.calls
        == [.started, .shareable(Data([1, 2, 3])), .updated(2)]
        + [Recorder.Call](repeating: .updated(nil), count: 9))
    let lost = try #require(fixture.recorder.objects.last)
    #expect(lost.direction == nil && lost.horizontalAngle == nil && lost.sample == nil)
    #expect(lost.discoveryToken == fixture.configuration.accessoryDiscoveryToken)
    fixture.clock.advance(.milliseconds(1))
    fixture.recorder.drain()
    #expect(fixture.recorder.calls.last == .removed(.timeout))
    #expect(fixture.runner.orders == [.begin(1), .end(notifiesPeer: false)])
    fixture.feed(2)
    fixture.recorder.drain()
    #expect(fixture.recorder.calls.last == .removed(.timeout))
  }

  @Test func sleepSuspends() throws {
    let fixture = try CoreFixture()
    fixture.run()
    fixture.feed(2)
    fixture.clock.sleep(.milliseconds(500))
    fixture.feed(2, time: 2_000_000)
    fixture.clock.sleep(.seconds(3_600))
    fixture.feed(2, time: 3_000_000)
    fixture.feed(2, time: 4_000_000)
    fixture.recorder.drain()
    // An update from before the sleep may still be pending, but no update follows the sleep.
    #expect(fixture.recorder.milestones.suffix(2) == [.suspended, .suspensionEnded])
    #expect(fixture.recorder.calls.suffix(2) == [.suspended, .suspensionEnded])
    fixture.clock.advance(.seconds(1_000))
    fixture.recorder.drain()
    #expect(fixture.recorder.calls.last == .suspensionEnded)
    fixture.run()
    fixture.recorder.drain()
    #expect(fixture.recorder.milestones.suffix(2) == [.started, .shareable(Data([1, 2, 3]))])
  }

  @Test func invalidateAndPauseDropPendingUpdates() throws {
    for isEnd in [true, false] {
      let fixture = try CoreFixture()
      fixture.run()
      fixture.recorder.drain()
      fixture.recorder.queue.suspend()
      for step in 0..<5 { fixture.feed(2, time: UInt64(step + 1) * 1_000_000) }
      if isEnd { fixture.session.invalidate() } else { fixture.session.pause() }
      fixture.recorder.queue.resume()
      fixture.recorder.drain()
      #expect(fixture.recorder.calls == [.started, .shareable(Data([1, 2, 3]))])
      #expect(fixture.runner.orders.last == .end(notifiesPeer: isEnd))
    }
  }

  @Test func runningAnInvalidatedSessionInvalidatesOnce() throws {
    let fixture = try CoreFixture()
    fixture.session.invalidate()
    fixture.session.run(fixture.configuration)
    fixture.recorder.drain()
    #expect(fixture.recorder.calls == [.invalidated(.sessionFailed)])
    #expect(fixture.runner.orders.isEmpty)
    #expect(fixture.session.configuration is NINearbyAccessoryConfiguration)
  }

  @Test func slowQueuesDropTheNewestUpdates() throws {
    let fixture = try CoreFixture()
    fixture.run()
    fixture.recorder.drain()
    fixture.recorder.queue.suspend()
    for step in 0..<100 { fixture.feed(2, time: UInt64(step + 1) * 100_000_000) }
    fixture.recorder.queue.resume()
    fixture.recorder.drain()
    #expect(fixture.recorder.objects.count == SessionCore.pendingLimit)
    #expect(fixture.session.droppedUpdates == 100 - SessionCore.pendingLimit)
    fixture.feed(2, time: 20_000_000_000)
    fixture.recorder.drain()
    #expect(fixture.recorder.objects.count == SessionCore.pendingLimit + 1)
  }

  /// The test handles the updates of an hour, at ten a second. It measures memory, and runs in a
  /// process of its own.
  @Test(
    .enabled(
      if: cuwb_test_allocations_are_counted(), "allocations are not counted in this build"))
  func updatesUseNoMemory() async {
    await #expect(processExitsWith: .success) {
      final class Counter: NSObject, NISessionDelegate {
        nonisolated(unsafe) var count = 0
        func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) { count += 1 }
      }
      let fixture = try CoreFixture()
      let counter = Counter()
      fixture.run()
      fixture.recorder.drain()
      fixture.session.delegate = counter
      func feed(_ steps: Range<Int>) {
        for step in steps {
          // The object approaches, which is the usual case for filters.
          fixture.feed(4 - 2 * Double(step) / 40_000, time: UInt64(step + 1) * 100_000_000)
          if step % 50 == 0 { fixture.recorder.drain() }
        }
        fixture.recorder.drain()
      }
      feed(0..<2_000)
      let (allocations, before) = (cuwb_test_thread_allocations(), cuwb_test_bytes_in_use())
      feed(2_000..<20_000)
      let half = cuwb_test_thread_allocations() - allocations
      feed(20_000..<38_000)
      let after = cuwb_test_bytes_in_use()
      #expect(counter.count == 38_000)
      #expect(fixture.core.state.withLock { $0.pendingUpdates } == 0)
      // The smallest block for each update would be 1.1 MB; Dispatch keeps some blocks for each of
      // its threads.
      #expect(after < before + 300_000, "\(before) to \(after)")
      // An update also costs no more at the end than at the beginning. The scheduler determines how
      // many updates are handled each time the queue wakes.
      let whole = cuwb_test_thread_allocations() - allocations
      #expect(whole - half <= half + half / 10, "\(half) of \(whole)")
    }
  }

  @Test func eventsAreAvailableAsASequence() async throws {
    let fixture = try CoreFixture()
    var iterator = fixture.session.events.makeAsyncIterator()
    fixture.run()
    fixture.feed(2)
    fixture.core.handle(.report(run: 1, .failed(NIError(.sessionFailed, reason: "x"))))
    var seen: [String] = []
    while let event = await iterator.next() {
      switch event {
      case .didStartRunning: seen.append("started")
      case .didGenerateShareableConfigurationData(let data, _): seen.append("data \(data.count)")
      case .didUpdate(let objects): seen.append("\(objects[0].distance ?? -1)")
      case .didInvalidate(let error): seen.append("\(error.code)")
      default: seen.append("?")
      }
    }
    #expect(seen == ["started", "data 3", "2.0", "sessionFailed"])
    var late = fixture.session.events.makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test func releasingASessionEndsIt() throws {
    let clock = VirtualClock()
    let runner = RecordingExecutor()
    let recorder = Recorder()
    weak var gone: NISession?
    weak var inside: SessionCore?
    do {
      let core = SessionCore(clock: clock, executor: runner)
      inside = core
      let session = recorder.session(on: "tcp:127.0.0.1:9", core: core)
      gone = session
      let uwb = UWBConfigurationData(role: .controller, address: 7)
      session.run(
        try NINearbyAccessoryConfiguration(
          data: Data(AccessoryConfigurationData(uwb: uwb).bytes)))
      // Two timers refer to the core from now on.
      core.handle(.report(run: 1, .started(needsData: false)))
      core.handle(.report(run: 1, .measured))
      recorder.drain()
    }
    recorder.drain()
    #expect(gone == nil)
    #expect(inside == nil)
    #expect(runner.orders == [.begin(1), .end(notifiesPeer: true)])
  }

  @Test func outliersAreMarked() throws {
    let fixture = try CoreFixture()
    fixture.run()
    for step in 1...20 { fixture.feed(2, time: UInt64(step) * 200_000_000) }
    fixture.feed(40, time: 4_200_000_000)
    fixture.recorder.drain()
    let last = try #require(fixture.recorder.objects.last)
    #expect(last.sample?.isOutlier == true && last.sample?.rawDistance == 40)
    #expect(abs(try #require(last.distance) - 2) < 0.1)
    #expect(last.direction == nil && last.sample?.azimuth == nil)
  }
}
