// SPDX-License-Identifier: Apache-2.0

/// The microcontroller of an NXP board, after the PnP headers of nxp-uwb/sr250-uwbiot-zephyr.
///
/// The host sends a type, a 16-bit big-endian length and a packet; the board sends bare UCI, and a
/// fixed answer to a reset.
struct Bridge {
  enum Command {
    case packet([UInt8])
    case reset
    case leaveLoader
  }

  static let resetAnswer: [UInt8] = [0x01, 0x02, 0x03, 0x04]
  private var pending: [UInt8] = []
  private var ledger = (packets: 0, resets: 0)
  private var violations: [String] = []

  mutating func forget() { pending = [] }

  /// Returns the commands that are complete with these bytes.
  mutating func take(_ bytes: [UInt8]) -> [Command] {
    pending += bytes
    var commands: [Command] = []
    while pending.count >= 3 {
      let end = 3 + (Int(pending[1]) << 8 | Int(pending[2]))
      guard pending.count >= end else { break }
      if let command = command(pending[0], Array(pending[3..<end])) { commands.append(command) }
      pending.removeFirst(end)
    }
    return commands
  }

  /// The bytes after the header: 16 bits in data, and where bit 7 of byte 1 is set.
  private static func payloadLength(_ header: [UInt8]) -> Int {
    guard header[0] >> 5 == 0 || header[1] & 0x80 != 0 else { return Int(header[3]) }
    return Int(header[3]) << 8 | Int(header[2])
  }

  private mutating func command(_ type: UInt8, _ value: [UInt8]) -> Command? {
    switch (type, value.count) {
    case (0x01, 4...) where value.count == 4 + Self.payloadLength(value):
      ledger.packets += 1
      return .packet(value)
    case (0x04, 0):
      ledger.resets += 1
      return .reset
    case (0x12, 0): return .leaveLoader
    default:
      violations.append("type \(type) with \(value.count) bytes")
      return nil
    }
  }

  /// The counts: one line, and one for each violation.
  var text: String {
    (["\(ledger.packets) packets, \(ledger.resets) resets, \(violations.count) violations"]
      + violations).joined(separator: "\n")
  }
}
