// SPDX-License-Identifier: Apache-2.0

import UCI

extension [AppConfigID: [UInt8]] {
  /// Returns the value in effect: the value that was set, or the default.
  func bytes(_ id: AppConfigID) -> [UInt8] {
    self[id] ?? AppParameter.rules[id]?.standard ?? []
  }
}

/// The rules of FiRa's parameters of a session.
enum AppParameter {
  /// The parameters that must be equal at both ends so that they receive each other's frames:
  /// usage, multi-node mode, channel, slot, ranging duration, FCS, round control, RFRAME, preamble
  /// code, SFD, data rate, preamble duration, slots per round, PRF, schedule, address mode,
  /// hopping, PHR data rate.
  static let air: [AppConfigID] = [
    0x01, 0x03, 0x04, 0x08, 0x09, 0x0B, 0x0C, 0x12, 0x14, 0x15, 0x16, 0x17, 0x1B, 0x1F, 0x22, 0x26,
    0x2C, 0x31,
  ]
  /// The parameters that must be equal at both ends for the STS to match: STS configuration and
  /// index, key rotation, vendor id, IV, segments, length, session key.
  static let sts: [AppConfigID] = [0x02, 0x0A, 0x23, 0x24, 0x27, 0x28, 0x29, 0x35, 0x45]
  /// The parameters that may change while the session ranges.
  static let changeableWhileActive: Set<AppConfigID> = [0x0E, 0x0F, 0x10, 0x1D, 0x2D, 0x36, 0x47]

  /// The length, the valid values and the default of a parameter.
  struct Rule: Sendable {
    var lengths: [Int]
    var allowed: ClosedRange<UInt64>
    var standard: [UInt8]

    init(
      _ length: Int, _ standard: UInt64 = 0, in allowed: ClosedRange<UInt64> = 0...UInt64.max,
      or others: [Int] = []
    ) {
      lengths = [length] + others
      self.allowed = allowed
      self.standard = (0..<length).map {
        $0 < 8 ? UInt8(truncatingIfNeeded: standard >> (8 * UInt64($0))) : 0
      }
    }
  }

  // Source: FiRa UCI application configuration parameters as published in the AOSP packet
  // definitions and encoders; addresses and the initiation time have rules of their own.
  static let rules: [AppConfigID: Rule] = [
    0x00: Rule(1, in: 0...1), 0x01: Rule(1, 2, in: 0...10), 0x02: Rule(1, in: 0...4),
    0x03: Rule(1, in: 0...2), 0x04: Rule(1, 9), 0x05: Rule(1, 1, in: 1...255),
    0x08: Rule(2, 2400, in: 1...65_535), 0x09: Rule(4, 200, in: 1...4_294_967_295),
    0x0A: Rule(4), 0x0B: Rule(1, in: 0...1), 0x0C: Rule(1, 3), 0x0D: Rule(1, 1),
    0x0E: Rule(1, 1, in: 0...7), 0x0F: Rule(2), 0x10: Rule(2, 20_000), 0x11: Rule(1, in: 0...8),
    0x12: Rule(1, 3, in: 0...3), 0x13: Rule(1, in: 0...1), 0x14: Rule(1, 10),
    0x15: Rule(1, 2, in: 0...4), 0x16: Rule(1, in: 0...4), 0x17: Rule(1, 1, in: 0...1),
    0x18: Rule(1, in: 0...1), 0x19: Rule(1), 0x1A: Rule(1, 1, in: 0...1),
    0x1B: Rule(1, 25, in: 1...255), 0x1C: Rule(1), 0x1D: Rule(8), 0x1E: Rule(1, 1),
    0x1F: Rule(1, in: 0...2), 0x20: Rule(2), 0x21: Rule(1), 0x22: Rule(1, 1, in: 0...2),
    0x23: Rule(1, in: 0...1), 0x24: Rule(1, in: 0...15), 0x25: Rule(1, 50, in: 1...100),
    0x26: Rule(1, in: 0...2), 0x27: Rule(2), 0x28: Rule(6), 0x29: Rule(1, 1, in: 0...4),
    0x2A: Rule(2), 0x2C: Rule(1), 0x2D: Rule(1), 0x2E: Rule(1, 1, in: 0...15),
    0x2F: Rule(1, 1, in: 0...10), 0x30: Rule(4), 0x31: Rule(1, in: 0...1), 0x32: Rule(2),
    0x33: Rule(4, 2000), 0x34: Rule(4), 0x35: Rule(1, 1, in: 0...2), 0x36: Rule(1, in: 0...1),
    0x38: Rule(1, or: [3, 5, 9]), 0x39: Rule(1), 0x3A: Rule(1, 4), 0x3B: Rule(2, 1048),
    0x3C: Rule(1, 1), 0x3D: Rule(1, 1), 0x3E: Rule(1, 3), 0x3F: Rule(1, 1), 0x40: Rule(1, 1),
    0x41: Rule(1, or: [11, 13]), 0x42: Rule(1), 0x43: Rule(1), 0x44: Rule(1),
    0x45: Rule(16, or: [32]), 0x46: Rule(16, or: [32]), 0x47: Rule(1), 0x48: Rule(9),
    0x49: Rule(1), 0x4A: Rule(1), 0x4B: Rule(1, 4), 0x4C: Rule(1), 0x4D: Rule(1),
  ]
}
