// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import UWBLink

/// Tells systemd how the service is: sd_notify(3), without its library.
struct Supervisor: Sendable {
  /// Where it listens; nil: nobody wants to know.
  private let socket: String?
  /// How often it wants a sign of life; nil: never.
  let interval: Duration?

  init() {
    func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    socket = value("NOTIFY_SOCKET")
    let isMeant = value("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
    // Half of the time after which it takes the service for stuck.
    interval =
      isMeant ? value("WATCHDOG_USEC").flatMap(Int.init).map { .microseconds($0 / 2) } : nil
    for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(name) }
  }

  /// - Parameters:
  ///   - state: such as `READY=1`; several are separated by line ends.
  ///   - descriptor: goes with it.
  func notify(_ state: String, _ descriptor: Int32? = nil) {
    guard let socket else { return }
    let sender = Glibc.socket(
      AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard sender >= 0 else { return }
    defer { close(sender) }
    var bytes = Array(state.utf8)
    // struct cmsghdr, whose length is that of a pointer, and the descriptor.
    var control = [Int](repeating: 0, count: 3)
    if let descriptor {
      control.withUnsafeMutableBytes {
        $0.storeBytes(of: 20, toByteOffset: 0, as: Int.self)
        $0.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
        $0.storeBytes(of: Int32(SCM_RIGHTS), toByteOffset: 12, as: Int32.self)
        $0.storeBytes(of: descriptor, toByteOffset: 16, as: Int32.self)
      }
    }
    // The name of a socket that is no file begins with @ here.
    let path = socket.first == "@" ? "\0" + socket.dropFirst() : socket
    _ = withUnixAddress(path) { address, length in
      bytes.withUnsafeMutableBytes { bytes in
        control.withUnsafeMutableBytes { control in
          var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
          return withUnsafeMutablePointer(to: &part) { part in
            var message = msghdr()
            message.msg_name = UnsafeMutableRawPointer(mutating: address)
            message.msg_namelen = length
            message.msg_iov = part
            message.msg_iovlen = 1
            if descriptor != nil {
              message.msg_control = control.baseAddress
              message.msg_controllen = control.count
            }
            return sendmsg(sender, &message, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
          }
        }
      }
    }
  }
}
