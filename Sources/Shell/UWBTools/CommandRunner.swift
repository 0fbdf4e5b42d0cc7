// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
package import Ranging
import System
package import SystemPackage

/// Runs shell commands one after the other, on a thread of its own.
///
/// Values for a command are in its environment, never in its text. Each command has its own process
/// group and no input, and prints to standard error. A command that exceeds its time limit is ended
/// with its group. At most 16 commands wait; further ones are dropped.
package final class CommandRunner: Sendable {
  package struct Job: Sendable {
    package var option: String
    package var command: String
    package var values: [String: String]
    package var region: String
    package var change: RegionChange.Kind

    package init(
      option: String, command: String, values: [String: String], region: String,
      change: RegionChange.Kind
    ) {
      (self.option, self.command, self.values) = (option, command, values)
      (self.region, self.change) = (region, change)
    }
  }

  package enum Outcome: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)
    case tookTooLong
    case notStarted(Errno)
    /// The command was dropped: too many waited, or the program was about to exit.
    case dropped
  }

  package struct Ended: Sendable {
    package var job: Job
    package var outcome: Outcome
  }

  private struct State {
    var waiting = 0
    /// The deadline for the last command.
    var end: ContinuousClock.Instant?
  }

  private static let capacity = 16
  /// The time between the ending signal and SIGKILL.
  private static let grace = DispatchTimeInterval.seconds(1)

  private let limit: Duration
  private let report = Locked<(@Sendable (Ended) -> Void)?>(nil)
  private let queue = DispatchQueue(label: "commands")
  private let state = Locked(State())

  package init(limit: Duration) { self.limit = limit }

  /// Sets the handler for the end of each command. The thread of the commands calls the handler.
  package func report(to body: @escaping @Sendable (Ended) -> Void) {
    report.withLock { $0 = body }
  }

  /// Queues a command. Does not wait.
  package func run(_ job: Job) {
    let isAccepted = state.withLock { state in
      guard state.waiting < Self.capacity else { return false }
      state.waiting += 1
      return true
    }
    queue.async { [self] in
      guard isAccepted else { return ended(job, .dropped) }
      let time = state.withLock { state in
        state.waiting -= 1
        return min(limit, state.end.map { ContinuousClock.now.duration(to: $0) } ?? limit)
      }
      ended(job, time > .zero ? execute(job, within: time) : .dropped)
    }
  }

  private func ended(_ job: Job, _ outcome: Outcome) {
    report.withLock { $0 }?(Ended(job: job, outcome: outcome))
  }

  /// Waits until all queued commands have ended, at most for the time limit of a single command.
  package func finish() async {
    state.withLock { $0.end = .now + limit }
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume() }
    }
  }

  private func execute(_ job: Job, within time: Duration) -> Outcome {
    let process: pid_t
    do throws(Errno) { process = try Self.start(job) } catch { return .notStarted(error) }
    // The lock prevents a signal to a process that has been reaped: the kernel may reuse its ID.
    let running = Locked((isRunning: true, isLate: false))
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "command limit"))
    let nanoseconds = Int(time / .nanoseconds(1))
    timer.schedule(deadline: .now() + .nanoseconds(nanoseconds), repeating: Self.grace)
    timer.setEventHandler {
      running.withLock { state in
        guard state.isRunning else { return }
        kill(-process, state.isLate ? SIGKILL : SIGTERM)
        state.isLate = true
      }
    }
    timer.resume()
    defer { timer.cancel() }
    var ended = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(process), &ended, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let isLate = running.withLock { state in
      state.isRunning = false
      return state.isLate
    }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    if isLate { return .tookTooLong }
    return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
  }

  private static func start(_ job: Job) throws(Errno) -> pid_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    // The child must not inherit that this program ignores SIGPIPE, and Dispatch's threads block
    // other signals.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, 2, 1)
    let arguments = unsafe cStrings(["sh", "-c", job.command])
    let environment = unsafe cStrings(Self.environment(with: job.values))
    defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
    var process: pid_t = 0
    let error = unsafe posix_spawn(
      &process, "/bin/sh", &actions, &attributes, arguments, environment)
    guard error == 0 else { throw Errno(rawValue: error) }
    return process
  }

  private static func cStrings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    unsafe texts.map { unsafe strdup($0) } + [nil]
  }

  /// Returns this program's environment, in which `values` replace variables with the same names.
  private static func environment(with values: [String: String]) -> [String] {
    let ours: Set = [
      "UWB_EVENT", "UWB_CAUSE", "UWB_REGION", "UWB_PEER", "UWB_APP", "UWB_DISTANCE_M",
      "UWB_DEVIATION_M", "UWB_AZIMUTH_DEG", "UWB_ELEVATION_DEG", "UWB_INSIDE_S",
    ]
    var list: [String] = []
    var next = unsafe environ
    while let text = unsafe next.pointee {
      let entry = unsafe String(cString: text)
      if !ours.contains(String(entry.prefix { $0 != "=" })) { list.append(entry) }
      unsafe next += 1
    }
    return list + values.map { "\($0)=\($1)" }.sorted()
  }
}

extension CommandRunner.Outcome {
  /// The exit status as shells report it; nil if the command did not run.
  package var status: Int32? {
    switch self {
    case .exited(let status): status
    case .killed(let signal): 128 + signal
    case .tookTooLong: 128 + SIGTERM
    case .notStarted, .dropped: nil
    }
  }
}

extension CommandRunner.Ended {
  /// The description of a failed command; nil after success.
  package var complaint: String? {
    switch outcome {
    case .exited(0): nil
    case .exited(let status): "the command of \(job.option) ended with status \(status)"
    case .killed(let signal): "the command of \(job.option) was ended by signal \(signal)"
    case .tookTooLong: "the command of \(job.option) took too long and was ended"
    case .notStarted(let error): "the command of \(job.option) could not be started: \(error)"
    case .dropped: "the command of \(job.option) was not run: others took too long"
    }
  }
}
