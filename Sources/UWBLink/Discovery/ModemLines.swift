// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Glibc

/// The control lines of a serial port, as its driver reports them.
public struct ModemLines: OptionSet, Sendable, Hashable {
  /// TIOCM_ bits of <asm-generic/termios.h>.
  public let rawValue: Int32

  /// Any bits.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Data terminal ready, ours: USB firmwares do not talk without it.
  public static let dtr = ModemLines(rawValue: 0x002)
  /// Request to send, ours.
  public static let rts = ModemLines(rawValue: 0x004)
  /// Clear to send, theirs: with hardware flow control nothing is sent without it.
  public static let cts = ModemLines(rawValue: 0x020)
  /// Carrier detect, theirs.
  public static let carrier = ModemLines(rawValue: 0x040)
  /// Data set ready, theirs.
  public static let dsr = ModemLines(rawValue: 0x100)
}

extension Link {
  /// The control lines now; nil where there are none, as on a pseudo-terminal or over TCP.
  public var modemLines: ModemLines? {
    let descriptor = cuwb_link_descriptor(raw)
    var bits: Int32 = 0
    guard descriptor >= 0, ioctl(descriptor, UInt(TIOCMGET), &bits) == 0 else { return nil }
    return ModemLines(rawValue: bits)
  }
}
