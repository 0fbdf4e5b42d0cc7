// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(10))) struct ThreadTests {
  @Test func aLatchOpensForAllWaiters() async {
    let latch = Latch()
    #expect(latch.isOpen == false)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<10 { group.addTask { await latch.wait() } }
      latch.open()
      latch.open()
    }
    #expect(latch.isOpen)
    await latch.wait()
    latch.waitBlocking()
    #expect(await latch.wait(milliseconds: 0))
  }

  @Test func aLatchIsWaitedForNoLongerThanATime() async {
    #expect(await Latch().wait(milliseconds: 1) == false)
  }

  /// A wake that comes first is kept, and of several wakes only one.
  @Test func anEarlyWakeIsKept() {
    let event = WakeEvent()
    event.wake()
    event.wake()
    #expect(event.sleep())
    #expect(event.sleep(timeout: .zero) == false)
    #expect(event.sleep(timeout: .seconds(-1)) == false)
  }

  @Test func aThreadWakesAnother() throws {
    let (there, back) = (WakeEvent(), WakeEvent())
    let found = Locked<Bool?>(nil)
    let thread = Locked<SystemThread?>(nil)
    try thread.withLock { thread in
      thread = try SystemThread.start("a test") {
        there.sleep()
        back.wake()
      }
    }
    found.withLock { $0 = thread.withLock { $0?.isCurrent } }
    there.wake()
    #expect(back.sleep())
    #expect(found.withLock { $0 } == false)
  }

  @Test(arguments: [0, 100, -1] as [Int32]) func aPriorityThatDoesNotExist(_ priority: Int32) {
    let failure = #expect(throws: ThreadFailure.self) {
      try SystemThread.start("a test", priority: priority) {}
    }
    #expect(failure?.errno == .invalidArgument)
    #expect(failure?.priority == priority)
  }

  @Test func blockingCallsReturnTheirResults() async throws {
    let threads = BlockingThreads(limit: 2)
    let sum = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 1...100 { group.addTask { try await threads.call { number } } }
      return try await group.reduce(0, +)
    }
    #expect(sum == 5_050)
  }

  @Test(arguments: [false, true]) func cancellationEndsTheWaitOnly(_ isCancellable: Bool) async {
    let threads = BlockingThreads(limit: 1)
    let (begun, release) = (Latch(), Latch())
    let task = Task { () async -> Result<Int, BlockingThreads.CallFailure> in
      do throws(BlockingThreads.CallFailure) {
        return .success(
          try await threads.call(isCancellable: isCancellable) {
            begun.open()
            release.waitBlocking()
            return 7
          })
      } catch { return .failure(error) }
    }
    await begun.wait()
    task.cancel()
    if isCancellable { #expect(await task.value == .failure(.cancelled)) }
    release.open()
    if !isCancellable { #expect(await task.value == .success(7)) }
  }

  @Test func aMutexIsHandedOverInTheOrderOfTheCalls() async {
    let mutex = AsyncMutex()
    await mutex.lock()
    let order = Locked<[Int]>([])
    var tasks: [Task<Void, Never>] = []
    for number in 0..<20 {
      let asked = Latch()
      tasks.append(
        Task.immediate {
          asked.open()
          await mutex.lock()
          order.withLock { $0.append(number) }
          mutex.unlock()
        })
      await asked.wait()
    }
    mutex.unlock()
    for task in tasks { await task.value }
    #expect(order.withLock { $0 } == Array(0..<20))
  }

  @Test func aBroadcastReachesAllSubscribersUntilItsEnd() async {
    let broadcast = Broadcast<Int>()
    let streams = (0..<3).map { _ in broadcast.subscribe(.bufferingNewest(4)) }
    #expect(broadcast.subscriberCount == 3)
    #expect(broadcast.send(1) == false)
    #expect(broadcast.send(2) == false)
    broadcast.finish()
    broadcast.send(3)
    for stream in streams + [broadcast.subscribe(.unbounded)] {
      var elements: [Int] = []
      for await element in stream { elements.append(element) }
      #expect(elements == [1, 2] || elements == [])
    }
    #expect(broadcast.subscriberCount == 0)
  }

  @Test func aBroadcastReportsDroppedElements() {
    let broadcast = Broadcast<Int>()
    let stream = broadcast.subscribe(.bufferingNewest(1))
    #expect(broadcast.send(1) == false)
    #expect(broadcast.send(2))
    withExtendedLifetime(stream) {}
  }
}
