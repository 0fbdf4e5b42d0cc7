// SPDX-License-Identifier: Apache-2.0

/// A MAC address of two or eight bytes.
package struct Address: Sendable, Hashable {
  package let value: UInt64
  package let isExtended: Bool

  package init(_ value: UInt16) {
    self.value = UInt64(value)
    isExtended = false
  }

  package init(extended value: UInt64) {
    self.value = value
    isExtended = true
  }

  /// Parses `0x1a2b`, `0x1a2b3c4d5e6f7081` or pairs of digits with colons.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    var digits = Substring(text)
    if parts.count > 1 {
      guard parts.allSatisfy({ $0.count == 2 }) else { return nil }
      digits = Substring(parts.joined())
      guard digits.count == 4 || digits.count == 16 else { return nil }
    } else {
      guard text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
      digits = text.dropFirst(2)
    }
    guard (1...16).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
      let value = UInt64(digits, radix: 16)
    else { return nil }
    self.value = value
    isExtended = digits.count > 4
  }
}

extension Address: CustomStringConvertible {
  package var description: String {
    let digits = String(value, radix: 16)
    return "0x" + String(repeating: "0", count: (isExtended ? 16 : 4) - digits.count) + digits
  }
}
