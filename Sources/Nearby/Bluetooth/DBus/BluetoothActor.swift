// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System

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
    // As in `MainActor.assumeIsolated`: isolation does not change the calling convention.
    withoutActuallyEscaping(body) { unsafe unsafeBitCast($0, to: (() -> Void).self)() }
  }
}

/// A source of events that the thread waits for between its jobs.
@BluetoothActor protocol EventSource: AnyObject {
  /// Prepares for the next wait.
  ///
  /// - Returns: the descriptor, the events of poll(2), and a deadline in microseconds of
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
  /// A pipe whose write end wakes the thread.
  private let wakeEnds: (read: Int32, write: Int32)

  private init() {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { preconditionFailure("no pipe could be made: \(errno)") }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    wakeEnds = (ends[0], ends[1])
    start()
  }

  private func start() {
    var id = pthread_t()
    let failed = withSignalsBlocked {
      unsafe pthread_create(
        &id, nil,
        { _ in
          EventThread.shared.run()
        }, nil)
    }
    precondition(failed == 0, "no thread could be made: \(failed)")
    pthread_detach(id)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isFirst = state.withLock { state in
      state.jobs.append(job)
      return state.jobs.count == 1
    }
    guard isFirst else { return }
    // A full pipe wakes the thread as well.
    var byte: UInt8 = 0
    _ = unsafe write(wakeEnds.write, &byte, 1)
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
      while true {
        let jobs = state.withLock { state in
          defer { state.jobs = [] }
          return state.jobs
        }
        guard !jobs.isEmpty else { break }
        for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
      }
      BluetoothActor.assumeIsolated { EventSources.wait(waking: self.wakeEnds.read) }
    }
  }
}

/// The event sources of the thread.
@BluetoothActor enum EventSources {
  private static var sources: [any EventSource] = []

  static func add(_ source: some EventSource) { sources.append(source) }

  static func remove(_ source: some EventSource) { sources.removeAll { $0 === source } }

  /// The current time of CLOCK_MONOTONIC in microseconds.
  private static var now: UInt64 {
    nanoseconds(of: CLOCK_MONOTONIC) / 1_000
  }

  /// Waits for events or a deadline, and calls the sources that are ready.
  static func wait(waking descriptor: Int32) {
    var entries = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
    var waiting: [(source: any EventSource, deadline: UInt64?)] = []
    for source in sources {
      guard let (descriptor, events, deadline) = source.prepare() else { continue }
      entries.append(pollfd(fd: descriptor, events: events, revents: 0))
      waiting.append((source, deadline))
    }
    let first = waiting.compactMap(\.deadline).min()
    let before = now
    let timeout = first.map { $0 > before ? Int32(clamping: ($0 - before + 999) / 1_000) : 0 }
    guard unsafe poll(&entries, nfds_t(entries.count), timeout ?? -1) >= 0 else { return }
    if entries[0].revents != 0 {
      var buffer = [UInt8](repeating: 0, count: 64)
      while unsafe read(descriptor, &buffer, buffer.count) > 0 {}
    }
    let after = now
    for (entry, (source, deadline)) in zip(entries.dropFirst(), waiting) {
      let isDue = deadline.map { $0 <= after } ?? false
      // A source before this one may have removed it.
      guard entry.revents != 0 || isDue, sources.contains(where: { $0 === source }) else {
        continue
      }
      source.ready(entry.revents)
    }
  }
}
