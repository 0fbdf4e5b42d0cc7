// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization
import Testing
import UWBLink

/// Every way in which waiting for a frame can end, in every state of the waiting thread or task.
@Suite("Waiting for a frame", .timeLimit(.minutes(10)))
struct RingWaitTests {
  typealias Box<T: ~Copyable> = FrameRingTests.Box<T>

  /// A consumer that waits on a thread, which is asleep when this returns.
  private static func sleepingThread(
    _ consumer: consuming FrameConsumer, _ control: FrameRing.Control, timeout: Duration? = nil
  ) async -> Task<FrameConsumer.Wait, any Error> {
    let box = Box(consumer)
    let task = Task { try await runBlocking { box.value.wait(timeout: timeout) } }
    while !control.isConsumerWaiting { await Task.yield() }
    return task
  }

  /// A consumer that waits in a task, which is suspended when this returns.
  private static func suspendedTask(
    _ consumer: consuming FrameConsumer, _ control: FrameRing.Control, _ executor: ManualExecutor
  ) async throws -> Task<[FrameConsumer.Wait], Never> {
    let box = Box(consumer)
    let task = Task(executorPreference: executor) {
      var waits = [await box.value.waitAsync()]
      box.value.take { _, _ in }
      waits.append(await box.value.waitAsync())
      return waits
    }
    try await executor.run { control.isConsumerWaiting }
    return task
  }

  private static func end(
    _ task: Task<[FrameConsumer.Wait], Never>, _ executor: ManualExecutor
  ) async throws -> [FrameConsumer.Wait] {
    let ended = Mutex(false)
    let result = Task {
      defer { ended.withLock { $0 = true } }
      return await task.value
    }
    try await executor.run { ended.withLock { $0 } }
    return await result.value
  }

  @Test("A time limit ends a wait, and an end that has come already needs none")
  func limits() {
    var ends = FrameRing.make(capacity: 4)
    #expect(ends.consumer.wait(timeout: .zero) == .timedOut)
    #expect(ends.consumer.wait(timeout: .seconds(-1)) == .timedOut)
    let before = ContinuousClock.now
    #expect(ends.consumer.wait(timeout: .milliseconds(20)) == .timedOut)
    #expect(ContinuousClock.now - before >= .milliseconds(20))
    ends.producer.finish()
    #expect(ends.consumer.wait(timeout: .zero) == .finished)
    #expect(ends.consumer.wait(timeout: nil) == .finished)
  }

  @Test("A thread that waits takes no time of a processor")
  func sleeps() async throws {
    let ends = FrameRing.make(capacity: 4)
    let box = Box(ends.consumer)
    let used = try await runBlocking {
      func time() -> Duration {
        var now = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
      }
      let before = time()
      #expect(box.value.wait(timeout: .milliseconds(500)) == .timedOut)
      return time() - before
    }
    // The time is the thread's own processor time, without the time in which other threads run.
    #expect(used < .milliseconds(10))
    ends.producer.finish()
  }

  @Test("What was put in before the end comes before the end")
  func framesBeforeTheEnd() async {
    var ends = FrameRing.make(capacity: 2)
    for number in 0..<3 {
      ends.producer.offer(
        FrameRingTests.frame(UInt32(number)).span.bytes, receivedAt: 0, mayBeDropped: false)
    }
    ends.producer.finish()
    for _ in 0..<3 {
      #expect(ends.consumer.wait() == .ready)
      #expect(await ends.consumer.waitAsync() == .ready)
      #expect(ends.consumer.isFinished() == false)
      ends.consumer.take { _, _ in }
    }
    #expect(ends.consumer.isFinished() == true)
    #expect(await ends.consumer.waitAsync() == .finished)
  }

  // MARK: a thread that sleeps

  @Test("A frame wakes a thread that sleeps", arguments: FrameRingTests.fences)
  func frameWakesThread(_ fences: Bool) async throws {
    let ends = FrameRing.make(capacity: 4, fencesEachFrame: fences)
    let control = ends.producer.control
    let producer = Box(ends.producer)
    let thread = await Self.sleepingThread(ends.consumer, control)
    producer.value.offer(FrameRingTests.frame(1).span.bytes, receivedAt: 0, mayBeDropped: true)
    #expect(try await thread.value == .ready)
  }

  @Test("Spilled frames end a wait like those in the ring")
  func spilledFrames() async throws {
    var ends = FrameRing.make(capacity: 2)
    for _ in 0..<4 {
      ends.producer.offer(FrameRingTests.frame(1).span.bytes, receivedAt: 0, mayBeDropped: false)
    }
    for _ in 0..<4 {
      #expect(ends.consumer.wait() == .ready)
      #expect(await ends.consumer.waitAsync() == .ready)
      ends.consumer.take { _, _ in }
    }
    #expect(ends.consumer.wait(timeout: .zero) == .timedOut)
    ends.producer.finish()
    #expect(ends.consumer.wait(timeout: .zero) == .finished)
  }

  @Test("finish() wakes a thread that sleeps", arguments: FrameRingTests.fences)
  func finishWakesThread(_ fences: Bool) async throws {
    let ends = FrameRing.make(capacity: 4, fencesEachFrame: fences)
    let control = ends.producer.control
    let producer = Box(ends.producer)
    let thread = await Self.sleepingThread(ends.consumer, control)
    producer.value.finish()
    #expect(try await thread.value == .finished)
  }

