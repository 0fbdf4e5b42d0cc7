// SPDX-License-Identifier: Apache-2.0

package import UCI

/// The description of a parameter: one row of a table.
///
/// Parameters of sessions, of chips and of radio tests, and capabilities have the same shape.
/// Values of all of them are shown, read and checked in one way. An identifier with different
/// meanings in different dialects has several rows; `ParameterTable` chooses.
package struct Parameter<ID: Hashable & Sendable>: Sendable {
  package let id: ID
  /// The name in the specification or in the vendor's documents.
  package let name: String
  /// The meaning in one sentence; empty where only the name is known.
  package let summary: String
  /// The possible lengths of its value in bytes; empty where the length depends on other parameters
  /// or is unknown.
  package let lengths: [Int]
  package let format: ParameterFormat
  /// The unit of a number, for example `ms` or `RSTU`; nil for codes, masks and bytes.
  package let unit: String?
  /// The possible values of a number; nil where they are unknown or the value is not a number.
  package let range: ClosedRange<UInt64>?
  /// The default when the host sends no value. Nil where there is none, it is unknown, or the value
  /// is not a number.
  package let defaultValue: UInt64?
  /// The meanings of the values in words, or for a mask the meanings of the bits, by their number.
  package let values: [UInt64: String]
  package let scope: ParameterScope
  /// Whether a session needs the parameter to leave INIT.
  package let isMandatory: Bool
  /// Whether the value is key material or an initialisation vector, which does not belong in logs.
  package let isSecret: Bool
  /// Whether the chip refuses to set the parameter.
  package let isReadOnly: Bool
  /// The specifications in which the parameter has this meaning.
  package let generations: ClosedRange<Dialect.Generation>
  /// The vendors that use the identifier this way; empty for all.
  package let vendors: [Dialect.Vendor]

  init(
    _ id: ID, _ name: String, _ lengths: [Int] = [], format: ParameterFormat = .number,
    unit: String? = nil, range: ClosedRange<UInt64>? = nil, default defaultValue: UInt64? = nil,
    values: [UInt64: String] = [:], scope: ParameterScope = .own, mandatory: Bool = false,
    secret: Bool = false, readOnly: Bool = false,
    since first: Dialect.Generation = .fira1, until last: Dialect.Generation = .fira3,
    vendors: [Dialect.Vendor] = [], summary: String = ""
  ) {
    self.id = id
    self.name = name
    self.summary = summary
    self.lengths = lengths
    self.format = format
    self.unit = unit
    self.range = range
    self.defaultValue = defaultValue
    self.values = values
    self.scope = scope
    self.isMandatory = mandatory
    self.isSecret = secret
    self.isReadOnly = readOnly
    generations = first...last
    self.vendors = vendors
  }

  /// Returns whether this row applies to a chip of this dialect.
  package func applies(to dialect: Dialect) -> Bool {
    (vendors.isEmpty || vendors.contains(dialect.vendor))
      && generations.contains(dialect.generation)
  }
}

/// The devices that have to agree on the value of a parameter of a session.
package enum ParameterScope: String, Sendable, CaseIterable {
  /// Each device has its own value.
  case own
  /// Both peers need the same value, or they do not range.
  case equalOnBothPeers
  /// The controller decides and sends the value to the controlee on the air.
  case controller
  /// A controlee's own value, which its controller has to have.
  case controlee
}

/// Returns a name such as `DEVICE_CONFIG_0xE4_0x04`.
func unknownParameter(_ prefix: String, _ number: UInt8, _ subID: UInt8?) -> String {
  ([prefix, hex(number)] + (subID.map { [hex($0)] } ?? [])).joined(separator: "_")
}

/// The format of the bytes of a parameter's value.
package enum ParameterFormat: Hashable, Sendable {
  /// An unsigned number, little-endian; a code if the row has words for its values.
  case number
  /// A number in two's complement, little-endian.
  case signed
  /// One bit for each item; the row's `values` name them by the number of the bit.
  case mask
  /// A mask with the most significant byte first.
  case maskBigEndian
  /// Unsigned numbers of this many bytes each.
  case numbers(bytes: Int)
  /// Signed numbers of 16 bits each, with this many bits of fraction.
  case fixedPoint(fraction: Int)
  /// MAC addresses, one after another.
  case addresses
  /// Lowest and highest version: major, then minor and maintenance in a nibble each.
  case versionRange
  /// Letters and digits.
  case text
  /// Bytes with an order and meaning of their own.
  case bytes
}

