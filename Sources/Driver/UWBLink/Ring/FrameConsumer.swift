// SPDX-License-Identifier: Apache-2.0
internal import Atomics
internal import CUWB
internal import DequeModule
internal import System

/// When a frame arrived, and how many are missing before it.
public struct FrameInfo: Sendable, Hashable {
  /// CLOCK_MONOTONIC in nanoseconds, taken once for each read(2).
  public var receivedAt: UInt64
  /// Frames that were dropped between the frame before this one and this one.
  public var lostBefore: UInt32
  /// Bytes the link threw away before this frame because they could not belong to one; 0 for a
  /// frame out of a ring.
  @usableFromInline package var skippedBefore: UInt32
  /// Set by the producer of a ring; 0 for a frame that comes from the link itself.
  @usableFromInline package var tag: UInt32

  @inlinable
  package init(
    receivedAt: UInt64, lostBefore: UInt32 = 0, skippedBefore: UInt32 = 0, tag: UInt32 = 0
  ) {
    self.receivedAt = receivedAt
    self.lostBefore = lostBefore
    self.skippedBefore = skippedBefore
    self.tag = tag
  }
}

/// The end of a ring that takes frames out. Belongs to one thread, or one task, at a time.
@safe @usableFromInline package struct FrameConsumer: ~Copyable, @unchecked Sendable {
  // Safe because the only mutable state is this end's own, and ownership keeps it on one thread.
  @usableFromInline let storage: FrameRingStorage
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let mask: Int
  @usableFromInline var tail = 0
  @usableFromInline var knownHead = 0

  init(_ storage: FrameRingStorage) {
    self.storage = storage
    unsafe slots = unsafe storage.slots
    mask = storage.mask
  }

  /// How a wait ended.
  @usableFromInline package enum Wait: Sendable {
    /// There is a frame.
    case ready
    /// The time passed, or the task was cancelled.
    case timedOut
    /// No frame will follow.
    case finished
  }

  @inlinable @inline(__always)
  mutating func hasSlot() -> Bool {
    if tail == knownHead {
      knownHead = storage.publishedHead
    }
    return tail != knownHead
  }

  /// Whether a frame can be had now.
  @inlinable
  package mutating func isReady() -> Bool {
    hasSlot() || !storage.hasNoSpilled
  }

  /// Lends the next frame to `body` and takes it out; returns nil when there is none now.
  @inlinable
  @discardableResult
  package mutating func take<R, E: Error>(
    _ body: (RawSpan, FrameInfo) throws(E) -> R
  ) throws(E) -> R? {
    guard hasSlot() else {
      // Here rather than after the call: polling an empty ring comes this way every time.
      return storage.hasNoSpilled ? nil : try takeSpilled(body)
    }
    let slot = unsafe slots + (tail & mask) &* FrameRingStorage.stride
    let header = unsafe slot.load(as: SlotHeader.self)
    // A branch, which the processor predicts: an address that came from the header would make the
    // reads of the bytes wait until the header has come from the producer's processor.
    if let heapBuffer = unsafe header.heapBuffer {
      return try unsafe takeLong(header, heapBuffer, body)
    }
    defer { release() }
    let bytes = unsafe UnsafeRawBufferPointer(
      start: slot + FrameRingStorage.bytesOffset, count: Int(header.length))
    // Safe because the producer does not touch the slot before `tail` has been stored.
    return try unsafe body(bytes.bytes, header.info)
  }

  /// The next frame does not fit into its slot.
  @usableFromInline @inline(never)
  mutating func takeLong<R, E: Error>(
    _ header: SlotHeader, _ heapBuffer: UnsafeMutableRawPointer,
    _ body: (RawSpan, FrameInfo) throws(E) -> R
  ) throws(E) -> R {
    defer {
      unsafe heapBuffer.deallocate()
      release()
    }
    let bytes = unsafe UnsafeRawBufferPointer(start: heapBuffer, count: Int(header.length))
    return try unsafe body(bytes.bytes, header.info)
  }

  /// Gives the slot at `tail` back to the producer.
  @inlinable @inline(__always)
  mutating func release() {
    tail &+= 1
    storage.publishTail(tail)
  }

  @usableFromInline @inline(never)
  mutating func takeSpilled<R, E: Error>(
    _ body: (RawSpan, FrameInfo) throws(E) -> R
  ) throws(E) -> R? {
    guard !storage.hasNoSpilled else { return nil }
    // Once a frame has been spilled the producer stops using the ring, so what is in it is older.
    if hasSlot() { return try take(body) }
    let frame = storage.spilled.withLock { list in
      let frame = list.popFirst()
      storage.spilledCount.store(list.count, ordering: .releasing)
      return frame
    }
    guard let frame else { return nil }
    return unsafe try body(
      frame.bytes.span.bytes,
      FrameInfo(
        receivedAt: frame.receivedAt, lostBefore: frame.lostBefore, tag: frame.tag))
  }

  /// Whether the producer has finished and everything has been taken.
  package mutating func isFinished() -> Bool {
    // In this order: what was put in before the end is seen before the end.
    let finished = storage.finished.load(ordering: .acquiring)
    return finished && !isReady()
  }

  /// Frames dropped so far because the ring was full.
  package var dropped: Int { storage.dropped.load(ordering: .relaxed) }

  /// Puts the calling thread to sleep until there is a frame. One wake for each sleep; none while
  /// frames keep coming.
  ///
  /// - Parameter timeout: How long to wait; nil waits without a limit.
  package mutating func wait(timeout: Duration? = nil) -> Wait {
    if isReady() { return .ready }
    let deadline = timeout.map { Deadline(after: $0) }
    while true {
      if isReady() { return .ready }
      if isFinished() { return .finished }
      let left = deadline?.milliseconds ?? -1
      guard left != 0 else { return .timedOut }
      storage.announceSleep(as: 1)
      if !isReady(), !storage.finished.load(ordering: .relaxed) {
        unsafe cuwb_futex_wait(storage.sleepingWord, 1, left)
      }
      storage.sleeping.store(0, ordering: .relaxed)
    }
  }

  /// Suspends the calling task until there is a frame, the producer has finished or the task is
  /// cancelled.
  package nonisolated(nonsending) mutating func waitAsync() async -> Wait {
    while true {
      if isReady() { return .ready }
      if isFinished() { return .finished }
      if Task.isCancelled { return .timedOut }
      let storage = self.storage
      let seen = tail
      storage.cancelled.store(false, ordering: .relaxed)
      await withTaskCancellationHandler {
        await unsafe withUnsafeContinuation { continuation in
          unsafe storage.suspend(continuation, consumed: seen)
        }
      } onCancel: {
        storage.cancelled.store(true, ordering: .releasing)
        storage.wakeIfSleeping()
      }
    }
  }
}

extension FrameRingStorage {
  /// Leaves a continuation for the producer, and takes it back if something has happened meanwhile.
  func suspend(_ waiting: UnsafeContinuation<Void, Never>, consumed: Int) {
    unsafe continuation.withLock { unsafe $0 = unsafe waiting }
    announceSleep(as: 2)
    let happened =
      head.load(ordering: .acquiring) != consumed || !hasNoSpilled
      || finished.load(ordering: .acquiring) || cancelled.load(ordering: .acquiring)
    if happened { wake() }
  }
}
