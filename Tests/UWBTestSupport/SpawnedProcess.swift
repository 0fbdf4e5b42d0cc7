// SPDX-License-Identifier: Apache-2.0
private import CUWBTestSupport
internal import Glibc
private import Synchronization

/// Another program. Foundation's `Process` reads past the end of a buffer when the process that starts
/// it has more than about 1,300 descriptors open, as this one may have while tests run in parallel.
package final class SpawnedProcess: Sendable {
  /// What the program could not be started for.
  package struct Failure: Error {
    package let path: String
    package let code: Int32
  }

  package let processIdentifier: Int32
  /// As `waitpid` has it; nil until the process has been waited for.
  private let status = Mutex<Int32?>(nil)

  /// - Parameters:
  ///   - path: Of the program, or its name in PATH. It has the default action for each signal, blocks none, and leads a
  ///     process group.
  ///   - environment: What differs from this process; nil removes a variable.
  ///   - standardInput: A descriptor; nil: `/dev/null`. So for the others, of which nil leaves the
  ///     one of this process.
  package init(
    _ path: String, _ arguments: [String], environment changes: [String: String?] = [:],
    in folder: String? = nil, standardInput: Int32? = nil, standardOutput: Int32? = nil,
    standardError: Int32? = nil
  ) throws {
    var variables: [String] = []
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if !changes.keys.contains(String(text.prefix { $0 != "=" })) { variables.append(text) }
      next += 1
    }
    variables += changes.compactMap { name, value in value.map { "\(name)=\($0)" } }

    let words = ([path] + arguments).map { strdup($0) } + [nil]
    let settings = variables.map { strdup($0) } + [nil]
    defer { for text in words + settings { free(text) } }
    var pid: pid_t = 0
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(null) }
    let standard: [Int32] = [standardInput ?? null, standardOutput ?? -1, standardError ?? -1]
    let code = cuwb_test_spawn(&pid, path, words, settings, folder, standard)
    guard code == 0 else { throw Failure(path: path, code: code) }
    processIdentifier = pid
  }

  deinit { _ = reap(WNOHANG) }

  package var isRunning: Bool { reap(WNOHANG) == nil }

  /// Its exit status, or 128 and the signal that ended it. Waits for its end.
  package var terminationStatus: Int32 {
    waitUntilExit()
    let status = reap(0) ?? 0
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }

  /// Whether a signal ended it, and not the program itself. Waits for its end.
  package var wasEndedBySignal: Bool {
    waitUntilExit()
    return (reap(0) ?? 0) & 0x7F != 0
  }

  package func waitUntilExit() {
    // Outside of the lock, and leaving the process to be waited for, so that signals can be sent.
    while status.withLock({ $0 }) == nil {
      var information = siginfo_t()
      if waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) == 0 { break }
      if errno != EINTR { break }
    }
    _ = reap(0)
  }

  package func interrupt() { send(SIGINT) }
  package func terminate() { send(SIGTERM) }

  /// Sends a signal unless the process has been waited for: its number may be another's by then.
  package func send(_ signal: Int32) {
    status.withLock { if $0 == nil { kill(processIdentifier, signal) } }
  }

  private func reap(_ options: Int32) -> Int32? {
    status.withLock { known in
      if known == nil {
        var status: Int32 = 0
        if waitpid(processIdentifier, &status, options) == processIdentifier { known = status }
      }
      return known
    }
  }
}
