// SPDX-License-Identifier: Apache-2.0
import AccessoryProtocol
import CUWBTestSupport
import Foundation
import Locking
import Testing
import UCI
import UWB
import UWBLink

@testable import NearbyInteraction

/// A session with a clock of the test's and nobody in the chip's place: what the delegate is told, on
/// which queue, and when no more.
@Suite struct SessionTests {
  struct Parts {
    let clock = VirtualClock()
    let runner = ScriptedRunner()
    let core: SessionCore
    let recorder = Recorder()
    let session: NISession
    let configuration: NINearbyAccessoryConfiguration
    /// What the chip would report the first run's rounds to.
    let reports: RoundCallback

    init() throws {
      core = SessionCore(clock: clock, runner: runner)
      reports = core.reports(of: 1)
      // A name that leads to no device node: nobody's permissions are looked at.
      session = recorder.session(on: "tcp:127.0.0.1:9", core: core)
      let uwb = UWBConfigurationData(role: .controller, address: 7)
      configuration = try NINearbyAccessoryConfiguration(
        data: Data(AccessoryConfigurationData(uwb: uwb).bytes))
    }

    /// A session that ranges.
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

    /// - Parameter reports: of a run.
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

  @Test func timeDecidesWithoutAChip() throws {
    let parts = try Parts()
    parts.run()
    parts.clock.advance(.seconds(19))
    parts.feed(2)
    parts.clock.advance(.milliseconds(9_999))
    parts.recorder.drain()
    #expect(parts.recorder.calls == [.started, .shareable(Data([1, 2, 3])), .updated(2)])
    parts.clock.advance(.milliseconds(1))
    parts.recorder.drain()
    #expect(parts.recorder.calls.last == .removed(.timeout))
    #expect(parts.runner.orders == [.begin(1), .end(tellPeer: false)])
    parts.feed(2)
    parts.recorder.drain()
    #expect(parts.recorder.calls.last == .removed(.timeout))
  }

  @Test func theSleepOfTheMachineSuspends() throws {
    let parts = try Parts()
    parts.run()
    parts.feed(2)
    parts.clock.sleep(.milliseconds(500))
    parts.feed(2, time: 2_000_000)
    parts.clock.sleep(.seconds(3_600))
    parts.feed(2, time: 3_000_000)
    parts.feed(2, time: 4_000_000)
    parts.recorder.drain()
    // The update before the sleep may have been on its way: the app hears of none behind it.
    #expect(parts.recorder.milestones.suffix(2) == [.suspended, .suspensionEnded])
    #expect(parts.recorder.calls.suffix(2) == [.suspended, .suspensionEnded])
    parts.clock.advance(.seconds(1_000))
    parts.recorder.drain()
    #expect(parts.recorder.calls.last == .suspensionEnded)
    parts.run()
    parts.recorder.drain()
    #expect(parts.recorder.milestones.suffix(2) == [.started, .shareable(Data([1, 2, 3]))])
  }

  @Test func nothingIsSaidAfterInvalidateAndPauseDropsWhatIsOnItsWay() throws {
    for isEnd in [true, false] {
      let parts = try Parts()
      parts.run()
      parts.recorder.drain()
      parts.recorder.queue.suspend()
      for step in 0..<5 { parts.feed(2, time: UInt64(step + 1) * 1_000_000) }
      if isEnd { parts.session.invalidate() } else { parts.session.pause() }
      parts.recorder.queue.resume()
      parts.recorder.drain()
      #expect(parts.recorder.calls == [.started, .shareable(Data([1, 2, 3]))])
      #expect(parts.runner.orders.last == .end(tellPeer: isEnd))
    }
  }

  @Test func runOfAnInvalidatedSessionIsOneInvalidation() throws {
    let parts = try Parts()
    parts.session.invalidate()
    parts.session.run(parts.configuration)
    parts.recorder.drain()
    #expect(parts.recorder.calls == [.invalidated(.sessionFailed)])
    #expect(parts.runner.orders.isEmpty)
    #expect(parts.session.configuration is NINearbyAccessoryConfiguration)
  }

