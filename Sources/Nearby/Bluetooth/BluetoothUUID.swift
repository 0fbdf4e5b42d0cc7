// SPDX-License-Identifier: Apache-2.0

/// The UUID of a service or characteristic. UUIDs of 16 and 32 bits are stored in the full form.
package struct BluetoothUUID: Sendable, Hashable, CustomStringConvertible {
  /// The 36 characters in lower case, as BlueZ writes them.
  package let description: String

  /// Parses the full form or 4 or 8 hexadecimal digits, in upper or lower case.
  package init?(_ text: String) {
    let text = text.lowercased()
    let isHex = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    switch text.utf8.count {
    case 4 where isHex, 8 where isHex:
      let padding = String(repeating: "0", count: 8 - text.utf8.count)
      description = padding + text + "-0000-1000-8000-00805f9b34fb"
    case 36:
      let groups = text.split(separator: "-", omittingEmptySubsequences: false)
      let digits = groups.joined().utf8
      guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
        digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
      else { return nil }
      description = text
    default: return nil
    }
  }
}

extension BluetoothUUID: ExpressibleByStringLiteral {
  package init(stringLiteral text: String) {
    guard let uuid = Self(text) else { preconditionFailure("'\(text)' is not a UUID") }
    self = uuid
  }
}
