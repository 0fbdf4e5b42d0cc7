// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A program whose standard output is read line by line.
struct ChildProcess {
  let pid: pid_t
  let output: Int32
  private var buffer = LineBuffer()
  private(set) var hasEnded = false

  /// Starts a program that is found in PATH.
  init(_ arguments: [String]) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { fail("no pipe: \(lastError)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var pid = pid_t()
    let code = posix_spawnp(&pid, arguments[0], &actions, nil, &words, environ)
    guard code == 0 else { fail("\(arguments[0]): \(String(cString: strerror(code)))") }
    close(ends[1])
    (self.pid, output) = (pid, ends[0])
  }

  /// Returns the next lines, or none after `milliseconds` without output. At the end of the output,
  /// sets `hasEnded`.
  mutating func lines(within milliseconds: Int32) -> [String] {
    var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard !hasEnded, poll(&waiting, 1, milliseconds) > 0 else { return [] }
    guard let lines = buffer.lines(from: output) else {
      hasEnded = true
      return []
    }
    return lines
  }

  /// The resources that a process holds.
  struct Resources {
    var descriptors: Int
    var threads: Int
    /// Private memory, in kB.
    var memory: Int
  }

  /// Returns its current resources.
  var resources: Resources {
    let status = text(of: "/proc/\(pid)/status") ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    let memory = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    return Resources(
      descriptors: Self.count("/proc/\(pid)/fd"), threads: Self.count("/proc/\(pid)/task"),
      memory: memory ?? -1)
  }

  /// Waits for its end. Returns its exit status, or 128 plus the signal.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  private static func count(_ folder: String) -> Int {
    guard let stream = opendir(folder) else { return -1 }
    defer { closedir(stream) }
    var count = -2
    while readdir(stream) != nil { count += 1 }
    return count
  }
}
