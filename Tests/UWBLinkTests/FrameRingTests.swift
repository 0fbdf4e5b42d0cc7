// SPDX-License-Identifier: Apache-2.0
import Testing
import UWBLink

@Suite struct FrameRingTests {
  static func frame(_ number: UInt32, length: Int = 60) -> [UInt8] {
    var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
    withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(0..<4, with: $0) }
    return bytes
  }

  static func number(_ bytes: RawSpan) -> UInt32 {
    UInt32(littleEndian: bytes.unsafeLoadUnaligned(as: UInt32.self))
  }

  @Test func framesComeOutAsTheyWentInOfEveryLength() throws {
    var ends = FrameRing.make(capacity: 8)
    for (index, length) in [4, 60, 259, 480, 481, 2043, 8192].enumerated() {
      let frame = Self.frame(UInt32(index), length: length)
      #expect(
        ends.producer.offer(frame.span.bytes, receivedAt: 7, mayBeDropped: true) == .stored)
      let got = ends.consumer.take { bytes, info in
        #expect(info == FrameInfo(receivedAt: 7, lostBefore: 0))
        return bytes.withUnsafeBytes { Array($0) }
      }
      #expect(got == frame)
    }
    #expect(ends.consumer.take { _, _ in true } == nil)
  }

  @Test func whenFullDroppableFramesAreCountedAndKeptOnesOverflowInOrder() throws {
    var ends = FrameRing.make(capacity: 4)
    func offer(_ number: UInt32, _ droppable: Bool) -> FrameProducer.Outcome {
      ends.producer.offer(Self.frame(number).span.bytes, receivedAt: 0, mayBeDropped: droppable)
    }
    for number in 0..<4 { #expect(offer(UInt32(number), true) == .stored) }
    #expect(offer(4, true) == .dropped)
    #expect(offer(5, true) == .dropped)
    #expect(offer(6, false) == .overflown)
    #expect(offer(7, true) == .dropped, "it must not overtake number 6")
    #expect(offer(8, false) == .overflown)
    #expect(ends.producer.dropped == 3)

    var seen: [UInt32] = []
    var lost: [UInt32] = []
    while ends.consumer.isReady() {
      ends.consumer.take { bytes, info in
        seen.append(Self.number(bytes))
        lost.append(info.lostBefore)
      }
    }
    #expect(seen == [0, 1, 2, 3, 6, 8])
    #expect(lost == [0, 0, 0, 0, 2, 1])
    #expect(offer(9, true) == .stored, "the ring is in use again once the overflow is empty")
  }

  @Test func aThreadedStressLosesNothingAndKeepsTheOrder() async throws {
    let ends = FrameRing.make(capacity: 16)
    let total: UInt32 = 200_000
    let producer = Box(ends.producer)
    var consumer = ends.consumer
    let writer = Task.detached {
      for number in 0..<total {
        // Not droppable: what does not fit overflows, so everything has to arrive.
        _ = producer.value.offer(
          Self.frame(number, length: number % 1000 == 0 ? 600 : 60).span.bytes,
          receivedAt: UInt64(number), mayBeDropped: false)
      }
      producer.value.finish()
    }
    var next: UInt32 = 0
    var wrong = 0
    loop: while true {
      switch consumer.wait() {
      case .ready:
        consumer.take { bytes, info in
          if Self.number(bytes) != next || info.receivedAt != UInt64(next) { wrong += 1 }
          next += 1
        }
      case .finished: break loop
      case .timedOut: Issue.record("there was no time limit")
      }
    }
    await writer.value
    #expect(wrong == 0)
    #expect(next == total)
  }

  @Test func aTaskThatWaitsIsResumedByEveryFrameAndByTheEnd() async throws {
    let ends = FrameRing.make(capacity: 16)
    let producer = Box(ends.producer)
    var consumer = ends.consumer
    let total: UInt32 = 20_000
    let writer = Task.detached {
      for number in 0..<total {
        _ = producer.value.offer(
          Self.frame(number).span.bytes, receivedAt: 0, mayBeDropped: false)
        if number % 7 == 0 { await Task.yield() }
      }
      producer.value.finish()
    }
    var count: UInt32 = 0
    while await consumer.waitAsync() == .ready {
      consumer.take { _, _ in count += 1 }
    }
    await writer.value
    #expect(count == total)
  }

  @Test func cancellingATaskEndsItsWait() async throws {
    let task = Task {
      let ends = FrameRing.make(capacity: 4)
      var consumer = ends.consumer
      let result = await consumer.waitAsync()
      _ = ends.producer.dropped
      return result
    }
    task.cancel()
    #expect(await task.value == .timedOut)
  }

  @Test func aWaitWithALimitEnds() {
    var ends = FrameRing.make(capacity: 4)
    #expect(ends.consumer.wait(timeout: 0) == .timedOut)
    ends.producer.finish()
    #expect(ends.consumer.wait(timeout: 0) == .finished)
  }

  /// Moves a noncopyable value into a task; the test keeps it to one at a time.
  final class Box<T: ~Copyable>: @unchecked Sendable {
    var value: T
    init(_ value: consuming T) { self.value = value }
  }
}
