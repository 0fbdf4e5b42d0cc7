// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import UWBLink

@testable import UWBService

/// The messages of the service to systemd.
final class TestSupervisor: Sendable {
  let path: String
  private let receiver: Int32

  init(_ path: String) throws {
    self.path = path
    receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard withUnixAddress(path, { bind(receiver, $0, $1) }) == 0 else {
      throw TestClient.Failure(what: "cannot bind: \(errno)")
    }
    var time = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(receiver, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit {
    close(receiver)
    unlink(path)
  }

  /// The next message about the service itself; empty if there is none.
  func said() -> String {
    while true {
      let (text, descriptor) = receive()
      guard text.hasPrefix("FDSTORE") else { return text }
      if descriptor >= 0 { close(descriptor) }
    }
  }

  /// The next message and its descriptor, or -1.
  func receive() -> (text: String, descriptor: Int32) {
    var buffer = [UInt8](repeating: 0, count: 1_024)
    var control = [Int32](repeating: -1, count: 6)
    let count = buffer.withUnsafeMutableBytes { buffer in
      control.withUnsafeMutableBytes { control in
        var part = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
        return withUnsafeMutablePointer(to: &part) { part in
          var message = msghdr()
          message.msg_iov = part
          message.msg_iovlen = 1
          message.msg_control = control.baseAddress
          message.msg_controllen = control.count
          return recvmsg(receiver, &message, Int32(MSG_CMSG_CLOEXEC))
        }
      }
    }
    return (String(decoding: buffer[..<max(0, count)], as: UTF8.self), control[4])
  }
}
