// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// Calls `body` with the address of a Unix socket; returns nil if the path is too long. A leading
/// NUL byte makes the address abstract (unix(7)).
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
