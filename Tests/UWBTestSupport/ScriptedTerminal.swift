// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Glibc
internal import Synchronization

/// A pseudo-terminal with something at its other end that is no simulated chip: it answers whatever
/// arrives with octets of its own.
package final class ScriptedTerminal: Sendable {
  /// What a host opens, like `/dev/pts/5`.
  package let path: String
  private let master: Int32
  // Held open, so that a host may come and go.
  private let slave: Int32
  private let received = Mutex<[UInt8]>([])

  /// Everything that has arrived so far.
  package var octets: [UInt8] { received.withLock { $0 } }

  /// - Parameter answer: octets for what one read(2) brought; may be empty.
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
    self.master = master
    self.slave = slave
    let descriptor = master
    let server = Thread { [weak self] in
      var buffer = [UInt8](repeating: 0, count: 1_024)
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return }
        let octets = Array(buffer[..<count])
        guard let self else { return }
        self.received.withLock { $0 += octets }
        self.say(answer(octets))
      }
    }
    server.start()
  }

  /// Sends octets on its own.
  package func say(_ octets: [UInt8]) {
    if !octets.isEmpty { _ = write(master, octets, octets.count) }
  }

  /// Hangs up: whoever has the path open notices.
  package func hangUp() {
    close(slave)
    close(master)
  }
}
