// SPDX-License-Identifier: Apache-2.0
internal import Atomics
internal import CUWB
internal import DequeModule
package import System

/// The thread that reads a link.
///
/// It sleeps in one poll(2), reads the available bytes with one read(2), and passes each frame to
/// the handler in place. A frame therefore costs no wake beyond the kernel's own. The handler must
/// not block, because the thread reads nothing meanwhile.
///
/// Between frames, the thread also runs the tasks that prefer it as their executor:
/// `Task(executorPreference: reader)`. Such a task receives elements from the handler without the
/// wake of another thread.
@safe package final class FrameReader: TaskExecutor, @unchecked Sendable {
  // Safe because `handler` and `ended` do not change, `frameBuffer` belongs to the thread, and the
  // rest is atomic or locked.

  /// Handles each frame, with its header, on the reader thread.
  package typealias Handler = @Sendable (RawSpan, FrameInfo) -> Void

  private struct Links {
    /// The link that the thread reads; nil once it has ended.
    var current: Link?
    /// The link that the thread reads next.
    var next: Link?
    var framing: Link.Framing?
    var framingIsNew = false
  }

  private let links: Locked<Links>
  private let staysForNextLink: Bool
  private let wakeEvent = WakeEvent()
  private let handler: Handler
  private let ended: @Sendable (LinkError) -> Void
  private let jobs = Locked<Deque<UnownedJob>>([])
  private let jobCount = ManagedAtomic<Int>(0)
  private let stopping = ManagedAtomic<Bool>(false)
  private let retired = ManagedAtomic<Bool>(false)
  private let thread = Locked<SystemThread?>(nil)
  private var frameBuffer: UnsafeMutableRawBufferPointer

  /// Creates a reader; `start` starts it.
  ///
  /// - Parameters:
  ///   - staysForNextLink: Whether the thread outlives the link, runs tasks, and continues with the
  ///     link passed to `attach`.
  ///   - handler: Handles each frame.
  ///   - ended: Called once for each link, on the reader thread, when the link ends by itself; not
  ///     after `stop`.
  package init(
    _ link: Link, staysForNextLink: Bool = false, handler: @escaping Handler,
    ended: @escaping @Sendable (LinkError) -> Void
  ) {
    links = Locked(Links(current: link))
    self.staysForNextLink = staysForNextLink
    self.handler = handler
    self.ended = ended
    unsafe frameBuffer = .allocate(byteCount: 512, alignment: 16)
    jobs.withLock { $0.reserveCapacity(64) }
  }

  deinit { unsafe frameBuffer.deallocate() }

  /// Starts the thread. May be called once.
  ///
  /// - Parameter priority: Real-time priority (SCHED_FIFO), 1...99; nil for the scheduling of the
  ///   caller.
  /// - Throws: `LinkError` with code `threadUnavailable`; the reader has then released the link.
  package func start(priority: Int32? = nil) throws(LinkError) {
    do throws(LinkError) {
      try thread.withLock { thread throws(LinkError) in
        precondition(thread == nil, "a reader is started once")
        let name = links.withLock { $0.current?.endpoint.description ?? "a device" }
        do throws(ThreadFailure) {
          thread = try SystemThread.start("uwb-reader", priority: priority) { self.run() }
        } catch { throw LinkError(error, endpoint: name) }
      }
    } catch {
      retire()
      throw error
    }
  }

  /// Ends the thread, which releases its link. Returns at once.
  package func stop() {
    stopping.store(true, ordering: .releasing)
    wake()
  }

  /// A latch that opens when the thread has ended.
  package let stopped = Latch()

  /// Whether the caller runs on the reader thread.
  package var isCurrent: Bool { thread.withLock { $0?.isCurrent ?? false } }

  /// Changes the framing from the next frame on. Callable from any thread.
  package func setFraming(_ framing: Link.Framing) {
    links.withLock {
      $0.framing = framing
      $0.framingIsNew = true
    }
    wake()
  }

  /// Releases the current link, ended or not, and continues with another one in the same framing.
  /// Does not call `ended` for the previous link. Callable from any thread.
  package func attach(_ link: Link) {
    precondition(staysForNextLink, "this reader ends with its link")
    guard !stopping.load(ordering: .acquiring) else { return }
    links.withLock { $0.next = link }
    wake()
  }

  /// Releases the link without waiting for its end. Does not call `ended`. Callable from any
  /// thread.
  package func detach() {
    precondition(staysForNextLink, "this reader ends with its link")
    links.withLock { links in
      if let link = links.current { unsafe cuwb_link_wake(link.raw) }
      links.current = nil
      links.next = nil
    }
  }

  private func wake() {
    // The lock keeps the link alive.
    let reads = links.withLock { links in
      if let link = links.current { unsafe cuwb_link_wake(link.raw) }
      return links.current != nil
    }
    if !reads { wakeEvent.wake() }
  }

  // MARK: the thread

  private func run() {
    while !stopping.load(ordering: .acquiring) {
      if let link = nextLink() {
        guard let error = read(link), isLost(link) else { continue }
        ended(error)
        if !staysForNextLink { break }
      } else if jobCount.load(ordering: .acquiring) == 0 {
        wakeEvent.sleep()
      }
      runJobs()
    }
    retire()
  }

  /// Returns the link to read now, in the framing of the previous one.
  private func nextLink() -> Link? {
    let (link, framing) = links.withLock { links -> (Link?, Link.Framing?) in
      guard let next = links.next.take() else { return (links.current, nil) }
      links.current = next
      return (next, links.framing)
    }
    if let link, let framing { link.setFraming(framing) }
    return link
  }

  /// Releases a link that has ended; returns false if it has been replaced.
  private func isLost(_ link: Link) -> Bool {
    links.withLock { links in
      guard links.current === link, links.next == nil else { return false }
      links.current = nil
      return true
    }
  }

  /// Reads until the link ends, and returns the cause, or nil if the thread has other work first.
  private func read(_ link: Link) -> LinkError? {
    var frame = cuwb_frame()
    while true {
      runJobs()
      if stopping.load(ordering: .acquiring) { return nil }
      // A job that is added in the meantime waits for at most one poll of the link.
      let timeout: Int32 = jobCount.load(ordering: .acquiring) == 0 ? -1 : 0
      let result = unsafe cuwb_read_frame(
        link.raw, frameBuffer.baseAddress!, frameBuffer.count, timeout, &frame)
      switch result.outcome {
      case CUWB_OK:
        unsafe handler(
          UnsafeRawBufferPointer(start: frameBuffer.baseAddress!, count: Int(frame.length)).bytes,
          FrameInfo(receivedAt: frame.received_ns, skippedBefore: frame.skipped))
      case CUWB_WOKEN:
        let (rules, isReplaced) = links.withLock { links -> (Link.Framing?, Bool) in
          defer { links.framingIsNew = false }
          return (
            links.framingIsNew ? links.framing : nil, links.current !== link || links.next != nil
          )
        }
        if isReplaced { return nil }
        if let rules { link.setFraming(rules) }
      case CUWB_TIMEOUT:
        break
      case CUWB_TOO_LONG:
        // The frame is data or a large frame of a vendor. The buffer grows once and keeps its size.
        unsafe frameBuffer.deallocate()
        unsafe frameBuffer = .allocate(byteCount: Int(frame.length), alignment: 16)
      default:
        return LinkError(result, endpoint: link.endpoint)
      }
    }
  }

  /// Releases the link, and runs the remaining jobs. Later jobs run on the global executor.
  private func retire() {
    // A program that keeps the reader must not keep the port open.
    links.withLock { links in
      links.current = nil
      links.next = nil
    }
    jobs.withLock { _ in retired.store(true, ordering: .releasing) }
    runJobs()
    thread.withLock { $0 = nil }
    stopped.open()
  }

  /// Runs the jobs queued at the time of the call. Jobs that they add run after the next frame, so
  /// that a task that yields in a loop does not block reading.
  private func runJobs() {
    var left = jobCount.load(ordering: .acquiring)
    while left > 0 {
      let job = jobs.withLock { list in
        let job = list.popFirst()
        jobCount.store(list.count, ordering: .releasing)
        return job
      }
      unsafe job?.runSynchronously(on: asUnownedTaskExecutor())
      left -= 1
    }
  }

  // MARK: executor

  /// Runs a job of a task that prefers this executor, or on the global executor once the thread has
  /// ended.
  package func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    let queued = jobs.withLock { list in
      guard !retired.load(ordering: .acquiring) else { return false }
      list.append(unowned)
      jobCount.store(list.count, ordering: .releasing)
      return true
    }
    if !queued {
      globalConcurrentExecutor.enqueue(unowned)
    } else if !isCurrent {
      wake()
    }
  }
}
