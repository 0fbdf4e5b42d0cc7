// SPDX-License-Identifier: Apache-2.0
public import Atomics
internal import DequeModule
internal import Locking

/// The end of a ring that puts frames in. Belongs to one thread at a time.
public struct FrameProducer: ~Copyable, @unchecked Sendable {
  // Sound: the only mutable state is this end's own; ownership keeps it on one thread.
  @usableFromInline let storage: FrameRingStorage
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let mask: Int
  @usableFromInline var head = 0
  @usableFromInline var knownTail = 0
  @usableFromInline var lost: UInt32 = 0

  init(_ storage: FrameRingStorage) {
    self.storage = storage
    slots = storage.slots
    mask = storage.mask
  }

  /// What became of a frame.
  public enum Outcome: Sendable {
    /// In the ring.
    case stored
    /// On the heap behind the ring, because the ring is full and the frame must be kept.
    case overflown
    /// Dropped and counted, because the ring is full and the frame may be dropped.
    case dropped
  }

  /// Ends the ring from any thread, also while this end is being used.
  package var control: FrameRing.Control { FrameRing.Control(storage: storage) }

  /// Frames dropped so far.
  public var dropped: Int { storage.dropped.load(ordering: .relaxed) }

  @inlinable @inline(__always)
  mutating func freeSlot() -> UnsafeMutableRawPointer? {
    if head &- knownTail > mask {
      knownTail = storage.tail.load(ordering: .acquiring)
      if head &- knownTail > mask { return nil }
    }
    return slots + (head & mask) &* FrameRingStorage.stride
  }

  /// Puts a frame in and wakes the consumer if it sleeps. Never waits.
  ///
  /// - Parameters:
  ///   - frame: copied.
  ///   - receivedAt: CLOCK_MONOTONIC in nanoseconds.
  ///   - tag: handed to the consumer with the frame; the ring does not look at it.
  ///   - mayBeDropped: what to do when the ring is full.
  @inlinable
  @discardableResult
  public mutating func offer(
    _ frame: RawSpan, receivedAt: UInt64, tag: UInt32 = 0, mayBeDropped: Bool
  ) -> Outcome {
    if frame.byteCount <= FrameRing.slotCapacity, storage.overflowIsEmpty,
      let slot = freeSlot()
    {
      frame.withUnsafeBytes { bytes in
        if let base = bytes.baseAddress {
          (slot + FrameRingStorage.bytesOffset)
            .copyMemory(from: base, byteCount: bytes.count)
        }
      }
      publish(
        slot,
        SlotHeader(
          length: frame.byteCount, lostBefore: lost, receivedAt: receivedAt, tag: tag, outside: nil)
      )
      return .stored
    }
    return offerSlowly(frame, receivedAt: receivedAt, tag: tag, mayBeDropped: mayBeDropped)
  }

  @inlinable @inline(__always)
  mutating func publish(_ slot: UnsafeMutableRawPointer, _ header: SlotHeader) {
    slot.storeBytes(of: header, as: SlotHeader.self)
    lost = 0
    head &+= 1
    storage.head.store(head, ordering: .releasing)
    storage.wakeIfSleeping()
  }

  @usableFromInline @inline(never)
  mutating func offerSlowly(
    _ frame: RawSpan, receivedAt: UInt64, tag: UInt32, mayBeDropped: Bool
  ) -> Outcome {
    if storage.overflowIsEmpty, frame.byteCount > FrameRing.slotCapacity, let slot = freeSlot() {
      // Longer than a slot: data messages and large vendor notifications. These allocate.
      let outside = UnsafeMutableRawPointer.allocate(byteCount: frame.byteCount, alignment: 16)
      frame.withUnsafeBytes { bytes in
        outside.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
      }
      publish(
        slot,
        SlotHeader(
          length: frame.byteCount, lostBefore: lost, receivedAt: receivedAt, tag: tag,
          outside: outside))
      return .stored
    }
    guard !mayBeDropped else {
      lost &+= 1
      storage.dropped.wrappingIncrement(ordering: .relaxed)
      return .dropped
    }
    let bytes = frame.withUnsafeBytes { Array($0) }
    let lostBefore = lost
    lost = 0
    storage.overflow.withLock {
      $0.append(
        .init(bytes: bytes, receivedAt: receivedAt, lostBefore: lostBefore, tag: tag))
      storage.overflowCount.store($0.count, ordering: .releasing)
    }
    storage.wakeIfSleeping()
    return .overflown
  }

  /// No frame will follow: the consumer ends when it has taken what is there.
  public func finish() { storage.finish() }
}

extension FrameRingStorage {
  @inlinable @inline(__always)
  var overflowIsEmpty: Bool { overflowCount.load(ordering: .acquiring) == 0 }
}
