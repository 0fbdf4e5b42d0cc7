// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import SystemPackage
import UWBLink

/// Why the service cannot be reached at a path.
struct SocketFailure: Error {
  var cause: String
  var suggestion: String?
}

/// Sockets at which clients connect.
enum ListeningSocket {
  /// What systemd has handed over (sd_listen_fds(3)): the socket that it has made, if it has, and the
  /// ports that it has kept.
  static func inherited() throws(SocketFailure) -> (socket: Int32?, ports: [Int32]) {
    let environment = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"].map { (name: String) in
      // Not for programs that this one starts.
      defer { unsetenv(name) }
      return getenv(name).map { String(cString: $0) }
    }
    guard environment[0] == "\(getpid())", let count = environment[1].flatMap(Int32.init), count > 0
    else { return (nil, []) }
    let names = (environment[2] ?? "").split(separator: ":", omittingEmptySubsequences: false)
    var (sockets, ports): ([Int32], [Int32]) = ([], [])
    for number in 0..<count {
      let name = Int(number) < names.count ? names[Int(number)] : ""
      if name.hasPrefix(PortStore.prefix) {
        ports.append(3 + number)
      } else {
        sockets.append(3 + number)
      }
    }
    guard let socket = sockets.first else { return (nil, ports) }
    guard sockets.count == 1 else {
      throw SocketFailure(
        cause: "systemd has handed over \(sockets.count) sockets.",
        suggestion: "Give the unit one ListenStream= only.")
    }
    var isListening: Int32 = 0
    var length = socklen_t(4)
    guard getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0,
      isListening == 1
    else {
      throw SocketFailure(
        cause: "The descriptor that systemd has handed over is no socket that listens.",
        suggestion: "Use ListenStream= with a path, and Accept=no.")
    }
    prepare(socket)
    return (socket, ports)
  }

  /// Makes one at a path. It appears there when it is ready, so that nobody is turned away; one that a
  /// program has left behind is replaced.
  ///
  /// - Parameter mode: who may connect.
  static func make(at path: String, mode: mode_t) throws(SocketFailure) -> Int32 {
    func failure(_ errno: Int32) -> SocketFailure {
      SocketFailure(
        cause: "Cannot listen at \(path): \(Errno(rawValue: errno)).",
        suggestion: errno == ENOENT
          ? "Create the folder, or name a socket in another one with --socket."
          : errno == EACCES ? "Name a socket in a folder of yours with --socket." : nil)
    }
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
      throw SocketFailure(
        cause: "There is a file at \(path) that is no socket.",
        suggestion: "Name another path with --socket.")
    }
    let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(probe) }
    // A full backlog is no reason to wait.
    prepare(probe)
    let connected = withUnixAddress(path) { connect(probe, $0, $1) }
    if connected == 0 || errno == EAGAIN {
      throw SocketFailure(
        cause: "Another program listens at \(path).", suggestion: "End it, or use its chips.")
    }
    let temporary = "\(path).\(getpid())"
    unlink(temporary)
    let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard made >= 0 else { throw failure(errno) }
    prepare(made)
    guard let bound = withUnixAddress(temporary, { bind(made, $0, $1) }) else {
      close(made)
      throw failure(ENAMETOOLONG)
    }
    guard bound == 0, chmod(temporary, mode) == 0, listen(made, 128) == 0,
      rename(temporary, path) == 0
    else {
      let error = errno
      unlink(temporary)
      close(made)
      throw failure(error)
    }
    return made
  }

  /// It does not block, and other programs do not get it.
  static func prepare(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }
}
