// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import UWBLink

/// Reports the state of the service to systemd, as sd_notify(3) does but without its library.
struct Supervisor: Sendable {
  /// The address of systemd's socket; nil if systemd expects no reports.
  private let socket: String?
  /// The interval of watchdog reports; nil if the watchdog is off.
  let interval: Duration?

  init() {
    func value(_ name: String) -> String? {
      unsafe getenv(name).map { unsafe String(cString: $0) }
    }
    socket = value("NOTIFY_SOCKET")
    let isMeant = value("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
    // Half of the watchdog's time-out, as sd_watchdog_enabled(3) recommends.
    interval =
      isMeant ? value("WATCHDOG_USEC").flatMap(Int.init).map { .microseconds($0 / 2) } : nil
    for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsafe unsetenv(name) }
  }

  /// Sends a report to systemd.
  ///
  /// - Parameters:
  ///   - state: Assignments such as `READY=1`, separated by line feeds.
  ///   - descriptor: A descriptor to send along.
  func notify(_ state: String, _ descriptor: Int32? = nil) {
    guard let socket else { return }
    let sender = Glibc.socket(
      AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard sender >= 0 else { return }
    defer { close(sender) }
    var bytes = Array(state.utf8)
    // A struct cmsghdr, whose length field has the size of a pointer, followed by the descriptor.
    var control = [Int](repeating: 0, count: 3)
    if let descriptor {
      unsafe control.withUnsafeMutableBytes {
        unsafe $0.storeBytes(of: 20, toByteOffset: 0, as: Int.self)
        unsafe $0.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
        unsafe $0.storeBytes(of: Int32(SCM_RIGHTS), toByteOffset: 12, as: Int32.self)
        unsafe $0.storeBytes(of: descriptor, toByteOffset: 16, as: Int32.self)
      }
    }
    // systemd writes @ for the leading zero byte of an abstract address.
    let path = socket.first == "@" ? "\0" + socket.dropFirst() : socket
    _ = unsafe withUnixAddress(path) { address, length in
      unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe control.withUnsafeMutableBytes { control in
          var part = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
          return unsafe withUnsafeMutablePointer(to: &part) { part in
            var message = unsafe msghdr()
            unsafe message.msg_name = UnsafeMutableRawPointer(mutating: address)
            unsafe message.msg_namelen = length
            unsafe message.msg_iov = part
            unsafe message.msg_iovlen = 1
            if descriptor != nil {
              unsafe message.msg_control = control.baseAddress
              unsafe message.msg_controllen = control.count
            }
            return unsafe sendmsg(sender, &message, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
          }
        }
      }
    }
  }
}
