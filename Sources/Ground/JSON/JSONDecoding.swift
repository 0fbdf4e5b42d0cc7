// SPDX-License-Identifier: Apache-2.0

extension JSONNode {
  /// Decodes a value of a type.
  ///
  /// - Parameters:
  ///   - name: the name of this value, for errors.
  ///   - ignoresUnknown: whether an object may have members that its type lacks. Members that are
  ///     null are always allowed.
  /// - Throws: `JSONError` with the place, or an error of the type.
  package func decode<T: Decodable>(
    _ type: T.Type = T.self, in name: String? = nil, ignoresUnknown: Bool = false
  ) throws -> T {
    try NodeDecoder(
      node: self, path: name.map { [$0] } ?? [], ignoresUnknown: ignoresUnknown
    ).decode(type)
  }
}

private struct NodeDecoder: Decoder, SingleValueDecodingContainer {
  let node: JSONNode
  let path: [String]
  let ignoresUnknown: Bool

  // Errors have the place in the text, so the path is not needed.
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func inner(_ node: JSONNode, _ name: String) -> NodeDecoder {
    NodeDecoder(node: node, path: path + [name], ignoresUnknown: ignoresUnknown)
  }

  func error(_ reason: String) -> JSONError {
    node.error(reason + (path.isEmpty ? " at the top" : " in \(path.joined(separator: "."))"))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let members = node.object else { throw error("an object belongs") }
    for (name, value) in members
    where !ignoresUnknown && Key(stringValue: name) == nil && !value.isNull {
      throw NodeDecoder(node: value, path: path, ignoresUnknown: false)
        .error("the key \(name) is unknown")
    }
    let values = Dictionary(members.map { ($0.name, $0.value) }) { $1 }
    return KeyedDecodingContainer(Members(decoder: self, values: values))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let values = node.array else { throw error("a list belongs") }
    return Elements(decoder: self, values: values)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { node.isNull }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    switch type {
    case is Bool.Type:
      guard case .bool(let value as T) = node.content else {
        throw error("true or false belongs")
      }
      return value
    case is String.Type:
      guard let text = node.string as? T else { throw error("a string belongs") }
      return text
    case let type as any FixedWidthInteger.Type:
      guard let value = type.init(node) as? T else { throw error("a whole number belongs") }
      return value
    case let type as any BinaryFloatingPoint.Type:
      guard let value = node.number.map({ type.init($0) }) as? T else {
        throw error("a number belongs")
      }
      return value
    default:
      do { return try T(from: self) } catch DecodingError.dataCorrupted(let context) {
        throw error("\(context.debugDescription),")
      }
    }
  }
}

extension FixedWidthInteger {
  /// Converts a number. The digits may be hexadecimal, and an exponent is allowed, as in 1e3.
  fileprivate init?(_ node: JSONNode) {
    guard let number = node.number, case .number(let text) = node.content,
      let value = Self(text) ?? Int64(exactly: number).flatMap({ Self(exactly: $0) })
    else { return nil }
    self = value
  }
}

extension NodeDecoder {
  struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: NodeDecoder
    let values: [String: JSONNode]

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { values.keys.sorted().compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { values[key.stringValue] != nil }

    private func inner(_ key: Key) throws -> NodeDecoder {
      guard let value = values[key.stringValue] else {
        throw decoder.error("\(key.stringValue) is missing")
      }
      return decoder.inner(value, key.stringValue)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try inner(key).decodeNil() }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
      try inner(key).decode(type)
    }

    func nestedContainer<Inner: CodingKey>(
      keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> { try inner(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try inner(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder }

    func superDecoder(forKey key: Key) throws -> any Decoder { try inner(key) }
  }

  struct Elements: UnkeyedDecodingContainer {
    let decoder: NodeDecoder
    let values: [JSONNode]
    var currentIndex = 0

    var codingPath: [any CodingKey] { [] }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    private mutating func inner() throws -> NodeDecoder {
      guard !isAtEnd else { throw decoder.error("an element is missing") }
      defer { currentIndex += 1 }
      return decoder.inner(values[currentIndex], "\(currentIndex)")
    }

    mutating func decodeNil() throws -> Bool {
      guard !isAtEnd, values[currentIndex].isNull else { return false }
      currentIndex += 1
      return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try inner().decode(type) }

    mutating func nestedContainer<Key: CodingKey>(
      keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> { try inner().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try inner().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try inner() }
  }
}
