// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import RingPeers
import UWBLink

/// Both ends of a ring of the package, with the operations of the benchmarks. `ring_loops.h` has
/// the same operations for other rings.
struct RingWork: Sendable {
  let producer: Cell<FrameProducer>
  let consumer: Cell<FrameConsumer>

  init(capacity: Int) {
    var ends = Optional(FrameRing.make(capacity: capacity))
    (producer, consumer) = Self.apart(ends.take()!)
  }

  private static func apart(
    _ ends: consuming FrameRing.Ends
  ) -> (Cell<FrameProducer>, Cell<FrameConsumer>) {
    (Cell(ends.producer), Cell(ends.consumer))
  }

  func destroy() {
    producer.destroy()
    consumer.destroy()
  }

  /// Puts each of `count` frames in and takes it out again. Returns the sum of their words.
  @inline(never)
  func sameThread(_ frame: UnsafeRawBufferPointer, count: Int) -> UInt64 {
    var sum: UInt64 = 0
    for index in 0..<count {
      producer.pointer.pointee.offer(
        frame.bytes, receivedAt: UInt64(index), mayBeDropped: true)
      sum &+= take()!
    }
    return sum
  }

  @inline(__always)
  private func take() -> UInt64? {
    consumer.pointer.pointee.take { bytes, _ in
      bytes.withUnsafeBytes { cuwb_reference_sum($0.baseAddress!, $0.count) }
    }
  }

  @inline(__always)
  private func put(_ frame: UnsafeRawBufferPointer, _ index: Int) {
    while producer.pointer.pointee.offer(
      frame.bytes, receivedAt: UInt64(index), mayBeDropped: true) != .stored
    { cuwb_reference_pause() }
  }

  /// Puts `count` frames in. Spins while the ring is full.
  @inline(never)
  func produce(_ frame: UnsafeRawBufferPointer, count: Int) {
    for index in 0..<count { put(frame, index) }
  }

  /// Takes `count` frames out. Spins while the ring is empty.
  @inline(never)
  func consume(count: Int) -> UInt64 {
    var sum: UInt64 = 0
    for _ in 0..<count {
      while true {
        if let words = take() {
          sum &+= words
          break
        }
        cuwb_reference_pause()
      }
    }
    return sum
  }

  /// Sends a frame and waits for the answer through `back`, `count` times.
  @inline(never)
  func call(
    back: RingWork, _ frame: UnsafeRawBufferPointer, _ nanoseconds: UnsafeMutablePointer<UInt32>,
    count: Int
  ) {
    for index in 0..<count {
      let started = cuwb_test_now()
      put(frame, index)
      _ = back.consume(count: 1)
      nanoseconds[index] = UInt32(truncatingIfNeeded: cuwb_test_now() - started)
    }
  }

  /// Answers the frames of `call`.
  @inline(never)
  func answer(back: RingWork, count: Int) {
    for index in 0..<count {
      while consumer.pointer.pointee.take({ bytes, _ in
        bytes.withUnsafeBytes { back.put($0, index) }
      }) == nil { cuwb_reference_pause() }
    }
  }
}
