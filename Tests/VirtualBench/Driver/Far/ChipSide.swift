// SPDX-License-Identifier: Apache-2.0

/// What a kind of chip does with selections and lines. Made from the tables of what NXP's and
/// Qorvo's hosts do on their wires, not from this package's links.
protocol ChipSide {
  /// Packets from the host that have come whole since the last call.
  mutating func takePackets() -> [[UInt8]]
  /// Packets to the host.
  mutating func offer(_ packets: [[UInt8]])
  /// The host has done something.
  mutating func handle(_ event: FarDevice.Event)
  /// Power: nil when it has not changed since the last call.
  mutating func powerChange() -> Bool?
  /// What was seen.
  var ledger: Ledger { get }
}

/// What was counted, and what the host did that the tables do not allow.
struct Ledger {
  var reads = 0
  var writes = 0
  /// Writes while a packet was being offered.
  var collisions = 0
  /// Reads of what was not loaded.
  var early = 0
  /// Nanoseconds between the header of a write and its payload, at the least.
  var shortestPause: UInt64?
  /// Hertz, of the last selection.
  var speed: UInt32 = 0
  private(set) var violations: [String] = []

  mutating func violated(_ text: String) {
    if violations.count < 20 { violations.append(text) }
  }

  /// One line, and one for each violation.
  var text: String {
    let pause = shortestPause.map { "\($0 / 1_000) us" } ?? "none"
    return
      ([
        "\(reads) reads, \(writes) writes, \(collisions) collisions, \(early) early, shortest pause \(pause), "
          + "\(speed) Hz, \(violations.count) violations"
      ] + violations).joined(separator: "\n")
  }
}

/// The length of NXP's and FiRa's packets behind their first four octets. Source: nxp.md 1.2.
func payloadLength(_ header: [UInt8]) -> Int {
  guard header[0] >> 5 == 0 || header[1] & 0x80 != 0 else { return Int(header[3]) }
  return Int(header[3]) << 8 | Int(header[2])
}
