// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import SystemPackage
import UWBService

/// The reason why the service cannot listen at a path.
struct SocketFailure: Error {
  var cause: String
  var suggestion: String?
}

/// Creates or inherits the socket at which clients connect.
enum ListeningSocket {
  /// Returns the descriptors passed by systemd (sd_listen_fds(3)): the listening socket, if any,
  /// and the stored ports.
  static func inherited() throws(SocketFailure) -> (socket: Int32?, ports: [Int32]) {
    let environment = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"].map { (name: String) in
      // Programs that the service starts must not see the variables.
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
        cause: "systemd has passed \(sockets.count) sockets.",
        suggestion: "Use only one ListenStream= in the unit.")
    }
    var isListening: Int32 = 0
    var length = socklen_t(4)
    guard getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0,
      isListening == 1
    else {
      throw SocketFailure(
        cause: "The descriptor passed by systemd is not a listening socket.",
        suggestion: "Use ListenStream= with a path, and Accept=no.")
    }
    makeNonBlocking(socket)
    return (socket, ports)
  }

  /// Creates a listening socket at a path, and replaces an unused socket there. The socket appears
  /// at the path only when it accepts connections.
  ///
  /// - Parameter mode: The permissions of the socket file.
  static func make(at path: String, mode: mode_t) throws(SocketFailure) -> Int32 {
    func failure(_ errno: Int32) -> SocketFailure {
      SocketFailure(
        cause: "Cannot listen at \(path): \(Errno(rawValue: errno)).",
        suggestion: errno == ENOENT
          ? "Create the folder, or name a socket in another folder with --socket."
          : errno == EACCES ? "Name a socket in your own folder with --socket." : nil)
    }
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
      throw SocketFailure(
        cause: "The file at \(path) is not a socket.",
        suggestion: "Name another path with --socket.")
    }
    let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(probe) }
    // A non-blocking connect does not wait for a full backlog.
    makeNonBlocking(probe)
    let connected = withUnixAddress(path) { connect(probe, $0, $1) }
    if connected == 0 || errno == EAGAIN {
      throw SocketFailure(
        cause: "Another program listens at \(path).", suggestion: "End it, or use its chips.")
    }
    if connected != nil { unlink(path) }
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
}
