// SPDX-License-Identifier: Apache-2.0

/// The microcontroller of an NXP board. Source: nxp.md 4.1, after the PnP headers of
/// nxp-uwb/sr250-uwbiot-zephyr.
///
/// From the host a type, a length with its higher byte first, and so many bytes; to the host bare
/// UCI, and a fixed answer to a reset.
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

  /// What has come whole with these bytes.
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

  private mutating func command(_ type: UInt8, _ value: [UInt8]) -> Command? {
    switch (type, value.count) {
    case (0x01, 4...) where value.count == 4 + payloadLength(value):
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

  /// What was seen.
  var text: String {
    (["\(ledger.packets) packets, \(ledger.resets) resets, \(violations.count) violations"]
      + violations).joined(separator: "\n")
  }
}
