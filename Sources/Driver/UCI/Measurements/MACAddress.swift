// SPDX-License-Identifier: Apache-2.0

/// The address of a UWB device: two bytes (short) or eight (extended), little-endian on the wire.
public struct MACAddress: Hashable, Sendable, ExpressibleByIntegerLiteral {
  /// The address as a number.
  public let value: UInt64
  /// Whether the address has eight bytes rather than two.
  public let isExtended: Bool

  /// Creates a short address.
  @inlinable public init(_ short: UInt16) {
    value = UInt64(short)
    isExtended = false
  }

  /// Creates a short address.
  @inlinable public init(integerLiteral value: UInt16) { self.init(value) }

  /// Creates an extended address.
  @inlinable public init(extended: UInt64) {
    value = extended
    isExtended = true
  }

  init(_ value: UInt64, isExtended: Bool) {
    (self.value, self.isExtended) = (value, isExtended)
  }

  /// The bytes in the order of the wire.
  public var bytes: [UInt8] {
    Array(value.littleEndianBytes.prefix(isExtended ? 8 : 2))
  }

  /// Reads two or eight bytes in the order of the wire; nil for any other number of bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 2 || bytes.count == 8 else { return nil }
    isExtended = bytes.count == 8
    value = UInt64(littleEndianBytes: bytes)
  }

  /// Reads hexadecimal digits, most significant first: `0001`, `0x1`, or eight bytes with colons.
  /// Up to four digits are a short address, and sixteen digits an extended address.
  public init?(_ text: String) {
    var digits = text.lowercased()
    if digits.hasPrefix("0x") { digits.removeFirst(2) }
    if digits.contains(":") {
      let octets = digits.split(separator: ":", omittingEmptySubsequences: false)
      // The text `1:2` is ambiguous: 0x0012 or 0x0102.
      guard octets.allSatisfy({ $0.count == 2 }) else { return nil }
      digits = octets.joined()
    }
    guard let number = UInt64(hexDigits: digits), digits.count <= 4 || digits.count == 16 else {
      return nil
    }
    value = number
    isExtended = digits.count == 16
  }
}

extension FixedWidthInteger {
  /// Reads hexadecimal digits only: unlike `init(_:radix:)`, without a sign.
  package init?(hexDigits text: some StringProtocol) {
    guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else {
      return nil
    }
    self.init(text, radix: 16)
  }
}

extension MACAddress: CustomStringConvertible {
  /// Hexadecimal, most significant byte first: `0x0001`.
  public var description: String {
    let digits = stride(from: isExtended ? 60 : 12, through: 0, by: -4).map { shift in
      let digit = UInt8(truncatingIfNeeded: value >> shift) & 15
      return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
    }
    return String(decoding: [UInt8(ascii: "0"), UInt8(ascii: "x")] + digits, as: UTF8.self)
  }
}
