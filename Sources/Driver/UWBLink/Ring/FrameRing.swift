// SPDX-License-Identifier: Apache-2.0
// The ring uses swift-atomics rather than `Synchronization`: its indices live in one raw allocation
// at chosen distances, which takes atomics over memory (`UnsafeAtomic`), and a free-standing fence.
// `Synchronization` has neither. The rest of the module follows, so that there is one library.
// CUWB is imported publicly for the barrier inside code that is inlined into other modules.
public import Atomics
public import CUWB
internal import DequeModule
internal import System

/// A lock-free ring of frame slots between one producer and one consumer.
///
/// `make` returns the two ends; each is moved into the thread or task that owns it, so that there
/// cannot be a second producer or consumer. Each end keeps its own index and a copy of the other's,
/// which is read again only when the copy says "full" or "empty".
///
/// When the ring is full nothing is lost silently. A frame that may be dropped is dropped (the
/// newest, never the oldest), counted, and the next frame that gets through says how many are
/// missing before it. A frame that must be kept is spilled to a list on the heap, after everything
/// in the ring; until the consumer has caught up, so are the kept frames after it, and droppable
/// ones are dropped, so the order never changes. The producer never waits.
@usableFromInline package enum FrameRing {
  /// Bytes a slot holds: a control packet of 259 bytes, eight two-way measurements (277 bytes) and a
  /// vendor tail after them. A longer frame travels in a heap buffer that its slot points to.
  @usableFromInline package static let slotCapacity = 480

  /// Returns the two ends of a new ring.
  ///
  /// - Parameters:
  ///   - capacity: Number of slots; rounded up to a power of two, at least 2.
  ///   - fencesEachFrame: Whether the producer runs a full fence after each frame. Otherwise the
  ///     consumer runs one for both when it goes to sleep, which the kernel has to support.
  package static func make(
    capacity: Int = 128, fencesEachFrame: Bool = !cuwb_has_process_barrier()
  ) -> Ends {
    let storage = FrameRingStorage(capacity: capacity, fencesEachFrame: fencesEachFrame)
    return Ends(
      producer: FrameProducer(storage), consumer: FrameConsumer(storage))
  }

  /// The two ends of a ring.
  @frozen @usableFromInline package struct Ends: ~Copyable, Sendable {
    package var producer: FrameProducer
    package var consumer: FrameConsumer
  }

  /// What any thread may do with a ring while others use its ends.
  package struct Control: Sendable {
    let storage: FrameRingStorage

    /// No frame will follow: the consumer ends when it has taken what is there.
    package func finish() { storage.finish() }

    /// Frames dropped so far because the ring was full.
    package var dropped: Int { storage.dropped.load(ordering: .relaxed) }

    /// Whether the consumer's thread sleeps, or its task is suspended.
    package var isConsumerWaiting: Bool { storage.sleeping.load(ordering: .acquiring) != 0 }
  }
}

/// Precedes the bytes in each slot.
@usableFromInline
@safe struct SlotHeader {
  /// Bytes of the frame.
  @usableFromInline var length: UInt32
  /// Frames that were dropped between the frame before this one and this one.
  @usableFromInline var lostBefore: UInt32
  /// When the frame was read: CLOCK_MONOTONIC, nanoseconds.
  @usableFromInline var receivedAt: UInt64
  /// The bytes of a frame that does not fit into the slot; freed by the consumer.
  @usableFromInline var heapBuffer: UnsafeMutableRawPointer?
  /// Set by the producer, for the consumer.
  @usableFromInline var tag: UInt32
  @usableFromInline var padding: UInt32 = 0

  @usableFromInline
  init(
    length: Int, lostBefore: UInt32, receivedAt: UInt64, tag: UInt32,
    heapBuffer: UnsafeMutableRawPointer?
  ) {
    self.length = UInt32(truncatingIfNeeded: length)
    self.lostBefore = lostBefore
    self.receivedAt = receivedAt
    unsafe self.heapBuffer = unsafe heapBuffer
    self.tag = tag
  }

  @inlinable var info: FrameInfo {
    FrameInfo(receivedAt: receivedAt, lostBefore: lostBefore, tag: tag)
  }
}

/// The memory of a ring, alive as long as one of its ends.
@usableFromInline
@safe final class FrameRingStorage: @unchecked Sendable {
  // Safe because `head` and the slots up to it are written by the producer only, `tail` by the
  // consumer only, each published with release and read with acquire; everything else is constant,
  // atomic or locked.

  @usableFromInline static let stride = 512
  @usableFromInline static let bytesOffset = 32
  // Two cache lines apart, for processors that fetch lines in pairs.
  private static let line = 128

