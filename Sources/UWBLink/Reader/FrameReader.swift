// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import DequeModule
internal import Glibc
internal import Locking
internal import Synchronization

/// The thread that reads a link.
///
/// It sleeps in one poll(2), reads what is there with one read(2), and lends each frame to the
/// handler in place. That is the cheapest way to get a frame: no wake beyond the kernel's own. The
/// handler must not wait for anything, because nothing else is read meanwhile.
///
/// The thread also runs the tasks that prefer it as their executor, between frames:
/// `Task(executorPreference: reader)`. Such a task gets an element of an async sequence fed by the
/// handler without a wake of another thread.
public final class FrameReader: TaskExecutor, @unchecked Sendable {
  // Sound: `handler` and `ended` do not change; `landing` belongs to the thread; the rest is atomic
  // or locked.

  /// Sees each frame, header included, on the reader's thread.
  public typealias Handler = @Sendable (RawSpan, FrameInfo) -> Void

  private struct Links {
    /// What is read from; nil when it has ended.
    var current: Link?
    /// What is read from next.
    var next: Link?
    var framing: Link.Framing?
    var framingIsNew = false
  }

  private let links: Locked<Links>
  private let staysForNextLink: Bool
  private let nap = Nap()
  private let handler: Handler
  private let ended: @Sendable (LinkError) -> Void
  private let jobs = Locked<Deque<UnownedJob>>([])
  private let jobCount = Atomic<Int>(0)
  private let stopping = Atomic<Bool>(false)
  private let gone = Atomic<Bool>(false)
  private let thread = Locked<pthread_t?>(nil)
  private var landing: UnsafeMutableRawBufferPointer

  /// Prepares a reader; `start` starts it.
  ///
  /// - Parameters:
  ///   - staysForNextLink: the thread outlives the link, runs tasks, and goes on with the link that
  ///     `attach` gives it.
  ///   - handler: sees each frame.
  ///   - ended: called once for each link, on the reader's thread, when the link ends by itself;
  ///     not after `stop`.
  public init(
    _ link: Link, staysForNextLink: Bool = false, handler: @escaping Handler,
    ended: @escaping @Sendable (LinkError) -> Void
  ) {
    links = Locked(Links(current: link))
    self.staysForNextLink = staysForNextLink
    self.handler = handler
    self.ended = ended
    landing = .allocate(byteCount: 512, alignment: 16)
    jobs.withLock { $0.reserveCapacity(64) }
  }

  deinit { landing.deallocate() }

  /// Starts the thread. Once.
  public func start() {
    thread.withLock { thread in
      precondition(thread == nil, "a reader is started once")
      var id = pthread_t()
      let context = Unmanaged.passRetained(self).toOpaque()
      let failed = pthread_create(
        &id, nil,
        { context in
          Unmanaged<FrameReader>.fromOpaque(context!).takeRetainedValue().run()
          return nil
        }, context)
      precondition(failed == 0, "no thread could be created (error \(failed))")
      thread = id
    }
  }

  /// Ends the thread and waits for it, except when called on it.
  public func stop() {
    stopping.store(true, ordering: .releasing)
    wake()
    guard let id = thread.withLock({ $0.take() }) else { return }
    if pthread_equal(id, pthread_self()) != 0 {
      pthread_detach(id)
    } else {
      pthread_join(id, nil)
    }
  }

  /// Whether the caller runs on the reader's thread.
  public var isCurrent: Bool {
    thread.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  /// Changes how frames are told apart, from the next one on. Any thread.
  public func setFraming(_ framing: Link.Framing) {
    links.withLock {
      $0.framing = framing
      $0.framingIsNew = true
    }
    wake()
  }

  /// Goes on with another link, framed as the last one. The link before is let go of, whether it
  /// has ended or not; `ended` is not called for it then. Any thread.
  public func attach(_ link: Link) {
    precondition(staysForNextLink, "this reader ends with its link")
    guard !stopping.load(ordering: .acquiring) else { return }
    links.withLock { $0.next = link }
    wake()
  }

  /// Lets go of the link without waiting for its end; `ended` is not called for it. Any thread.
  public func detach() {
    precondition(staysForNextLink, "this reader ends with its link")
    links.withLock { links in
      if let link = links.current { cuwb_link_wake(link.raw) }
      links.current = nil
      links.next = nil
    }
  }

  private func wake() {
    // Under the lock, so that the link is still there.
    let reads = links.withLock { links in
      if let link = links.current { cuwb_link_wake(link.raw) }
      return links.current != nil
    }
    if !reads { nap.wake() }
  }

  // MARK: the thread

  private func run() {
    cuwb_name_thread("uwb-reader")
    while !stopping.load(ordering: .acquiring) {
      if let link = nextLink() {
        guard let error = read(link), isLost(link) else { continue }
        ended(error)
        if !staysForNextLink { break }
      } else {
        nap.sleep()
      }
      runJobs()
    }
    // Whoever keeps the reader must not keep the port.
    links.withLock { links in
      links.current = nil
      links.next = nil
    }
    retire()
  }

  /// The link to read from now, framed like the one before.
  private func nextLink() -> Link? {
    let (link, framing) = links.withLock { links -> (Link?, Link.Framing?) in
      guard let next = links.next.take() else { return (links.current, nil) }
      links.current = next
      return (next, links.framing)
    }
    if let link, let framing { link.setFraming(framing) }
    return link
  }

  /// Lets go of a link that has ended; false when it is no longer the one that counts.
  private func isLost(_ link: Link) -> Bool {
    links.withLock { links in
      guard links.current === link, links.next == nil else { return false }
      links.current = nil
      return true
    }
  }

  /// Reads until the link ends, and says why; nil when there is something else to do first.
  private func read(_ link: Link) -> LinkError? {
    var frame = cuwb_frame()
    while true {
      runJobs()
      if stopping.load(ordering: .acquiring) { return nil }
      let result = cuwb_read_frame(
        link.raw, landing.baseAddress!, landing.count, -1, &frame)
      switch result.outcome {
      case CUWB_OK:
        handler(
          UnsafeRawBufferPointer(start: landing.baseAddress!, count: Int(frame.length)).bytes,
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
        // Data and large vendor frames: the landing place grows once and stays.
        landing.deallocate()
        landing = .allocate(byteCount: Int(frame.length), alignment: 16)
      default:
        return LinkError(result, endpoint: link.endpoint)
      }
    }
  }

  /// Runs what is left; from now on jobs go elsewhere.
  private func retire() {
    jobs.withLock { _ in gone.store(true, ordering: .releasing) }
    runJobs()
  }

  private func runJobs() {
    while jobCount.load(ordering: .acquiring) > 0 {
      let job = jobs.withLock { list in
        let job = list.popFirst()
        jobCount.store(list.count, ordering: .releasing)
        return job
      }
      job?.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  // MARK: executor

  /// Runs a job of a task that prefers this executor. Once the thread has ended, on the global one.
  public func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    let queued = jobs.withLock { list in
      guard !gone.load(ordering: .acquiring) else { return false }
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
