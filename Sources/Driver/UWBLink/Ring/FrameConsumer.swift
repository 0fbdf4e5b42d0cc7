// SPDX-License-Identifier: Apache-2.0
internal import Atomics
internal import CUWB
internal import DequeModule
internal import System

/// The arrival time of a frame, and the number of frames missing before it.
public struct FrameInfo: Sendable, Hashable {
  /// The time in nanoseconds of CLOCK_MONOTONIC, taken once for each read(2).
  public var receivedAt: UInt64
  /// The frames dropped since the previous frame.
  public var lostBefore: UInt32
  /// The bytes that the link discarded before this frame, because they could not belong to a frame;
  /// 0 for a frame from a ring.
  @usableFromInline package var skippedBefore: UInt32
  /// The value set by the producer of a ring; 0 for a frame from the link itself.
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

/// The end of a ring that removes frames. Belongs to one thread, or one task, at a time.
@safe @usableFromInline package struct FrameConsumer: ~Copyable, @unchecked Sendable {
  // Safe because the only mutable state belongs to this end, and ownership keeps it on one thread.
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

  /// The result of a wait.
  @usableFromInline package enum Wait: Sendable {
    /// A frame is available.
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

  /// Reports whether a frame is available now.
  @inlinable
  package mutating func isReady() -> Bool {
    hasSlot() || !storage.hasNoSpilled
  }

  /// Passes the next frame to `body` and removes it; returns nil if there is none.
  @inlinable
  @discardableResult
  package mutating func take<R, E: Error>(
    _ body: (RawSpan, FrameInfo) throws(E) -> R
  ) throws(E) -> R? {
    guard hasSlot() else {
      // The list of spilled frames is checked here rather than by the caller, because polling an
      // empty ring takes this path each time.
      return storage.hasNoSpilled ? nil : try takeSpilled(body)
    }
    let slot = unsafe slots + (tail & mask) &* FrameRingStorage.stride
    let header = unsafe slot.load(as: SlotHeader.self)
    // The processor predicts this branch. An address from the header would delay the reads of the
    // bytes until the header has come from the producer's processor.
    if let heapBuffer = unsafe header.heapBuffer {
      return try unsafe takeLong(header, heapBuffer, body)
    }
    defer { release() }
    let bytes = unsafe UnsafeRawBufferPointer(
      start: slot + FrameRingStorage.bytesOffset, count: Int(header.length))
    // Safe because the producer does not touch the slot before `tail` has been stored.
    return try unsafe body(bytes.bytes, header.info)
  }

  /// Passes on the next frame, which is longer than its slot.
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

  /// Returns the slot at `tail` to the producer.
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
    // The producer does not use the ring once a frame has been spilled, so frames in the ring are
    // older.
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

  /// Reports whether the producer has finished and all frames are removed.
  package mutating func isFinished() -> Bool {
    // The order matters: a frame stored before the end is visible before the end.
    let finished = storage.finished.load(ordering: .acquiring)
    return finished && !isReady()
  }

  /// The number of frames dropped because the ring was full.
  package var dropped: Int { storage.dropped.load(ordering: .relaxed) }

  /// Puts the calling thread to sleep until a frame arrives. Each sleep costs one wake; a
  /// continuous flow of frames costs none.
  ///
  /// - Parameter timeout: The longest wait; nil for no limit.
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

  /// Suspends the calling task until a frame arrives, the producer finishes or the task is
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
  /// Stores a continuation for the producer, and resumes it if a frame arrived in the meantime.
  func suspend(_ waiting: UnsafeContinuation<Void, Never>, consumed: Int) {
    unsafe continuation.withLock { unsafe $0 = unsafe waiting }
    announceSleep(as: 2)
    let happened =
      head.load(ordering: .acquiring) != consumed || !hasNoSpilled
      || finished.load(ordering: .acquiring) || cancelled.load(ordering: .acquiring)
    if happened { wake() }
  }
}
