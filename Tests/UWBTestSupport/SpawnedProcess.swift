// SPDX-License-Identifier: Apache-2.0
private import CUWBTestSupport
private import Foundation
internal import Glibc
private import System

/// Another program, started without Foundation's `Process`.
///
/// `Process` reads past the end of a buffer when the starting process has more than about 1,300
/// descriptors open. The process of the tests may have more, because tests run in parallel.
package final class SpawnedProcess: Sendable {
  /// The program that could not be started.
  package struct Failure: Error {
    package let path: String
    package let code: Int32
  }

  package let processIdentifier: Int32
  private let state = State()

  /// The state that the process shares with its waiting thread. The thread waits from the start,
  /// because Swift Testing does not detect the end of an exit test while another process waits to
  /// be reaped.
  private final class State: Sendable {
    /// The status in the form of `waitpid`; nil until the process has ended.
    let status = Locked<Int32?>(nil)
    let end = DispatchGroup()
  }

  /// The running processes. Each is ended at the end of this program.
  private static let running: Locked<Set<Int32>> = {
    atexit { SpawnedProcess.running.withLock { for pid in $0 { kill(-pid, SIGKILL) } } }
    return Locked([])
  }()

  /// - Parameters:
  ///   - path: The path of the program, or its name in PATH. The program has the default action for
  ///     each signal, blocks none, and leads a process group.
  ///   - environment: The differences from this process; nil removes a variable.
  ///   - standardInput: A descriptor; nil is `/dev/null`. For the other two, nil is the descriptor
  ///     of this process.
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
    var number: pid_t = 0
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(null) }
    let standard: [Int32] = [standardInput ?? null, standardOutput ?? -1, standardError ?? -1]
    let code = cuwb_test_spawn(&number, path, words, settings, folder, standard)
    guard code == 0 else { throw Failure(path: path, code: code) }
    let pid = number
    processIdentifier = pid
    Self.running.withLock { _ = $0.insert(pid) }
    // The waiting thread is not Dispatch's, which has too few threads for all programs and their
    // waiting tests.
    state.end.enter()
    Thread.detachNewThread { [state] in
      // The process is not reaped yet, so that no signal reaches another process with its number.
      var information = siginfo_t()
      while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
      state.status.withLock { known in
        var status: Int32 = 0
        // Until the process is reaped, no other process has its number.
        Self.running.withLock { _ = $0.remove(pid) }
        waitpid(pid, &status, 0)
        known = status
      }
      state.end.leave()
    }
  }

  /// Ends the process.
  deinit { send(SIGKILL) }

  package var isRunning: Bool { state.status.withLock { $0 == nil } }

  /// The exit status, or 128 plus the signal that ended the process. Waits for the end.
  package var terminationStatus: Int32 {
    let status = waitForStatus()
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }

  /// Whether a signal ended the process. Waits for the end.
  package var wasEndedBySignal: Bool { waitForStatus() & 0x7F != 0 }

  package func waitUntilExit() { _ = waitForStatus() }

  /// Waits until the process has made a file, or has ended.
  package func wait(forFile path: String) {
    let descriptor = inotify_init1(Int32(IN_CLOEXEC))
    let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    inotify_add_watch(descriptor, folder, UInt32(IN_CREATE | IN_MOVED_TO))
    let changed = DispatchSemaphore(value: 0)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
    source.setEventHandler {
      var names = [UInt8](repeating: 0, count: 4_096)
      _ = read(descriptor, &names, names.count)
      changed.signal()
    }
    source.setCancelHandler { close(descriptor) }
    source.resume()
    state.end.notify(queue: .global()) { changed.signal() }
    while access(path, F_OK) != 0, isRunning { changed.wait() }
    source.cancel()
  }

  package func interrupt() { send(SIGINT) }
  package func terminate() { send(SIGTERM) }

  /// Sends a signal unless the process has ended: its number may then belong to another process.
  package func send(_ signal: Int32) {
    state.status.withLock { if $0 == nil { kill(processIdentifier, signal) } }
  }

  private func waitForStatus() -> Int32 {
    state.end.wait()
    return state.status.withLock { $0 } ?? 0
  }
}
