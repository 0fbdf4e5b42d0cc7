// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import System
import Ranging
import SystemPackage

/// Runs commands of the shell, one after the other, on a thread of its own.
///
/// What a command is told is in its environment, never in its text. Each has a process group of its own,
/// reads nothing, and prints to standard error. One that takes too long is ended with its group. At most
/// 16 wait; those that come then are not run.
final class CommandRunner: Sendable {
  struct Job: Sendable {
    var option: String
    var command: String
    var values: [String: String]
    var region: String
    var change: RegionChange.Kind
  }

  enum Outcome: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)
    case tookTooLong
    case notStarted(Errno)
    /// Too many were waiting, or the program was about to end.
    case dropped
  }

  struct Ended: Sendable {
    var job: Job
    var outcome: Outcome
  }

  private struct State {
    var waiting = 0
    /// When the last command has to have ended.
    var end: ContinuousClock.Instant?
  }

  private static let capacity = 16
  /// Between the request to end and the end.
  private static let grace = DispatchTimeInterval.seconds(1)

  private let limit: Duration
  private let report = Locked<(@Sendable (Ended) -> Void)?>(nil)
  private let queue = DispatchQueue(label: "commands")
  private let state = Locked(State())

  init(limit: Duration) { self.limit = limit }

  /// Calls `body` with the end of each command, on the thread of the commands.
  func report(to body: @escaping @Sendable (Ended) -> Void) {
    report.withLock { $0 = body }
  }

  /// Runs a command after those before it. Does not wait.
  func run(_ job: Job) {
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

  /// Waits until the commands have ended, those that wait included, all together for as long as one of
  /// them may take.
  func finish() async {
    state.withLock { $0.end = .now + limit }
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume() }
    }
  }

  private func execute(_ job: Job, within time: Duration) -> Outcome {
    let process: pid_t
    do throws(Errno) { process = try Self.start(job) } catch { return .notStarted(error) }
    // Under a lock: when this process has been reaped, another one may get its number.
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
    var ended = siginfo_t()
    while waitid(P_PID, id_t(process), &ended, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let isLate = running.withLock { state in
      state.isRunning = false
      return state.isLate
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    if isLate { return .tookTooLong }
    return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
  }

  private static func start(_ job: Job) throws(Errno) -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    posix_spawnattr_setpgroup(&attributes, 0)
    // This program ignores it, and threads of Dispatch block others.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, 2, 1)
    let arguments = cStrings(["sh", "-c", job.command])
    let environment = cStrings(Self.environment(with: job.values))
    defer { for text in arguments + environment { free(text) } }
    var process: pid_t = 0
    let error = posix_spawn(
      &process, "/bin/sh", &actions, &attributes, arguments, environment)
    guard error == 0 else { throw Errno(rawValue: error) }
    return process
  }

  private static func cStrings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    texts.map { strdup($0) } + [nil]
  }

  /// That of this program, in which these values replace those of a program around it.
  private static func environment(with values: [String: String]) -> [String] {
    let ours: Set = [
      "UWB_EVENT", "UWB_CAUSE", "UWB_REGION", "UWB_PEER", "UWB_APP", "UWB_DISTANCE_M",
      "UWB_DEVIATION_M", "UWB_AZIMUTH_DEG", "UWB_ELEVATION_DEG", "UWB_INSIDE_S",
    ]
    var list: [String] = []
    var next = environ
    while let text = next.pointee {
      let entry = String(cString: text)
      if !ours.contains(String(entry.prefix { $0 != "=" })) { list.append(entry) }
      next += 1
    }
    return list + values.map { "\($0)=\($1)" }.sorted()
  }
}

extension CommandRunner.Outcome {
  /// As shells have it; nil: the command was not run.
  var status: Int32? {
    switch self {
    case .exited(let status): status
    case .killed(let signal): 128 + signal
    case .tookTooLong: 128 + SIGTERM
    case .notStarted, .dropped: nil
    }
  }
}

extension CommandRunner.Ended {
  /// What is said of a command that did not end well; nil: it did.
  var complaint: String? {
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
