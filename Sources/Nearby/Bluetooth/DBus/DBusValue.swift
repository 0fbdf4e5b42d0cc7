// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A D-Bus value.
package indirect enum DBusValue: Sendable, Hashable {
  case byte(UInt8)
  case bool(Bool)
  case int16(Int16)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  case path(String)
  case signature(String)
  case descriptor(OwnedDescriptor)
  /// An array of bytes.
  case bytes([UInt8])
  /// An array of other elements; `of` is the signature of an element.
  case array([DBusValue], of: String)
  /// A dictionary in the order in which it is sent; `of` is the signature of key and value.
  case dictionary([Entry], of: String)
  case structure([DBusValue])
  case variant(DBusValue)

  package struct Entry: Sendable, Hashable {
    package let key: DBusValue
    package let value: DBusValue

    package init(_ key: DBusValue, _ value: DBusValue) {
      self.key = key
      self.value = value
    }
  }

  /// The D-Bus signature of the value.
  package var signature: String {
    switch self {
    case .byte: "y"
    case .bool: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .path: "o"
    case .signature: "g"
    case .descriptor: "h"
    case .bytes: "ay"
    case .array(_, let element): "a" + element
    case .dictionary(_, let entry): "a{\(entry)}"
    case .structure(let members): "(" + members.map(\.signature).joined() + ")"
    case .variant: "v"
    }
  }
}

// MARK: creating values

extension DBusValue {
  /// Returns an array of strings, `as`.
  package static func strings(_ strings: [String]) -> Self {
    .array(strings.map(Self.string), of: "s")
  }

  /// Returns a dictionary of variants, `a{sv}`.
  package static func properties(_ properties: KeyValuePairs<String, DBusValue>) -> Self {
    Self.properties(properties.map { ($0.key, $0.value) })
  }

  /// Returns a dictionary of variants, `a{sv}`.
  package static func properties(_ properties: [(String, DBusValue)]) -> Self {
    .dictionary(properties.map { Entry(.string($0.0), .variant($0.1)) }, of: "sv")
  }
}

// MARK: reading values; nil for values of another type

extension DBusValue {
  package var string: String? {
    switch self {
    case .string(let text), .path(let text): text
    default: nil
    }
  }

  package var path: String? {
    guard case .path(let path) = self else { return nil }
    return path
  }

  package var bool: Bool? {
    guard case .bool(let value) = self else { return nil }
    return value
  }

  /// An integer of any width; nil if it exceeds `Int`.
  package var integer: Int? {
    switch self {
    case .byte(let value): Int(value)
    case .int16(let value): Int(value)
    case .uint16(let value): Int(value)
    case .int32(let value): Int(value)
    case .uint32(let value): Int(value)
    case .int64(let value): Int(value)
    case .uint64(let value): Int(exactly: value)
    default: nil
    }
  }

  package var bytes: [UInt8]? {
    guard case .bytes(let bytes) = self else { return nil }
    return bytes
  }

  package var descriptor: OwnedDescriptor? {
    guard case .descriptor(let descriptor) = self else { return nil }
    return descriptor
  }

  package var strings: [String]? {
    guard case .array(let values, _) = self else { return nil }
    let strings = values.compactMap(\.string)
    return strings.count == values.count ? strings : nil
  }

  package var entries: [Entry]? {
    guard case .dictionary(let entries, _) = self else { return nil }
    return entries
  }

  /// The value inside a variant, or this value if it is not a variant.
  package var content: DBusValue {
    if case .variant(let value) = self { value.content } else { self }
  }

  /// The values of `a{sv}` without their variants. The last of several values with one name counts.
  package var properties: [String: DBusValue]? {
    guard case .dictionary(let entries, "sv") = self else { return nil }
    return Dictionary(
      entries.map { ($0.key.string ?? "", $0.value.content) }, uniquingKeysWith: { $1 })
  }
}

/// A descriptor that is closed with its last reference.
package final class OwnedDescriptor: Sendable, Hashable {
  package let number: Int32

  package init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  package static func == (a: OwnedDescriptor, b: OwnedDescriptor) -> Bool { a === b }
  package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