  @Test func aQueueThatDoesNotKeepUpLosesTheNewestAndIsTold() throws {
    let parts = try Parts()
    parts.run()
    parts.recorder.drain()
    parts.recorder.queue.suspend()
    for step in 0..<100 { parts.feed(2, time: UInt64(step + 1) * 100_000_000) }
    parts.recorder.queue.resume()
    parts.recorder.drain()
    #expect(parts.recorder.objects.count == SessionCore.pendingLimit)
    #expect(parts.session.droppedUpdates == 100 - SessionCore.pendingLimit)
    parts.feed(2, time: 20_000_000_000)
    parts.recorder.drain()
    #expect(parts.recorder.objects.count == SessionCore.pendingLimit + 1)
  }

  /// As many updates as a session with ten a second has in an hour: nothing of them is kept. In a
  /// process of its own, because what counts is the memory of all of it.
  @Test func anHourOfUpdatesTakesNoMemory() async {
    guard cuwb_test_allocations_are_counted() else {
      return print("skipped: allocations are not counted in this build")
    }
    await #expect(processExitsWith: .success) {
      final class Counter: NSObject, NISessionDelegate {
        nonisolated(unsafe) var count = 0
        func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) { count += 1 }
      }
      let parts = try Parts()
      let counter = Counter()
      parts.run()
      parts.recorder.drain()
      parts.session.delegate = counter
      func feed(_ steps: Range<Int>) {
        for step in steps {
          // Someone who comes nearer: as a filter has it in life.
          parts.feed(4 - 2 * Double(step) / 40_000, time: UInt64(step + 1) * 100_000_000)
          if step % 50 == 0 { parts.recorder.drain() }
        }
        parts.recorder.drain()
      }
      feed(0..<2_000)
      let (allocations, before) = (cuwb_test_thread_allocations(), cuwb_test_bytes_in_use())
      feed(2_000..<20_000)
      let half = cuwb_test_thread_allocations() - allocations
      feed(20_000..<38_000)
      let after = cuwb_test_bytes_in_use()
      #expect(counter.count == 38_000)
      #expect(parts.core.state.withLock { $0.pending } == 0)
      // The smallest block for each update would be 1.1 MB; the lists that malloc keeps for each
      // thread of Dispatch are some 100 kB.
      #expect(after < before + 300_000, "\(before) to \(after)")
      // Nor does an update cost more at the end than in the beginning; how many of them go with one
      // wake of the queue is the scheduler's affair.
      let whole = cuwb_test_thread_allocations() - allocations
      #expect(whole - half <= half + half / 10, "\(half) of \(whole)")
    }
  }

  @Test func eventsComeAsASequenceToo() async throws {
    let parts = try Parts()
    var iterator = parts.session.events.makeAsyncIterator()
    parts.run()
    parts.feed(2)
    parts.core.handle(.report(run: 1, .failed(NIError(.sessionFailed, reason: "x"))))
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
    var late = parts.session.events.makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test func aSessionThatIsReleasedEnds() throws {
    let clock = VirtualClock()
    let runner = ScriptedRunner()
    let recorder = Recorder()
    weak var gone: NISession?
    weak var inside: SessionCore?
    do {
      let core = SessionCore(clock: clock, runner: runner)
      inside = core
      let session = recorder.session(on: "tcp:127.0.0.1:9", core: core)
      gone = session
      let uwb = UWBConfigurationData(role: .controller, address: 7)
      session.run(
        try NINearbyAccessoryConfiguration(
          data: Data(AccessoryConfigurationData(uwb: uwb).bytes)))
      // Two timers refer to it from now on.
      core.handle(.report(run: 1, .started(needsData: false)))
      core.handle(.report(run: 1, .heard))
      recorder.drain()
    }
    recorder.drain()
    #expect(gone == nil)
    #expect(inside == nil)
    #expect(runner.orders == [.begin(1), .end(tellPeer: true)])
  }

  @Test func outliersAreSaidToBeSome() throws {
    let parts = try Parts()
    parts.run()
    for step in 1...20 { parts.feed(2, time: UInt64(step) * 200_000_000) }
    parts.feed(40, time: 4_200_000_000)
    parts.recorder.drain()
    let last = try #require(parts.recorder.objects.last)
    #expect(last.sample?.isOutlier == true && last.sample?.rawDistance == 40)
    #expect(abs(try #require(last.distance) - 2) < 0.1)
    #expect(last.direction == nil && last.sample?.azimuth == nil)
  }
}
