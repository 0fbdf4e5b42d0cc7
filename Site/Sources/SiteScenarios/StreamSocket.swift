// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A connected socket whose calls block, with a limit of time for reading.
package final class StreamSocket {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  /// Connects to a Unix socket; nil if no program listens.
  package convenience init?(unix path: String) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = path.utf8CString
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard bytes.count <= room else { return nil }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
      unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
    }
    self.init(AF_UNIX, &address)
  }

  /// Connects to a port of this machine; nil if no program listens.
  package convenience init?(port: UInt16) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    self.init(AF_INET, &address)
  }

  private init?<Address>(_ family: Int32, _ address: inout Address) {
    descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    let size = socklen_t(MemoryLayout<Address>.size)
    let result = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, size)
      }
    }
    guard result == 0 else {
      close(descriptor)
      return nil
    }
  }

  deinit { close(descriptor) }

  /// Limits the time for which `receive` waits.
  package func limit(milliseconds: Int) {
    var time = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Makes the connection end without a wait, so that its port is free at once.
  package func endHard() {
    var option = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  package func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.send(
          descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      // The other end may refuse the remaining bytes.
      guard count > 0 else { return }
      sent += count
    }
  }

  /// Ends the direction to the other end, which may still answer.
  package func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Returns the next bytes; nil at the end, and empty after the limit of time.
  package func receive() -> ArraySlice<UInt8>? {
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    if count < 0, errno == EAGAIN { return [] }
    return count > 0 ? buffer[..<count] : nil
  }
}