extension Parameter {
  /// Returns the value as a number; nil if it is empty, longer than 8 bytes, or not a number.
  package func number(of value: [UInt8]) -> UInt64? {
    switch format {
    case .number, .mask: TLV(0, value).integer
    case .maskBigEndian: TLV(0, value.reversed()).integer
    default: nil
    }
  }

  /// Returns the words of a code or the set bits of a mask; nil where the row has none.
  package func meaning(of value: [UInt8]) -> String? {
    guard let number = number(of: value), !values.isEmpty else { return nil }
    guard format == .mask || format == .maskBigEndian else { return values[number] }
    let bits = (0..<UInt64(value.count * 8)).filter { number >> $0 & 1 != 0 }
    return bits.isEmpty ? "none" : bits.map { values[$0] ?? "bit \($0)" }.joined(separator: ", ")
  }

  /// Returns the value as text with its unit: `2400 RSTU`, `static`, `5, 9`, `00:01`.
  ///
  /// Callers check `isSecret` first, because secrets are not hidden here.
  package func words(for value: [UInt8]) -> String {
    if let meaning = meaning(of: value) { return meaning }
    let plain = fieldValue(of: value)
    let text = plain.plainWords ?? value.map { String(hex($0).dropFirst(2)) }.joined(separator: " ")
    return unit.map { "\(text) \($0)" } ?? text
  }

  /// Returns the value for a listing of a message; bytes where they do not have the format.
  package func fieldValue(of value: [UInt8]) -> FieldValue {
    let raw: FieldValue? = value.count <= 4 ? TLV(0, value).integer.map { .number($0) } : nil
    switch format {
    case .number, .mask, .maskBigEndian:
      return number(of: value).map { .number($0) } ?? .bytes(value)
    case .signed:
      guard let number = TLV(0, value).integer else { return .bytes(value) }
      let shift = 64 - UInt64(value.count * 8)
      return .number(Int64(bitPattern: number << shift) >> Int64(shift))
    case .numbers(let bytes):
      guard let list = value.chunks(of: bytes) else { return raw ?? .bytes(value) }
      return .list(list.map { TLV(0, $0).integer.map { .number($0) } ?? .bytes($0) })
    case .fixedPoint(let fraction):
      guard let list = value.chunks(of: 2) else { return .bytes(value) }
      return .list(
        list.map { .decimal(Double(Int16(littleEndianBytes: $0)) / Double(1 << fraction)) })
    case .addresses:
      // Extended addresses cannot be distinguished from four short ones. A value of exactly eight
      // bytes is one extended address where the parameter has only one address.
      let isExtended = lengths.contains(8) && value.count == 8
      guard let list = value.chunks(of: isExtended ? 8 : 2) else { return .bytes(value) }
      let texts = list.compactMap { MACAddress(bytes: $0).map { FieldValue.text($0.description) } }
      return texts.count == 1 ? texts[0] : .list(texts)
    case .versionRange:
      guard let list = value.chunks(of: 2), list.count == 2 else { return raw ?? .bytes(value) }
      let versions = list.map { UCIVersion($0[0], $0[1] >> 4, $0[1] & 15).description }
      return .text(versions.joined(separator: "-"))
    case .text:
      guard value.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return .bytes(value) }
      return .text(String(decoding: value, as: UTF8.self))
    case .bytes: return .bytes(value)
    }
  }
}

extension FieldValue {
  /// The value as one text, for numbers, texts, and lists of these; nil for other values.
  fileprivate var plainWords: String? {
    switch self {
    case .integer(let value): return String(value)
    case .unsigned(let value): return String(value)
    case .decimal(let value): return String(value)
    case .text(let value): return value
    case .list(let values):
      let words = values.compactMap(\.plainWords)
      return words.count == values.count ? words.joined(separator: ", ") : nil
    default: return nil
    }
  }
}

extension [UInt8] {
  /// Returns pieces of `count` bytes each; nil if there is no piece, or the last piece would be
  /// shorter.
  func chunks(of size: Int) -> [[UInt8]]? {
    guard size > 0, !isEmpty, count.isMultiple(of: size) else { return nil }
    return stride(from: 0, to: count, by: size).map { Array(self[$0..<$0 + size]) }
  }
}
