// SPDX-License-Identifier: Apache-2.0
public import Atomics
internal import CUWB
internal import DequeModule
internal import Locking

/// A lock-free ring of frame slots between one producing and one consuming thread.
///
/// `make` gives the two ends; each is moved into the thread that owns it, so that there cannot be a
/// second producer or consumer. Each end keeps its own index and a copy of the other's, which is
/// read again only when the copy says "full" or "empty".
///
/// When the ring is full nothing is lost silently. A frame that may be dropped is dropped (the
/// newest, never the oldest), counted, and the next frame that gets through says how many are
/// missing before it. A frame that must be kept goes to an overflow list on the heap, behind
/// everything in the ring; until the consumer has caught up, so do the kept frames after it, and
/// droppable ones are dropped, so the order never changes. The producer never waits.
public enum FrameRing {
  /// Bytes a slot holds: a control packet of 259 bytes, eight two-way measurements (277 bytes)
  /// and a vendor tail behind them. Longer frames travel on the heap, named by their slot.
  public static let slotCapacity = 480

  /// The two ends of a new ring.
  ///
  /// - Parameter capacity: slots; rounded up to a power of two, at least 2.
  public static func make(capacity: Int = 128) -> Ends {
    let storage = FrameRingStorage(capacity: capacity)
    return Ends(
      producer: FrameProducer(storage), consumer: FrameConsumer(storage))
  }

  /// Both ends, to be taken apart.
  @frozen public struct Ends: ~Copyable, Sendable {
    /// For the thread that has the frames.
    public var producer: FrameProducer
    /// For the thread that wants them.
    public var consumer: FrameConsumer
  }

  /// What any thread may do with a ring, whoever uses its ends meanwhile.
  package struct Control: Sendable {
    let storage: FrameRingStorage

    /// No frame will follow: the consumer ends when it has taken what is there.
    package func finish() { storage.finish() }

    /// Frames dropped so far because the ring was full.
    package var dropped: Int { storage.dropped.load(ordering: .relaxed) }
  }
}

/// What stands before the bytes in each slot.
@usableFromInline
struct SlotHeader {
  /// Bytes of the frame.
  @usableFromInline var length: UInt32
  /// Frames that were dropped between the frame before this one and this one.
  @usableFromInline var lostBefore: UInt32
  /// When the frame was read: CLOCK_MONOTONIC, nanoseconds.
  @usableFromInline var receivedAt: UInt64
  /// Where the bytes are when they do not fit into the slot; freed by the consumer.
  @usableFromInline var outside: UnsafeMutableRawPointer?
  /// What the producer says of the frame.
  @usableFromInline var tag: UInt32
  @usableFromInline var padding: UInt32 = 0

  @usableFromInline
  init(
    length: Int, lostBefore: UInt32, receivedAt: UInt64, tag: UInt32,
    outside: UnsafeMutableRawPointer?
  ) {
    self.length = UInt32(truncatingIfNeeded: length)
    self.lostBefore = lostBefore
    self.receivedAt = receivedAt
    self.tag = tag
    self.outside = outside
  }
}

/// The memory of a ring, alive as long as one of its ends.
@usableFromInline
final class FrameRingStorage: @unchecked Sendable {
  // Sound: `head` and the slots up to it are written by the producer only, `tail` by the consumer
  // only, each published with release and read with acquire; everything else is atomic or locked.

  @usableFromInline static let stride = 512
  @usableFromInline static let bytesOffset = 32
  // Two cache lines apart, for processors that fetch lines in pairs.
  private static let line = 128

  @usableFromInline let memory: UnsafeMutableRawPointer
  @usableFromInline let mask: Int
  /// Next slot the producer fills.
  @usableFromInline let head: UnsafeAtomic<Int>
  /// Next slot the consumer empties.
  @usableFromInline let tail: UnsafeAtomic<Int>
  /// 0: the consumer is awake; 1: its thread sleeps on this word; 2: its task is suspended.
  @usableFromInline let sleeping: UnsafeAtomic<UInt32>
  /// Frames dropped since the ring was made.
  let dropped: UnsafeAtomic<Int>
  @usableFromInline let overflowCount: UnsafeAtomic<Int>
  let finished: UnsafeAtomic<Bool>
  let interrupted: UnsafeAtomic<Bool>

  struct Overflown {
    var bytes: [UInt8]
    var receivedAt: UInt64
    var lostBefore: UInt32
    var tag: UInt32
  }
  let overflow = Locked<Deque<Overflown>>([])
  let continuation = Locked<UnsafeContinuation<Void, Never>?>(nil)

  @usableFromInline
  var slots: UnsafeMutableRawPointer { memory + 4 * Self.line }

  init(capacity: Int) {
    var size = 2
    while size < capacity { size *= 2 }
    mask = size - 1
    let bytes = 4 * Self.line + size * Self.stride
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: Self.line)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
    self.memory = memory
    // Zero bytes are the valid initial representation of each of these atomics.
    func atomic<T>(_ offset: Int, _ type: T.Type) -> UnsafeAtomic<T> {
      UnsafeAtomic(
        at: (memory + offset).bindMemory(to: UnsafeAtomic<T>.Storage.self, capacity: 1))
    }
    head = atomic(0, Int.self)
    dropped = atomic(8, Int.self)
    tail = atomic(Self.line, Int.self)
    sleeping = atomic(2 * Self.line, UInt32.self)
    overflowCount = atomic(3 * Self.line, Int.self)
    finished = atomic(3 * Self.line + 8, Bool.self)
    interrupted = atomic(3 * Self.line + 9, Bool.self)
  }

  deinit {
    // Both ends are gone, so nobody else looks at the slots any more.
    for index in tail.load(ordering: .relaxed)..<head.load(ordering: .relaxed) {
      let slot = slots + (index & mask) * Self.stride
      if let outside = slot.load(as: SlotHeader.self).outside {
        outside.deallocate()
      }
    }
    memory.deallocate()
  }

  // MARK: sleeping

  /// Wakes the consumer if it sleeps. Called after something was published.
  @inlinable @inline(__always)
  func wakeIfSleeping() {
    // The publication must be visible before the look at `sleeping`, as the consumer writes
    // `sleeping` before its last look at the ring: one of the two sees the other.
    fullFence()
    if sleeping.load(ordering: .relaxed) != 0 { wake() }
  }

  @usableFromInline @inline(never)
  func wake() {
    switch sleeping.exchange(0, ordering: .acquiringAndReleasing) {
    case 1: cuwb_futex_wake(sleepingWord)
    case 2: continuation.withLock { $0.take() }?.resume()
    default: break
    }
  }

  var sleepingWord: UnsafeMutablePointer<UInt32> {
    (memory + 2 * Self.line).assumingMemoryBound(to: UInt32.self)
  }

  /// No frame will follow. Any thread.
  func finish() {
    finished.store(true, ordering: .releasing)
    wakeIfSleeping()
  }
}
