// SPDX-License-Identifier: Apache-2.0
import CUWB
import System
import Testing
import UWBLink

@Suite("Ring of frames", .timeLimit(.minutes(10)))
struct FrameRingTests {
  /// Whether the producer executes a fence for each frame. It always can. The alternative needs the
  /// kernel's process barrier.
  static let fences = cuwb_has_process_barrier() ? [false, true] : [true]

  static func frame(_ number: UInt32, length: Int = 60) -> [UInt8] {
    var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
    withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(0..<4, with: $0) }
    return bytes
  }

  static func number(_ bytes: RawSpan) -> UInt32 {
    UInt32(littleEndian: bytes.unsafeLoadUnaligned(as: UInt32.self))
  }

  static func bytes(_ span: RawSpan) -> [UInt8] { span.withUnsafeBytes { Array($0) } }

  /// The lengths are near the size of a slot, and near the longest frames of each kind.
  @Test(
    "A frame comes out as it went in",
    arguments: [0, 1, 4, 60, 259, 479, 480, 481, 511, 512, 513, 2043, 8192, 65_535])
  func lengths(_ length: Int) {
    var ends = FrameRing.make(capacity: 8)
    let frame = [UInt8](0..<251).cycled(length)
    #expect(
      ends.producer.offer(frame.span.bytes, receivedAt: 7, tag: 9, mayBeDropped: true) == .stored)
    let got = ends.consumer.take { bytes, info in
      #expect(info == FrameInfo(receivedAt: 7, lostBefore: 0, tag: 9))
      return Self.bytes(bytes)
    }
    #expect(got == frame)
    #expect(ends.consumer.take { _, _ in true } == nil)
  }

  @Test("Slots are used again after the ring has wrapped around", arguments: [2, 4, 8])
  func wrapAround(_ capacity: Int) {
    var ends = FrameRing.make(capacity: capacity)
    var (next, expected): (UInt32, UInt32) = (0, 0)
    // Every fill level at every position, with heap buffers among the slots.
    for round in 0..<(4 * capacity) {
      for _ in 0...(round % capacity) {
        let frame = Self.frame(next, length: next % 3 == 0 ? 700 : 480)
        #expect(
          ends.producer.offer(frame.span.bytes, receivedAt: UInt64(next), mayBeDropped: false)
            == .stored)
        next += 1
      }
      while ends.consumer.isReady() {
        ends.consumer.take { bytes, info in
          #expect(Self.bytes(bytes) == Self.frame(expected, length: expected % 3 == 0 ? 700 : 480))
          #expect(info.receivedAt == UInt64(expected))
          expected += 1
        }
      }
      #expect(expected == next)
    }
  }

  @Test("A capacity is rounded up to a power of two", arguments: [(0, 2), (1, 2), (3, 4), (5, 8)])
  func capacity(_ asked: Int, _ slots: Int) {
    var ends = FrameRing.make(capacity: asked)
    for number in 0..<slots {
      #expect(
        ends.producer.offer(
          Self.frame(UInt32(number)).span.bytes, receivedAt: 0, mayBeDropped: true) == .stored)
    }
    #expect(
      ends.producer.offer(Self.frame(99).span.bytes, receivedAt: 0, mayBeDropped: true) == .dropped)
  }

  @Test("In a full ring droppable frames are counted, and the others are spilled in order")
  func spill() {
    var ends = FrameRing.make(capacity: 4)
    let control = ends.producer.control
    func offer(_ number: UInt32, droppable: Bool, length: Int = 60) -> FrameProducer.Outcome {
      ends.producer.offer(
        Self.frame(number, length: length).span.bytes, receivedAt: UInt64(number), tag: number,
        mayBeDropped: droppable)
    }
    for number in 0..<4 { #expect(offer(UInt32(number), droppable: true) == .stored) }
    #expect(offer(4, droppable: true) == .dropped)
    #expect(offer(5, droppable: true, length: 700) == .dropped)
    #expect(offer(6, droppable: false, length: 700) == .spilled)
    #expect(offer(7, droppable: true) == .dropped, "it must not overtake number 6")
    #expect(offer(8, droppable: false) == .spilled)
    #expect(ends.producer.dropped == 3)
    #expect(ends.consumer.dropped == 3)
    #expect(control.dropped == 3)

    // The producer continues to spill frames until the consumer has taken all spilled ones.
    for _ in 0..<4 { ends.consumer.take { _, _ in } }
    #expect(offer(9, droppable: true) == .dropped)

    var seen: [UInt32] = []
    var lost: [UInt32] = []
    while ends.consumer.isReady() {
      ends.consumer.take { bytes, info in
        seen.append(Self.number(bytes))
        lost.append(info.lostBefore)
        #expect(info.tag == seen.last)
        #expect(info.receivedAt == seen.last.map(UInt64.init))
      }
    }
    #expect(seen == [6, 8])
    #expect(lost == [2, 1])
    #expect(offer(10, droppable: true) == .stored, "the ring is in use again")
    ends.consumer.take { _, info in #expect(info.lostBefore == 1) }
  }

  @Test("An error in the body takes the frame out nevertheless")
  func throwingBody() {
    struct Failure: Error {}
    var ends = FrameRing.make(capacity: 2)
    ends.producer.offer(
      Self.frame(1, length: 700).span.bytes, receivedAt: 0, mayBeDropped: false)
    #expect(throws: Failure.self) { try ends.consumer.take { _, _ in throw Failure() } }
    #expect(ends.consumer.isReady() == false)
  }

  @Test("Frames that are left in a ring are freed with it")
  func leftovers() {
    // Under AddressSanitizer a buffer that is not freed, or freed twice, fails the run.
    var ends = FrameRing.make(capacity: 4)
    for number in 0..<6 {
      ends.producer.offer(
        Self.frame(UInt32(number), length: 700).span.bytes, receivedAt: 0, mayBeDropped: false)
    }
    ends.consumer.take { bytes, _ in #expect(Self.number(bytes) == 0) }
  }

  @Test("Two threads exchange 200,000 frames in order without a loss", arguments: fences)
  func threads(_ fences: Bool) async throws {
    let ends = FrameRing.make(capacity: 16, fencesEachFrame: fences)
    let total: UInt32 = 200_000
    let producer = Box(ends.producer)
    let consumer = Box(ends.consumer)
    let writer = Task.detached {
      for number in 0..<total {
        // Not droppable: frames that do not fit are spilled, so everything has to arrive.
        _ = producer.value.offer(
          Self.frame(number, length: number % 1000 == 0 ? 600 : 60).span.bytes,
          receivedAt: UInt64(number), mayBeDropped: false)
      }
      producer.value.finish()
    }
    let (next, wrong) = try await runBlocking(on: BlockingThreads(limit: 1)) {
      var next: UInt32 = 0
      var wrong = 0
      while true {
        switch consumer.value.wait() {
        case .ready:
          consumer.value.take { bytes, info in
            if Self.number(bytes) != next || info.receivedAt != UInt64(next) { wrong += 1 }
            next += 1
          }
        case .finished: return (next, wrong)
        case .timedOut: Issue.record("there was no time limit")
        }
      }
    }
    await writer.value
    #expect(wrong == 0)
    #expect(next == total)
  }

  @Test("A task that waits is resumed by every frame and by the end", arguments: fences)
  func task(_ fences: Bool) async throws {
    let ends = FrameRing.make(capacity: 16, fencesEachFrame: fences)
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

  /// Moves a noncopyable value into a task; the test keeps it to one at a time.
  final class Box<T: ~Copyable>: @unchecked Sendable {
    var value: T
    init(_ value: consuming T) { self.value = value }
  }
}

extension [UInt8] {
  fileprivate func cycled(_ count: Int) -> [UInt8] { (0..<count).map { self[$0 % self.count] } }
}
