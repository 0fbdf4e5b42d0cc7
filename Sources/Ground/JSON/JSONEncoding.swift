// SPDX-License-Identifier: Apache-2.0

extension JSON {
  /// Encodes a value.
  ///
  /// - Throws: `JSONError` for a number that is not finite.
  package init(encoding value: some Encodable) throws {
    let encoder = ValueEncoder()
    try encoder.encode(value)
    self = encoder.json
  }
}

/// A value that is being encoded, with its inner values.
private final class ValueEncoder: Encoder, SingleValueEncodingContainer {
  private enum Content {
    case value(JSON)
    case object([String: ValueEncoder])
    case array([ValueEncoder])
  }

  private var content = Content.value(.null)

  var json: JSON {
    switch content {
    case .value(let value): value
    case .object(let members): .object(members.mapValues(\.json))
    case .array(let values): .array(values.map(\.json))
    }
  }

  var count: Int { if case .array(let values) = content { values.count } else { 0 } }
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func member(_ key: any CodingKey) -> ValueEncoder {
    guard case .object(var members) = content else { return ValueEncoder() }
    let inner = members[key.stringValue] ?? ValueEncoder()
    content = .value(.null)
    members[key.stringValue] = inner
    content = .object(members)
    return inner
  }

  func element() -> ValueEncoder {
    guard case .array(var values) = content else { return ValueEncoder() }
    let inner = ValueEncoder()
    // With a second reference, appending would copy the array.
    content = .value(.null)
    values.append(inner)
    content = .array(values)
    return inner
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .value = content { content = .object([:]) }
    return KeyedEncodingContainer(Members(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    content = .array([])
    return Elements(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { content = .value(.null) }

  func encode<T: Encodable>(_ value: T) throws {
    switch value {
    case let value as Bool: content = .value(.bool(value))
    case let text as String: content = .value(.string(text))
    case let number as any BinaryInteger:
      content = .value(Int64(exactly: number).map(JSON.integer) ?? .number(Double(number)))
    case let number as any BinaryFloatingPoint:
      // Such a number would be written as null, which cannot be read as a number.
      guard number.isFinite else { throw JSONError(nil, "a number is not finite") }
      content = .value(.number(Double(number)))
    default: try value.encode(to: self)
    }
  }
}

extension ValueEncoder {
  struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { encoder.member(key).encodeNil() }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
      try encoder.member(key).encode(value)
    }

    func nestedContainer<Inner: CodingKey>(
      keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> { encoder.member(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      encoder.member(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder }

    func superEncoder(forKey key: Key) -> any Encoder { encoder.member(key) }
  }

  struct Elements: UnkeyedEncodingContainer {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { [] }
    var count: Int { encoder.count }

    func encodeNil() { encoder.element().encodeNil() }

    func encode<T: Encodable>(_ value: T) throws { try encoder.element().encode(value) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
      encoder.element().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      encoder.element().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.element() }
  }
}
