// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Glibc
internal import Synchronization

/// A pseudo-terminal whose other end answers with scripted bytes.
package final class ScriptedTerminal: Sendable {
  /// The path that a host opens, such as `/dev/pts/5`. Another terminal may get it after `hangUp`.
  package let path: String
  private let master: Int32
  // The descriptor keeps the terminal open, so that hosts may connect and disconnect.
  private let slave: Int32
  private let wake: (read: Int32, write: Int32)
  private let received = Mutex<[UInt8]>([])
  private let ended = DispatchSemaphore(value: 0)

  /// Everything that has arrived so far.
  package var bytes: [UInt8] { received.withLock { $0 } }

  /// - Parameter answer: returns the answer to the bytes of one read(2); may be empty.
  package init(_ answer: @escaping @Sendable ([UInt8]) -> [UInt8]) throws {
    var slave: Int32 = 0
    var master: Int32 = 0
    guard openpty(&master, &slave, nil, nil, nil) == 0 else { throw POSIXError(.ENODEV) }
    var name = [CChar](repeating: 0, count: 64)
    guard ttyname_r(slave, &name, name.count) == 0 else { throw POSIXError(.ENOTTY) }
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var settings = termios()
    tcgetattr(slave, &settings)
    cfmakeraw(&settings)
    tcsetattr(slave, TCSANOW, &settings)
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
    wake = (ends[0], ends[1])
    self.master = master
    self.slave = slave
    Thread { [self] in serve(answer) }.start()
  }

  private func serve(_ answer: ([UInt8]) -> [UInt8]) {
    var buffer = [UInt8](repeating: 0, count: 1_024)
    while true {
      var waiting = [
        pollfd(fd: master, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&waiting, 2, -1)
      if waiting[1].revents != 0 { break }
      guard waiting[0].revents != 0 else { continue }
      let count = read(master, &buffer, buffer.count)
      guard count > 0 else { break }
      let bytes = Array(buffer[..<count])
      received.withLock { $0 += bytes }
      say(answer(bytes))
    }
    ended.signal()
  }

  /// Sends unsolicited bytes. Waits while there is no room for them.
  package func say(_ bytes: [UInt8]) {
    if !bytes.isEmpty { _ = write(master, bytes, bytes.count) }
  }

  /// Hangs up once, which ends every program that has the path open.
  package func hangUp() {
    // The thread ends first, because it must not read the descriptors when their numbers are used
    // again.
    _ = write(wake.write, [0], 1)
    ended.wait()
    for descriptor in [slave, master, wake.read, wake.write] { close(descriptor) }
  }
}
