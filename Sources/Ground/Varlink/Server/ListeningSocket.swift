// SPDX-License-Identifier: Apache-2.0
package import Glibc
internal import System
internal import SystemPackage

/// The reason why the service cannot listen at a path.
package struct SocketFailure: Error {
  package var cause: String
  package var suggestion: String?
}

/// Creates or inherits the socket at which clients connect.
package enum ListeningSocket {
  /// Returns the descriptors passed by systemd (sd_listen_fds(3)): the listening socket, if any,
  /// and the stored descriptors.
  ///
  /// - Parameter prefix: The beginning of the names of stored descriptors.
  package static func inherited(
    storedAs prefix: String? = nil
  ) throws(SocketFailure) -> (socket: Int32?, stored: [Int32]) {
    let environment = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"].map { (name: String) in
      // Programs that the service starts must not see the variables.
      defer { unsafe unsetenv(name) }
      return unsafe getenv(name).map { unsafe String(cString: $0) }
    }
    guard environment[0] == "\(getpid())", let count = environment[1].flatMap(Int32.init), count > 0
    else { return (nil, []) }
    let names = (environment[2] ?? "").split(separator: ":", omittingEmptySubsequences: false)
    var (sockets, stored): ([Int32], [Int32]) = ([], [])
    for number in 0..<count {
      let name = Int(number) < names.count ? names[Int(number)] : ""
      if let prefix, name.hasPrefix(prefix) {
        stored.append(3 + number)
      } else {
        sockets.append(3 + number)
      }
    }
    guard let socket = sockets.first else { return (nil, stored) }
    guard sockets.count == 1 else {
      throw SocketFailure(
        cause: "systemd has passed \(sockets.count) sockets.",
        suggestion: "Use only one ListenStream= in the unit.")
    }
    var isListening: Int32 = 0
    var length = socklen_t(4)
    guard unsafe getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0,
      isListening == 1
    else {
      throw SocketFailure(
        cause: "The descriptor passed by systemd is not a listening socket.",
        suggestion: "Use ListenStream= with a path, and Accept=no.")
    }
    makeNonBlocking(socket)
    return (socket, stored)
  }

  /// Creates a listening socket at a path, and replaces an unused socket there. The socket appears
  /// at the path only when it accepts connections.
  ///
  /// - Parameters:
  ///   - mode: The permissions of the socket file.
  ///   - option: The option of the program that names the path, for suggestions.
  package static func make(
    at path: String, mode: mode_t, option: String? = nil
  ) throws(SocketFailure) -> Int32 {
    let other = option.map { " with \($0)." } ?? "."
    func failure(_ errno: Int32) -> SocketFailure {
      SocketFailure(
        cause: "Cannot listen at \(path): \(Errno(rawValue: errno)).",
        suggestion: errno == ENOENT
          ? "Create the folder, or name a socket in another folder\(other)"
          : errno == EACCES ? "Name a socket in your own folder\(other)" : nil)
    }
    var status = stat()
    if unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
      throw SocketFailure(
        cause: "The file at \(path) is not a socket.", suggestion: "Name another path\(other)")
    }
    guard !isUsed(path) else {
      throw SocketFailure(
        cause: "Another program listens at \(path).", suggestion: "End it, or use its service.")
    }
    let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard made >= 0 else { throw failure(errno) }
    makeNonBlocking(made)
    let error = listen(made, at: path, mode: mode, backlog: SOMAXCONN)
    guard error == 0 else {
      close(made)
      throw failure(error)
    }
    return made
  }

  /// Returns whether a program listens at a path, and removes a socket without one.
  private static func isUsed(_ path: String) -> Bool {
    let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(probe) }
    // A non-blocking connect does not wait for a full backlog.
    makeNonBlocking(probe)
    let connected = unsafe withUnixAddress(path) { unsafe connect(probe, $0, $1) }
    if connected == 0 || errno == EAGAIN { return true }
    if connected != nil { unsafe unlink(path) }
    return false
  }
}