  @usableFromInline let memory: UnsafeMutableRawPointer
  @usableFromInline let mask: Int
  @usableFromInline let fencesEachFrame: Bool
  /// Next slot the producer fills.
  @usableFromInline let head: UnsafeAtomic<Int>
  /// Next slot the consumer empties.
  @usableFromInline let tail: UnsafeAtomic<Int>
  /// 0: the consumer is awake; 1: its thread sleeps on this word; 2: its task is suspended.
  @usableFromInline let sleeping: UnsafeAtomic<UInt32>
  /// Frames dropped since the ring was made.
  let dropped: UnsafeAtomic<Int>
  @usableFromInline let spilledCount: UnsafeAtomic<Int>
  let finished: UnsafeAtomic<Bool>
  let cancelled: UnsafeAtomic<Bool>

  struct SpilledFrame {
    var bytes: [UInt8]
    var receivedAt: UInt64
    var lostBefore: UInt32
    var tag: UInt32
  }
  let spilled = Locked<Deque<SpilledFrame>>([])
  let continuation = unsafe Locked<UnsafeContinuation<Void, Never>?>(nil)

  @usableFromInline
  var slots: UnsafeMutableRawPointer { unsafe memory + 4 * Self.line }

  init(capacity: Int, fencesEachFrame: Bool) {
    self.fencesEachFrame = fencesEachFrame
    precondition(
      MemoryLayout<SlotHeader>.size <= Self.bytesOffset
        && Self.bytesOffset + FrameRing.slotCapacity <= Self.stride,
      "a slot holds its header and its bytes")
    var size = 2
    while size < capacity { size *= 2 }
    mask = size - 1
    let byteCount = 4 * Self.line + size * Self.stride
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: Self.line)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    unsafe self.memory = unsafe memory
    // Zero bytes are the valid initial representation of each of these atomics.
    func atomic<T>(_ offset: Int, _ type: T.Type) -> UnsafeAtomic<T> {
      unsafe UnsafeAtomic(
        at: (memory + offset).bindMemory(to: UnsafeAtomic<T>.Storage.self, capacity: 1))
    }
    head = atomic(0, Int.self)
    dropped = atomic(8, Int.self)
    tail = atomic(Self.line, Int.self)
    sleeping = atomic(2 * Self.line, UInt32.self)
    spilledCount = atomic(3 * Self.line, Int.self)
    finished = atomic(3 * Self.line + 8, Bool.self)
    cancelled = atomic(3 * Self.line + 9, Bool.self)
  }

  deinit {
    // Both ends are gone, so no other thread looks at the slots any more.
    for index in tail.load(ordering: .relaxed)..<head.load(ordering: .relaxed) {
      let slot = unsafe slots + (index & mask) * Self.stride
      if let heapBuffer = unsafe slot.load(as: SlotHeader.self).heapBuffer {
        unsafe heapBuffer.deallocate()
      }
    }
    unsafe memory.deallocate()
  }

  // MARK: indices

  @inlinable @inline(__always)
  func publishHead(_ index: Int) { head.store(index, ordering: .releasing) }

  @inlinable @inline(__always)
  func publishTail(_ index: Int) { tail.store(index, ordering: .releasing) }

  @inlinable @inline(__always)
  var publishedHead: Int { head.load(ordering: .acquiring) }

  @inlinable @inline(__always)
  var publishedTail: Int { tail.load(ordering: .acquiring) }

  // MARK: sleeping

  /// Wakes the consumer if it sleeps. Called after something was published.
  @inlinable @inline(__always)
  func wakeIfSleeping() {
    // The publication must be visible before the look at `sleeping`, as the consumer writes
    // `sleeping` before its last look at the ring: one of the two sees the other. The fence is the
    // dearest part of a frame, so the consumer runs it here as well (see `announceSleep`), where
    // nothing but the order of the instructions has to be kept.
    if fencesEachFrame {
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    } else {
      cuwb_compiler_barrier()
    }
    if sleeping.load(ordering: .relaxed) != 0 { wake() }
  }

  /// Says that the consumer is going to sleep. Whatever is published from now on wakes it; whatever
  /// was published before is seen in the ring after this.
  func announceSleep(as kind: UInt32) {
    sleeping.store(kind, ordering: .relaxed)
    if fencesEachFrame {
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    } else {
      cuwb_process_barrier()
    }
  }

  @usableFromInline @inline(never)
  func wake() {
    switch sleeping.exchange(0, ordering: .acquiringAndReleasing) {
    case 1: unsafe cuwb_futex_wake(sleepingWord)
    case 2: unsafe continuation.withLock { unsafe $0.take() }?.resume()
    default: break
    }
  }

  var sleepingWord: UnsafeMutablePointer<UInt32> {
    unsafe (memory + 2 * Self.line).assumingMemoryBound(to: UInt32.self)
  }

  @inlinable @inline(__always)
  var hasNoSpilled: Bool { spilledCount.load(ordering: .acquiring) == 0 }

  /// No frame will follow. Any thread.
  func finish() {
    finished.store(true, ordering: .releasing)
    wakeIfSleeping()
  }
}
