// SPDX-License-Identifier: Apache-2.0
internal import Atomics
public import CUWB
internal import DequeModule
internal import System

/// The end of a ring that adds frames. Belongs to one thread at a time.
///
/// Dropping it ends the ring as `finish` does.
@safe @usableFromInline package struct FrameProducer: ~Copyable, @unchecked Sendable {
  // Safe because the only mutable state belongs to this end, and ownership keeps it on one thread.
  @usableFromInline let storage: FrameRingStorage
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let mask: Int
  @usableFromInline var head = 0
  @usableFromInline var knownTail = 0
  @usableFromInline var lost: UInt32 = 0

  init(_ storage: FrameRingStorage) {
    self.storage = storage
    unsafe slots = unsafe storage.slots
    mask = storage.mask
  }

  deinit { storage.finish() }

  /// The result for a frame.
  @usableFromInline package enum Outcome: Sendable {
    /// The frame is in the ring.
    case stored
    /// The frame is on the heap after the ring, because the ring is full and the frame must be
    /// kept.
    case spilled
    /// The frame is dropped and counted, because the ring is full and the frame may be dropped.
    case dropped
  }

  /// The control of the ring, for any thread, even while this end is in use.
  package var control: FrameRing.Control { FrameRing.Control(storage: storage) }

  /// The number of frames dropped.
  package var dropped: Int { storage.dropped.load(ordering: .relaxed) }

  @inlinable @inline(__always)
  mutating func freeSlot() -> UnsafeMutableRawPointer? {
    if head &- knownTail > mask {
      knownTail = storage.publishedTail
      if head &- knownTail > mask { return nil }
    }
    return unsafe slots + (head & mask) &* FrameRingStorage.stride
  }

  /// Adds a frame, and wakes the consumer if it sleeps. Never blocks.
  ///
  /// - Parameters:
  ///   - frame: The bytes, which are copied.
  ///   - receivedAt: The arrival time in nanoseconds of CLOCK_MONOTONIC.
  ///   - tag: A value for the consumer, which the ring does not use.
  ///   - mayBeDropped: Whether the frame may be dropped if the ring is full.
  @inlinable
  @discardableResult
  package mutating func offer(
    _ frame: RawSpan, receivedAt: UInt64, tag: UInt32 = 0, mayBeDropped: Bool
  ) -> Outcome {
    if frame.byteCount <= FrameRing.slotCapacity, storage.hasNoSpilled,
      let slot = unsafe freeSlot()
    {
      unsafe frame.withUnsafeBytes { bytes in
        if let base = bytes.baseAddress {
          unsafe cuwb_copy_to_read(slot + FrameRingStorage.bytesOffset, base, bytes.count)
        }
      }
      unsafe publish(
        slot,
        SlotHeader(
          length: frame.byteCount, lostBefore: lost, receivedAt: receivedAt, tag: tag,
          heapBuffer: nil))
      return .stored
    }
    return offerSlowly(frame, receivedAt: receivedAt, tag: tag, mayBeDropped: mayBeDropped)
  }

  @inlinable @inline(__always)
  mutating func publish(_ slot: UnsafeMutableRawPointer, _ header: SlotHeader) {
    unsafe slot.storeBytes(of: header, as: SlotHeader.self)
    lost = 0
    head &+= 1
    storage.publishHead(head)
    storage.wakeIfSleeping()
  }

  @usableFromInline @inline(never)
  mutating func offerSlowly(
    _ frame: RawSpan, receivedAt: UInt64, tag: UInt32, mayBeDropped: Bool
  ) -> Outcome {
    if storage.hasNoSpilled, frame.byteCount > FrameRing.slotCapacity, let slot = unsafe freeSlot()
    {
      // The frame is longer than a slot: a data message or a large notification of a vendor. Such
      // frames allocate.
      let buffer = UnsafeMutableRawPointer.allocate(byteCount: frame.byteCount, alignment: 16)
      unsafe frame.withUnsafeBytes { bytes in
        unsafe buffer.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
      }
      unsafe publish(
        slot,
        SlotHeader(
          length: frame.byteCount, lostBefore: lost, receivedAt: receivedAt, tag: tag,
          heapBuffer: buffer))
      return .stored
    }
    guard !mayBeDropped else {
      lost &+= 1
      storage.dropped.wrappingIncrement(ordering: .relaxed)
      return .dropped
    }
    let bytes = unsafe frame.withUnsafeBytes { unsafe Array($0) }
    let lostBefore = lost
    lost = 0
    storage.spilled.withLock {
      $0.append(
        .init(bytes: bytes, receivedAt: receivedAt, lostBefore: lostBefore, tag: tag))
      storage.spilledCount.store($0.count, ordering: .releasing)
    }
    storage.wakeIfSleeping()
    return .spilled
  }

  /// Ends the ring. The consumer ends once it has removed all frames.
  package func finish() { storage.finish() }
}
