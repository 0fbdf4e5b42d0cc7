// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import System
import Testing
import UWB

@testable import NearbyInteraction

/// The events of a session as a sequence: its end, and tasks that are cancelled while they iterate.
@Suite(.timeLimit(.minutes(10))) struct EventSequenceTests {
  @Test func invalidateEndsTheSequence() async throws {
    let fixture = try SessionTests.CoreFixture()
    let events = fixture.session.events
    fixture.run()
    fixture.session.invalidate()
    var seen = 0
    for await _ in events { seen += 1 }
    #expect(seen == 2)
    // A later run reports its error to the delegate only.
    var late = fixture.session.events.makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test func releasingTheSessionEndsTheSequence() async throws {
    var fixture: SessionTests.CoreFixture? = try SessionTests.CoreFixture()
    let events = try #require(fixture).session.events
    fixture?.run()
    fixture?.recorder.drain()
    fixture = nil
    var seen = 0
    for await _ in events { seen += 1 }
    #expect(seen == 2)
  }

  @Test func slowSubscribersLoseTheOldestEvents() async throws {
    let fixture = try SessionTests.CoreFixture()
    let events = fixture.session.events
    fixture.run()
    for step in 1...300 { fixture.feed(2, time: UInt64(step) * 1_000_000) }
    fixture.session.invalidate()
    var times: [UInt64] = []
    for await case .didUpdate(let objects) in events {
      times += objects.compactMap { $0.sample?.receivedAt }
    }
    let last: [UInt64] = (45...300).map { $0 * 1_000_000 }
    #expect(times == last)
  }

  @Test func subscribersThatEndAreRemoved() async throws {
    let fixture = try SessionTests.CoreFixture()
    var events: AsyncStream<NISession.Event>? = fixture.session.events
    #expect(events != nil && fixture.core.broadcast.subscriberCount == 1)
    events = nil
    #expect(fixture.core.broadcast.subscriberCount == 0)
  }

  /// A subscriber may call the session while events are published. A deadlock ends the process.
  @Test func eventsArePublishedOutsideTheLock() async {
    await #expect(processExitsWith: .success) {
      alarm(20)
      for isByApp in [true, false] {
        let fixture = try SessionTests.CoreFixture()
        let events = fixture.session.events
        let reading = Task {
          await withTaskCancellationHandler {
            for await event in events {
              if case .didStartRunning = event { fixture.core.handle(.pause) }
            }
          } onCancel: {
            fixture.core.handle(.pause)
          }
        }
        fixture.run()
        if isByApp {
          fixture.session.invalidate()
        } else {
          fixture.core.handle(.report(run: 1, .failed(NIError(.sessionFailed, reason: "x"))))
        }
        reading.cancel()
        await reading.value
      }
    }
  }

  /// One task cancels others while events are published to them; both cancellation handlers, the
  /// stream's and the app's, take the session's lock.
  @Test func subscribersCanBeCancelledDuringPublication() async {
    await #expect(processExitsWith: .success) {
      alarm(30)
      for _ in 0..<300 {
        let fixture = try SessionTests.CoreFixture()
        let session = fixture.session
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
        Thread.detachNewThread { fixture.run() }
        for task in others { await task.value }
        session.invalidate()
        await first.value
      }
    }
  }
}
