// SPDX-License-Identifier: Apache-2.0

import UCI

/// A named value of a message, for users.
public struct Field: Hashable, Sendable {
  /// The name: lower case with underscores, and the unit at the end if there is one, such as
  /// `interval_ms`.
  public var name: String
  /// The value.
  public var value: FieldValue

  package init(_ name: String, _ value: FieldValue) {
    self.name = name
    self.value = value
  }
}

/// A value of a message, independent of its notation.
public indirect enum FieldValue: Hashable, Sendable {
  /// There is no value.
  case null
  /// Yes or no.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A whole number too large for `integer`.
  case unsigned(UInt64)
  /// A number with a fraction.
  case decimal(Double)
  /// Text.
  case text(String)
  /// A byte with a meaning: its name and, where it needs one, a sentence in plain words.
  case code(UInt8, name: String, explanation: String?)
  /// Bytes in the order of the wire.
  case bytes([UInt8])
  /// Bytes that are, or may contain, key material: not shown unless the user asks for it.
  case secret([UInt8])
  /// Values in order.
  case list([FieldValue])
  /// Named values in order.
  case object([Field])

  /// Creates a value from a whole number of any type.
  package static func number(_ value: some BinaryInteger) -> FieldValue {
    Int64(exactly: value).map { .integer($0) } ?? .unsigned(UInt64(clamping: value))
  }

  /// Creates a value from a whole number; null for nil.
  static func number(_ value: (some BinaryInteger)?) -> FieldValue {
    value.map { .number($0) } ?? .null
  }

  /// Creates a value from a number with a fraction; null for nil.
  static func decimal(_ value: Double?) -> FieldValue { value.map { .decimal($0) } ?? .null }

  /// Creates a value from a status and its meaning in plain words.
  static func status(_ status: Status) -> FieldValue {
    .code(status.rawValue, name: status.description, explanation: status.explanation)
  }

  /// Creates a value from a code whose name explains it.
  static func code(
    _ value: some RawRepresentable<UInt8> & CustomStringConvertible
  ) -> FieldValue {
    .code(value.rawValue, name: value.description, explanation: nil)
  }

  /// Creates a value from text of a device. Control characters, which would affect a terminal, are
  /// escaped as in `\x1b`.
  static func deviceText(_ text: String) -> FieldValue {
    guard text.unicodeScalars.contains(where: \.isControl) else { return .text(text) }
    return .text(
      text.unicodeScalars.map { scalar in
        guard scalar.isControl else { return String(scalar) }
        let digits = String(scalar.value, radix: 16)
        return "\\x" + (digits.count < 2 ? "0" : "") + digits
      }.joined())
  }

  /// Creates a value from a code with names; the number if there is no name.
  static func choice(_ value: UInt8, _ names: [String]) -> FieldValue {
    .code(value, name: value < names.count ? names[Int(value)] : hex(value), explanation: nil)
  }
}

extension Unicode.Scalar {
  /// Whether the character is in the sets C0 and C1, or DEL.
  fileprivate var isControl: Bool { value < 0x20 || (0x7F..<0xA0).contains(value) }
}
