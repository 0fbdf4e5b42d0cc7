// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Locking
import Testing

@testable import NearbyInteraction

/// The events of a session as a sequence: its end, and tasks that are cancelled while they iterate.
@Suite struct EventSequenceTests {
  @Test func invalidateEndsTheSequence() async throws {
    let parts = try SessionTests.Parts()
    let events = parts.session.events
    parts.run()
    parts.session.invalidate()
    var seen = 0
    for await _ in events { seen += 1 }
    #expect(seen == 2)
    // The error of a later run is the delegate's: nobody iterates any more.
    var late = parts.session.events.makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test func aSessionThatIsReleasedEndsTheSequence() async throws {
    var parts: SessionTests.Parts? = try SessionTests.Parts()
    let events = try #require(parts).session.events
    parts?.run()
    parts?.recorder.drain()
    parts = nil
    var seen = 0
    for await _ in events { seen += 1 }
    #expect(seen == 2)
  }

  /// The newest are kept for a taker that does not take.
  @Test func aSlowTakerLosesTheOldest() async throws {
    let parts = try SessionTests.Parts()
    let events = parts.session.events
    parts.run()
    for step in 1...300 { parts.feed(2, time: UInt64(step) * 1_000_000) }
    parts.session.invalidate()
    var times: [UInt64] = []
    for await case .didUpdate(let objects) in events {
      times += objects.compactMap { $0.sample?.receivedAt }
    }
    #expect(times == (45...300).map { UInt64($0) * 1_000_000 })
  }

  @Test func whoLeavesIsForgotten() async throws {
    let parts = try SessionTests.Parts()
    func hasTakers() -> Bool {
      var sequences = parts.core.state.withLock { $0.sequences }
      sequences.send(.wasSuspended)
      return sequences.begin()
    }
    var events: AsyncStream<NISession.Event>? = parts.session.events
    #expect(events != nil && hasTakers())
    events = nil
    #expect(!hasTakers())
  }

  /// Whatever is called back while the sequence is told or ended may ask the session for something.
  /// A session that hangs ends its process.
  @Test func nothingIsToldInTheLock() async {
    await #expect(processExitsWith: .success) {
      alarm(20)
      for isByApp in [true, false] {
        let parts = try SessionTests.Parts()
        let (stream, taker) = AsyncStream<NISession.Event>.makeStream()
        taker.onTermination = { [core = parts.core] _ in core.handle(.pause) }
        parts.core.state.withLock { _ = $0.sequences.add(taker) }
        parts.run()
        if isByApp {
          parts.session.invalidate()
        } else {
          parts.core.handle(.report(run: 1, .failed(NIError(.sessionFailed, reason: "x"))))
        }
        for await _ in stream {}
      }
    }
  }

  /// A task that learns of the end, and ends another one that is being told of it; both handlers of the
  /// cancellation, the stream's and the app's, come for the session's lock.
  @Test func tasksMayBeCancelledWhileTheyAreTold() async {
    await #expect(processExitsWith: .success) {
      alarm(30)
      for _ in 0..<300 {
        let parts = try SessionTests.Parts()
        let session = parts.session
        let streams = (0..<4).map { _ in session.events }
        let others = streams.dropFirst().map { events in
          Task {
            await withTaskCancellationHandler {
              for await _ in events {}
            } onCancel: {
              session.invalidate()
            }
          }
        }
        let first = Task { [events = streams[0]] in
          for await event in events {
            if case .didStartRunning = event { others.forEach { $0.cancel() } }
          }
        }
        Thread.detachNewThread { parts.run() }
        for task in others { await task.value }
        session.invalidate()
        await first.value
      }
    }
  }
}
