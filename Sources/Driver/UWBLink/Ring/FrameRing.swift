// SPDX-License-Identifier: Apache-2.0
// The ring uses swift-atomics rather than `Synchronization`. Its indices live in one raw allocation
// at chosen distances, which needs atomics over memory (`UnsafeAtomic`) and a free-standing fence.
// `Synchronization` has neither. The rest of the module uses the same library. CUWB is imported
// publicly for the barrier inside code that is inlined into other modules.
public import Atomics
public import CUWB
internal import DequeModule
internal import System

/// A lock-free ring of frame slots between one producer and one consumer.
///
/// `make` returns the two ends. Each moves into its thread or task, so that a second producer or
/// consumer cannot exist. Each end keeps its own index and a copy of the other index. It reads the
/// other index again only when the copy indicates "full" or "empty".
///
/// A full ring drops a frame that may be dropped: the newest, never the oldest. It counts the loss,
/// and the next frame reports the number of missing frames before it. A frame that must be kept is
/// spilled to a list on the heap, which follows all frames in the ring. Until the consumer has
/// caught up, later kept frames are spilled too, and others are dropped, so the order never
/// changes. The producer never blocks.
@usableFromInline package enum FrameRing {
  /// The bytes that a slot holds: a control packet of 259 bytes, or eight two-way measurements (277
  /// bytes) with a vendor tail. A longer frame is in a heap buffer that its slot points to.
  @usableFromInline package static let slotCapacity = 480

  /// Returns the two ends of a new ring.
  ///
  /// - Parameters:
  ///   - capacity: The number of slots; rounded up to a power of two, at least 2.
  ///   - fencesEachFrame: Whether the producer runs a full fence after each frame. Otherwise the
  ///     consumer runs one for both before it sleeps, which the kernel must support.
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

  /// The operations that any thread may use while others use the ends.
  package struct Control: Sendable {
    let storage: FrameRingStorage

    /// Ends the ring. The consumer ends once it has removed all frames.
    package func finish() { storage.finish() }

    /// The number of frames dropped because the ring was full.
    package var dropped: Int { storage.dropped.load(ordering: .relaxed) }

    /// Whether the consumer's thread sleeps, or its task is suspended.
    package var isConsumerWaiting: Bool { storage.sleeping.load(ordering: .acquiring) != 0 }
  }
}

/// The header before the bytes in each slot.
@usableFromInline
@safe struct SlotHeader {
  /// The length of the frame in bytes.
  @usableFromInline var length: UInt32
  /// The frames dropped since the previous frame.
  @usableFromInline var lostBefore: UInt32
  /// The time at which the frame was read, in nanoseconds of CLOCK_MONOTONIC.
  @usableFromInline var receivedAt: UInt64
  /// The bytes of a frame that does not fit into the slot; freed by the consumer.
  @usableFromInline var heapBuffer: UnsafeMutableRawPointer?
  /// A value from the producer for the consumer.
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

/// The memory of a ring, which lives as long as one of its ends.
@usableFromInline
@safe final class FrameRingStorage: @unchecked Sendable {
  // Safe because only the producer writes `head` and the slots before it, and only the consumer
  // writes `tail`. Both are published with release and read with acquire. The rest is constant,
  // atomic or locked.

  @usableFromInline static let stride = 512
  @usableFromInline static let bytesOffset = 32
  // The size of two cache lines, because some processors fetch lines in pairs.
  private static let line = 128

  @usableFromInline let memory: UnsafeMutableRawPointer
  @usableFromInline let mask: Int
  @usableFromInline let fencesEachFrame: Bool
  /// The index of the next slot that the producer fills.
  @usableFromInline let head: UnsafeAtomic<Int>
  /// The index of the next slot that the consumer empties.
  @usableFromInline let tail: UnsafeAtomic<Int>
  /// 0: the consumer is awake; 1: its thread sleeps on this word; 2: its task is suspended.
  @usableFromInline let sleeping: UnsafeAtomic<UInt32>
  /// The frames dropped since the ring was created.
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
    // Zero bytes are a valid initial representation of each of these atomics.
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
    // Both ends are released, so no other thread accesses the slots any more.
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

  /// Wakes the consumer if it sleeps. Call after publishing.
  @inlinable @inline(__always)
  func wakeIfSleeping() {
    // The publication must be visible before the read of `sleeping`. The consumer writes `sleeping`
    // before its last check of the ring, so one of the two sees the other. A fence would be the
    // most expensive part of a frame. So `announceSleep` runs the fence of both threads, and here
    // only the compiler has to keep the order.
    if fencesEachFrame {
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    } else {
      cuwb_compiler_barrier()
    }
    if sleeping.load(ordering: .relaxed) != 0 { wake() }
  }

  /// Announces that the consumer is going to sleep. Each later publication wakes it; each earlier
  /// one is visible in the ring after this call.
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

  /// Ends the ring. Callable from any thread.
  func finish() {
    finished.store(true, ordering: .releasing)
    wakeIfSleeping()
  }
}
