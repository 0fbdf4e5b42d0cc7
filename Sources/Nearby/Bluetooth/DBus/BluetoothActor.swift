// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Glibc
internal import System
internal import SystemPackage

/// The actor for D-Bus and the sockets of Bluetooth. It has one thread, because only one thread at
/// a time may use an sd-bus connection.
///
/// Code on this actor must not block: bluetoothd calls this program before it replies.
@globalActor package actor BluetoothActor {
  package static let shared = BluetoothActor()

  nonisolated package var unownedExecutor: UnownedSerialExecutor {
    unsafe EventThread.shared.asUnownedSerialExecutor()
  }

  /// Calls `body` synchronously. The caller must be on the thread of this actor.
  static func assumeIsolated(_ body: @BluetoothActor () -> Void) {
    shared.preconditionIsolated()
    withoutActuallyEscaping(body) { callOnThisExecutor($0) }
  }
}

/// A source of events that the thread waits for between its jobs.
@BluetoothActor protocol EventSource: AnyObject {
  /// Prepares for the next wait.
  ///
  /// - Returns: the descriptor, the events of poll(2), and a deadline in nanoseconds of
  ///   CLOCK_MONOTONIC; nil to wait for neither.
  func prepare() -> (descriptor: Int32, events: Int16, deadline: UInt64?)?
  /// Handles events, or a deadline that has passed.
  func ready(_ events: Int16)
}

/// The thread of `BluetoothActor`. It runs jobs, and waits for descriptors between them.
final class EventThread: SerialExecutor {
  static let shared = EventThread()

  private struct State {
    var jobs: [UnownedJob] = []
    var id: pthread_t?
  }
  private let state = Locked(State())
  private let pipe = WakePipe()
  /// The cause if the system has no thread or no pipe left. Jobs then run in `queue`, and
  /// `Bluetooth.open` throws.
  let failure: BluetoothError?
  private let queue = DispatchQueue(label: "bluetooth")

  private init() {
    guard pipe.readEnd >= 0 else {
      failure = BluetoothError(.system("The pipe of the Bluetooth thread", errno))
      return
    }
    do throws(ThreadFailure) {
      try SystemThread.start("bluetooth") { EventThread.shared.run() }
      failure = nil
    } catch {
      failure = BluetoothError(.system("The Bluetooth thread", error.errno.rawValue))
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isFirst = state.withLock { state in
      state.jobs.append(job)
      return state.jobs.count == 1
    }
    guard isFirst else { return }
    if failure == nil {
      pipe.wake()
    } else {
      queue.async {
        self.state.withLock { $0.id = pthread_self() }
        self.runJobs()
        self.state.withLock { $0.id = nil }
      }
    }
  }

  func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not on the thread of BluetoothActor")
  }

  func isIsolatingCurrentContext() -> Bool? {
    state.withLock { $0.id }.map { pthread_equal($0, pthread_self()) != 0 } ?? false
  }

  private func run() -> Never {
    state.withLock { $0.id = pthread_self() }
    while true {
      runJobs()
      BluetoothActor.assumeIsolated { EventSources.wait(waking: self.pipe) }
    }
  }

  private func runJobs() {
    while true {
      let jobs = state.withLock { state in
        defer { state.jobs = [] }
        return state.jobs
      }
      guard !jobs.isEmpty else { return }
      for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }
}

/// The event sources of the thread.
@BluetoothActor enum EventSources {
  private static var sources: [any EventSource] = []

  static func add(_ source: some EventSource) { sources.append(source) }

  static func remove(_ source: some EventSource) { sources.removeAll { $0 === source } }

  /// Waits for events or a deadline, and calls the sources that are ready.
  static func wait(waking pipe: WakePipe) {
    var entries: [pollfd] = []
    var waiting: [(source: any EventSource, deadline: UInt64?)] = []
    for source in sources {
      guard let (descriptor, events, deadline) = source.prepare() else { continue }
      entries.append(pollfd(fd: descriptor, events: events, revents: 0))
      waiting.append((source, deadline))
    }
    let first = waiting.compactMap(\.deadline).min()
    pipe.wait(&entries, until: first, now: nanoseconds(of: CLOCK_MONOTONIC))
    let after = nanoseconds(of: CLOCK_MONOTONIC)
    for (entry, (source, deadline)) in zip(entries, waiting) {
      let isDue = deadline.map { $0 <= after } ?? false
      // A source before this one may have removed it.
      guard entry.revents != 0 || isDue, sources.contains(where: { $0 === source }) else {
        continue
      }
      source.ready(entry.revents)
    }
  }
}
