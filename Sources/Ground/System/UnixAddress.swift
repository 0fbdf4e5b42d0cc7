// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// Calls `body` with the address of a Unix socket. Returns nil if the path is too long. A path that
/// begins with a NUL byte is an abstract address (unix(7)).
package func withUnixAddress<R>(
  _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
) -> R? {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let bytes = Array(path.utf8)
  guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
  unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
  let length = MemoryLayout<sa_family_t>.size + bytes.count + (bytes.first == 0 ? 0 : 1)
  return unsafe withUnsafePointer(to: &address) {
    unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe body($0, socklen_t(length))
    }
  }
}

/// Binds a Unix socket, makes it listen, and only then gives it its path. A program that finds the
/// path can therefore connect. Never replaces an existing file.
///
/// - Parameter mode: The permissions of the socket file.
/// - Returns: An error number, EADDRINUSE if there is a file, or 0.
package func listen(_ socket: Int32, at path: String, mode: mode_t, backlog: Int32) -> Int32 {
  let temporary = "\(path).\(getpid()).\(socket)"
  // A path that is too long for the suffix is bound directly.
  let name = unsafe withUnixAddress(temporary) { _, _ in temporary } ?? path
  guard let isBound = unsafe withUnixAddress(name, { unsafe bind(socket, $0, $1) == 0 }) else {
    return ENAMETOOLONG
  }
  guard isBound else { return errno }
  let isListening = unsafe chmod(name, mode) == 0 && Glibc.listen(socket, backlog) == 0
  guard name != path || !isListening else { return 0 }
  let isThere = unsafe isListening && link(name, path) == 0
  let error = errno
  unsafe unlink(name)
  return isThere ? 0 : error == EEXIST ? EADDRINUSE : error
}
