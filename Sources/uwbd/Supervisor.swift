// SPDX-License-Identifier: Apache-2.0
import Glibc
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

  /// - Parameter state: such as `READY=1`; several are separated by line ends.
  func notify(_ state: String) {
    guard let socket else { return }
    let descriptor = Glibc.socket(
      AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(state.utf8)
    // The name of a socket that is no file begins with @ here.
    _ = withUnixAddress(socket.first == "@" ? "\0" + socket.dropFirst() : socket) {
      sendto(
        descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0, $1
      )
    }
  }
}
