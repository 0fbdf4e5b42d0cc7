// SPDX-License-Identifier: Apache-2.0

/// Faults injected into a chip or its line.
package struct ChipFaults: Hashable, Sendable {
  /// Damage to one byte from the chip.
  package enum Damage: Hashable, Sendable {
    /// The byte is lost.
    case drop
    /// These bytes come before it.
    case insert([UInt8])
    /// The bits of the byte that are set in this mask are inverted.
    case flip(UInt8)
  }

  /// Damage by position: 0 is the first byte from the chip after the faults were set.
  package var damage: [Int: Damage] = [:]
  /// Whether every packet is replaced by random bytes of the same length.
  package var garbage = false
  /// Whether nothing is sent.
  package var mute = false
  /// Whether every command is answered only with CORE_GENERIC_ERROR_NTF 0x0A.
  package var onlyRetries = false

  package static let none = ChipFaults()
}

/// Applies faults to the packets on their way out.
struct FaultyLine: Sendable {
  var faults = ChipFaults.none {
    didSet { position = 0 }
  }
  private var position = 0
  private var random = RandomSource(seed: 0xFA17)

  mutating func pass(_ packets: [[UInt8]]) -> [[UInt8]] {
    guard faults != .none else { return packets }
    if faults.mute { return [] }
    return packets.map { packet in
      if faults.garbage { return packet.map { _ in UInt8(truncatingIfNeeded: random.next()) } }
      var result: [UInt8] = []
      for byte in packet {
        switch faults.damage[position] {
        case nil: result.append(byte)
        case .drop: break
        case .insert(let more): result += more + [byte]
        case .flip(let bits): result.append(byte ^ bits)
        }
        position += 1
      }
      return result
    }
  }
}
