// SPDX-License-Identifier: Apache-2.0

/// Parses bytes of an untrusted sender; the depth is limited.
struct JSONParser {
  static let deepest = 32
  /// The number of members up to which each name is compared with all others.
  private static let few = 16
  /// The number of members for which an object has room at first.
  private static let usual = 8

  let bytes: [UInt8]
  private var at = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func whole() throws(JSONFault) -> JSONValue {
    at = bytes.withoutByteOrderMark.startIndex
    let result = try value(depth: 0)
    skipSpace()
    guard at == bytes.count else { throw fault("the text continues after its value") }
    return result
  }

  private func fault(_ reason: String, at place: Int? = nil) -> JSONFault {
    let before = bytes[..<min(place ?? at, bytes.count)]
    let line = before.count { $0 == UInt8(ascii: "\n") }
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return JSONFault(line: line + 1, column: before.count - start + 1, reason: reason)
  }

  private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { at += 1 }
  }

  /// Skips one byte if it is the expected one.
  private mutating func accept(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    at += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
    guard depth <= Self.deepest else { throw fault("more than \(Self.deepest) levels") }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return .object(try members(depth))
    case UInt8(ascii: "["): return .array(try elements(depth))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case nil: throw fault("the text ends where a value belongs")
    default: return try number()
    }
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws(JSONFault) -> JSONValue {
    guard bytes[at...].starts(with: word.utf8) else { throw fault("a value belongs here") }
    at += word.utf8.count
    return value
  }

  private mutating func elements(_ depth: Int) throws(JSONFault) -> [JSONValue] {
    at += 1
    var result: [JSONValue] = []
    skipSpace()
    if accept("]") { return result }
    while true {
      result.append(try value(depth: depth + 1))
      skipSpace()
      if accept("]") { return result }
      guard accept(",") else { throw fault("a comma or ] belongs here") }
    }
  }

  private mutating func members(_ depth: Int) throws(JSONFault) -> [JSONMember] {
    at += 1
    var result: [JSONMember] = []
    var names: Set<String> = []
    skipSpace()
    if accept("}") { return result }
    // Most objects are lines of sources, with few members.
    result.reserveCapacity(Self.usual)
    while true {
      skipSpace()
      let start = at
      guard next == UInt8(ascii: "\"") else {
        throw fault("a name in quotation marks belongs here")
      }
      let name = try string()
      // A set is slower for a few names, but protects against objects with very many names.
      if result.count == Self.few { names = Set(result.map(\.name)) }
      let isNew =
        result.count < Self.few
        ? !result.contains { $0.has(name) } : names.insert(name).inserted
      guard isNew else { throw fault("\(name) occurs twice", at: start) }
      skipSpace()
      guard accept(":") else { throw fault("a colon belongs here") }
      result.append(JSONMember(name, try value(depth: depth + 1)))
      skipSpace()
      if accept("}") { return result }
      guard accept(",") else { throw fault("a comma or } belongs here") }
    }
  }

  private mutating func digits(_ decimal: inout Decimal) throws(JSONFault) {
    let start = at
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
      decimal.append(byte - UInt8(ascii: "0"))
      at += 1
    }
    guard at > start else { throw fault("a digit belongs here") }
  }

  private mutating func number() throws(JSONFault) -> JSONValue {
    let start = at
    var decimal = Decimal(isNegative: accept("-"))
    guard let first = next, first >= UInt8(ascii: "0"), first <= UInt8(ascii: "9") else {
      throw fault(decimal.isNegative ? "a digit belongs here" : "a value belongs here")
    }
    if !accept("0") { try digits(&decimal) }
    if accept(".") {
      decimal.isWhole = false
      try digits(&decimal)
    }
    if accept("e") || accept("E") {
      decimal.hasExponent = true
      if !accept("+") { _ = accept("-") }
      var exponent = Decimal()
      try digits(&exponent)
    }
    if let whole = decimal.whole { return .whole(whole) }
    if let value = decimal.value { return .number(value) }
    // All bytes are ASCII.
    let text = String(decoding: bytes[start..<at], as: UTF8.self)
    if decimal.isWhole, let whole = UInt64(text), whole >= 1 << 53 { return .whole(whole) }
    guard let value = Double(text) else { throw fault("this is not a number", at: start) }
    return .number(value)
  }

  private mutating func string() throws(JSONFault) -> String {
    let start = at
    at += 1
    while let byte = next, 0x20..<0x80 ~= byte, byte != UInt8(ascii: "\""),
      byte != UInt8(ascii: "\\")
    {
      at += 1
    }
    // Most strings are ASCII without escapes.
    if next == UInt8(ascii: "\"") {
      defer { at += 1 }
      return String(decoding: bytes[(start + 1)..<at], as: UTF8.self)
    }
    var text = Array(bytes[(start + 1)..<at])
    while let byte = next {
      at += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let result = String(validating: text, as: UTF8.self) else {
          throw fault("the string is not UTF-8", at: start)
        }
        return result
      case UInt8(ascii: "\\"): text += String(try escape()).utf8
      case 0..<0x20: throw fault("a control character in a string", at: at - 1)
      default: text.append(byte)
      }
    }
    throw fault("the string does not end", at: start)
  }

  private mutating func escape() throws(JSONFault) -> Character {
    let start = at
    defer { at = max(at, min(start + 1, bytes.count)) }
    switch next {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
      return Character(Unicode.Scalar(bytes[at]))
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicode()
    default: throw fault("this escape is unknown")
    }
  }

  private mutating func unicode() throws(JSONFault) -> Character {
    let start = at
    var code = try unit()
    if 0xD800..<0xDC00 ~= code, accept("\\"), next == UInt8(ascii: "u") {
      let low = try unit()
      guard 0xDC00..<0xE000 ~= low else { throw fault("half a character", at: start) }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw fault("half a character", at: start) }
    return Character(scalar)
  }

  /// Reads `u` and four hexadecimal digits.
  private mutating func unit() throws(JSONFault) -> UInt32 {
    let text = bytes.dropFirst(at + 1).prefix(4)
    guard text.count == 4, text.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
      let code = UInt32(String(decoding: text, as: UTF8.self), radix: 16)
    else { throw fault("four hexadecimal digits belong after \\u") }
    at += 5
    return code
  }
}

extension [UInt8] {
  /// The bytes after a byte order mark, with which some editors begin a text of UTF-8.
  package var withoutByteOrderMark: ArraySlice<UInt8> {
    starts(with: [0xEF, 0xBB, 0xBF]) ? self[3...] : self[...]
  }
}