  @Test(
    "A producer that is dropped ends the wait of a thread that sleeps",
    arguments: FrameRingTests.fences)
  func droppedProducerWakesThread(_ fences: Bool) async throws {
    let ends = FrameRing.make(capacity: 4, fencesEachFrame: fences)
    let control = ends.producer.control
    let producer = Mutex<Box<FrameProducer>?>(Box(ends.producer))
    let thread = await Self.sleepingThread(ends.consumer, control)
    producer.withLock { $0 = nil }
    #expect(try await thread.value == .finished)
  }

  // MARK: a task that is suspended

  @Test("A frame resumes a suspended task", arguments: FrameRingTests.fences)
  func frameResumesTask(_ fences: Bool) async throws {
    let ends = FrameRing.make(capacity: 4, fencesEachFrame: fences)
    let executor = ManualExecutor()
    let control = ends.producer.control
    let producer = Box(ends.producer)
    let task = try await Self.suspendedTask(ends.consumer, control, executor)
    producer.value.offer(FrameRingTests.frame(1).span.bytes, receivedAt: 0, mayBeDropped: true)
    try await executor.run { control.isConsumerWaiting }
    control.finish()
    #expect(try await Self.end(task, executor) == [.ready, .finished])
  }

  @Test("finish() resumes a suspended task", arguments: FrameRingTests.fences)
  func finishResumesTask(_ fences: Bool) async throws {
    let ends = FrameRing.make(capacity: 4, fencesEachFrame: fences)
    let executor = ManualExecutor()
    let control = ends.producer.control
    let task = try await Self.suspendedTask(ends.consumer, control, executor)
    control.finish()
    #expect(try await Self.end(task, executor) == [.finished, .finished])
    withExtendedLifetime(ends.producer.dropped) {}
  }

  @Test("A producer that is dropped resumes a suspended task", arguments: FrameRingTests.fences)
  func droppedProducerResumesTask(_ fences: Bool) async throws {
    let ends = FrameRing.make(capacity: 4, fencesEachFrame: fences)
    let executor = ManualExecutor()
    let control = ends.producer.control
    let producer = Mutex<Box<FrameProducer>?>(Box(ends.producer))
    let task = try await Self.suspendedTask(ends.consumer, control, executor)
    producer.withLock { $0 = nil }
    #expect(try await Self.end(task, executor) == [.finished, .finished])
  }

  // MARK: cancellation

  @Test("A task that is cancelled before it waits does not wait")
  func cancelledBefore() async {
    let ends = FrameRing.make(capacity: 4)
    let producer = Box(ends.producer)
    let consumer = Box(ends.consumer)
    let waits = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      let empty = await consumer.value.waitAsync()
      producer.value.offer(FrameRingTests.frame(1).span.bytes, receivedAt: 0, mayBeDropped: true)
      return [empty, await consumer.value.waitAsync()]
    }.value
    #expect(waits == [.timedOut, .ready], "what is there can still be taken")
  }

  @Test("Cancellation resumes a suspended task", arguments: FrameRingTests.fences)
  func cancelledWhileSuspended(_ fences: Bool) async throws {
    let ends = FrameRing.make(capacity: 4, fencesEachFrame: fences)
    let executor = ManualExecutor()
    let control = ends.producer.control
    let producer = Box(ends.producer)
    let task = try await Self.suspendedTask(ends.consumer, control, executor)
    task.cancel()
    #expect(try await Self.end(task, executor) == [.timedOut, .timedOut])
    withExtendedLifetime(producer) {}
  }

  @Test(
    "A task that was just woken by a frame gets it although it is cancelled",
    arguments: FrameRingTests.fences)
  func cancelledAfterWake(_ fences: Bool) async throws {
    let ends = FrameRing.make(capacity: 4, fencesEachFrame: fences)
    let executor = ManualExecutor()
    let control = ends.producer.control
    let producer = Box(ends.producer)
    let task = try await Self.suspendedTask(ends.consumer, control, executor)
    // Nothing runs on the executor meanwhile.
    producer.value.offer(FrameRingTests.frame(1).span.bytes, receivedAt: 0, mayBeDropped: true)
    task.cancel()
    #expect(try await Self.end(task, executor) == [.ready, .timedOut])
  }

  @Test(
    "A frame that comes just after cancellation is taken nevertheless",
    arguments: FrameRingTests.fences)
  func frameAfterCancellation(_ fences: Bool) async throws {
    let ends = FrameRing.make(capacity: 4, fencesEachFrame: fences)
    let executor = ManualExecutor()
    let control = ends.producer.control
    let producer = Box(ends.producer)
    let task = try await Self.suspendedTask(ends.consumer, control, executor)
    task.cancel()
    producer.value.offer(FrameRingTests.frame(1).span.bytes, receivedAt: 0, mayBeDropped: true)
    #expect(try await Self.end(task, executor) == [.ready, .timedOut])
  }

  @Test("Cancellation at any moment ends the wait")
  func cancelledAtAnyMoment() async {
    for turn in 0..<2_000 {
      let ends = FrameRing.make(capacity: 2)
      let producer = Box(ends.producer)
      let consumer = Box(ends.consumer)
      let task = Task.detached { await consumer.value.waitAsync() }
      for _ in 0..<(turn % 50) { await Task.yield() }
      task.cancel()
      #expect(await task.value == .timedOut)
      withExtendedLifetime(producer) {}
    }
  }
}
