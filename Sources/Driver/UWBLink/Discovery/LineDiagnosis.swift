// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Glibc
internal import System

/// The control lines of a serial port, as its driver reports them.
package struct ModemLines: OptionSet, Sendable, Hashable {
  /// The bits TIOCM_… of <asm-generic/termios.h>.
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// Data terminal ready, an output. USB firmwares send nothing without it.
  package static let dtr = ModemLines(rawValue: 0x002)
  /// Clear to send, an input. With hardware flow control the driver sends nothing without it.
  package static let cts = ModemLines(rawValue: 0x020)
}

extension Link {
  /// The state of the control lines. Nil on links without them, such as pseudo-terminals and TCP.
  package var modemLines: ModemLines? {
    let descriptor = unsafe cuwb_link_descriptor(raw)
    var bits: Int32 = 0
    guard descriptor >= 0, unsafe ioctl(descriptor, UInt(TIOCMGET), &bits) == 0 else { return nil }
    return ModemLines(rawValue: bits)
  }

  /// Returns the raw bytes that arrive within a time, to diagnose a line without valid packets.
  ///
  /// Blocks the thread. Must not run at the same time as a `FrameReader`.
  ///
  /// - Parameters:
  ///   - milliseconds: The time to wait for bytes.
  ///   - limit: The number of bytes after which reading stops early.
  package func readRaw(milliseconds: Int32, limit: Int = 4_096) -> [UInt8] {
    let descriptor = unsafe cuwb_link_descriptor(raw)
    let deadline = Deadline(after: .milliseconds(milliseconds))
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 512)
    while bytes.count < limit {
      let left = deadline.milliseconds
      guard descriptor >= 0, left > 0 else { break }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&waiting, 1, left) >= 0 else { break }
      guard waiting.revents != 0 else { continue }
      let count = unsafe read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return bytes
  }
}
