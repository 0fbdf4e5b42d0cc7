// SPDX-License-Identifier: Apache-2.0
public import Atomics
internal import CUWB
internal import DequeModule
internal import Locking

/// When a frame arrived, and how many are missing before it.
public struct FrameInfo: Sendable, Hashable {
  /// CLOCK_MONOTONIC in nanoseconds, taken once for each read(2).
  public var receivedAt: UInt64
  /// Frames that were dropped between the frame before this one and this one.
  public var lostBefore: UInt32
  /// Bytes the link threw away before this frame because they could not belong to one; 0 for a
  /// frame out of a ring.
  public var skippedBefore: UInt32
  /// What the producer of a ring said of the frame; 0 for a frame that comes from the link itself.
  public var tag: UInt32

  /// From its parts.
  @inlinable
  public init(
    receivedAt: UInt64, lostBefore: UInt32 = 0, skippedBefore: UInt32 = 0, tag: UInt32 = 0
  ) {
    self.receivedAt = receivedAt
    self.lostBefore = lostBefore
    self.skippedBefore = skippedBefore
    self.tag = tag
  }
}

/// The end of a ring that takes frames out. Belongs to one thread, or one task, at a time.
public struct FrameConsumer: ~Copyable, @unchecked Sendable {
  // Sound: the only mutable state is this end's own; ownership keeps it on one thread.
  @usableFromInline let storage: FrameRingStorage
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let mask: Int
  @usableFromInline var tail = 0
  @usableFromInline var knownHead = 0

  init(_ storage: FrameRingStorage) {
    self.storage = storage
    slots = storage.slots
    mask = storage.mask
  }

  /// Why there is no frame.
  public enum Wait: Sendable {
    /// There is a frame.
    case ready
    /// The time passed.
    case timedOut
    /// No frame will follow.
    case finished
  }

  @inlinable @inline(__always)
  mutating func hasSlot() -> Bool {
    if tail == knownHead {
      knownHead = storage.head.load(ordering: .acquiring)
    }
    return tail != knownHead
  }

  /// Whether a frame can be had now.
  @inlinable
  public mutating func isReady() -> Bool {
    hasSlot() || !storage.overflowIsEmpty
  }

  /// Lends the next frame to `body` and takes it out; nil when there is none now.
  @inlinable
  @discardableResult
  public mutating func take<R, E: Error>(
    _ body: (RawSpan, FrameInfo) throws(E) -> R
  ) throws(E) -> R? {
    guard hasSlot() else {
      // Here and not behind the call: whoever polls an empty ring comes this way every time.
      return storage.overflowIsEmpty ? nil : try takeOverflown(body)
    }
    let slot = slots + (tail & mask) &* FrameRingStorage.stride
    let header = slot.load(as: SlotHeader.self)
    defer {
      if let outside = header.outside { outside.deallocate() }
      tail &+= 1
      storage.tail.store(tail, ordering: .releasing)
    }
    let bytes = UnsafeRawBufferPointer(
      start: header.outside ?? slot + FrameRingStorage.bytesOffset, count: Int(header.length))
    // Sound: the producer does not touch the slot before `tail` has been stored.
    return try body(
      bytes.bytes,
      FrameInfo(
        receivedAt: header.receivedAt, lostBefore: header.lostBefore, tag: header.tag))
  }

  @usableFromInline @inline(never)
  mutating func takeOverflown<R, E: Error>(
    _ body: (RawSpan, FrameInfo) throws(E) -> R
  ) throws(E) -> R? {
    guard !storage.overflowIsEmpty else { return nil }
    // Once something has overflown the producer stops using the ring, so what is in it is older.
    if hasSlot() { return try take(body) }
    let frame = storage.overflow.withLock { list in
      let frame = list.popFirst()
      storage.overflowCount.store(list.count, ordering: .releasing)
      return frame
    }
    guard let frame else { return nil }
    return try body(
      frame.bytes.span.bytes,
      FrameInfo(
        receivedAt: frame.receivedAt, lostBefore: frame.lostBefore, tag: frame.tag))
  }

  /// Whether the producer has finished and everything has been taken.
  public mutating func isFinished() -> Bool {
    // In this order: what was put in before the end is seen before the end.
    let finished = storage.finished.load(ordering: .acquiring)
    return finished && !isReady()
  }

  /// Frames dropped so far because the ring was full.
  public var dropped: Int { storage.dropped.load(ordering: .relaxed) }

  /// Puts the calling thread to sleep until there is a frame. One wake for each sleep; none while
  /// frames keep coming.
  ///
  /// - Parameter timeout: milliseconds; -1 waits for ever.
  public mutating func wait(timeout: Int32 = -1) -> Wait {
    let deadline = timeout < 0 ? UInt64.max : cuwb_monotonic_ns() + UInt64(timeout) * 1_000_000
    while true {
      if isReady() { return .ready }
      if isFinished() { return .finished }
      let now = timeout < 0 ? 0 : cuwb_monotonic_ns()
      guard now < deadline else { return .timedOut }
      storage.sleeping.store(1, ordering: .relaxed)
      fullFence()
      if !isReady(), !storage.finished.load(ordering: .relaxed) {
        let left = timeout < 0 ? -1 : Int32(clamping: (deadline - now + 999_999) / 1_000_000)
        cuwb_futex_wait(storage.sleepingWord, 1, left)
      }
      storage.sleeping.store(0, ordering: .relaxed)
    }
  }

  /// Suspends the calling task until there is a frame, the producer has finished or the task is
  /// cancelled.
  public nonisolated(nonsending) mutating func waitAsync() async -> Wait {
    while true {
      if isReady() { return .ready }
      if isFinished() { return .finished }
      if Task.isCancelled { return .timedOut }
      let storage = self.storage
      let seen = tail
      storage.interrupted.store(false, ordering: .relaxed)
      await withTaskCancellationHandler {
        await withUnsafeContinuation { continuation in
          storage.suspend(continuation, consumed: seen)
        }
      } onCancel: {
        storage.interrupted.store(true, ordering: .releasing)
        storage.wakeIfSleeping()
      }
    }
  }
}

extension FrameRingStorage {
  /// Leaves a continuation for the producer, and takes it back if something has happened meanwhile.
  func suspend(_ waiting: UnsafeContinuation<Void, Never>, consumed: Int) {
    continuation.withLock { $0 = waiting }
    sleeping.store(2, ordering: .relaxed)
    fullFence()
    let happened =
      head.load(ordering: .acquiring) != consumed || !overflowIsEmpty
      || finished.load(ordering: .acquiring) || interrupted.load(ordering: .acquiring)
    if happened { wake() }
  }
}
