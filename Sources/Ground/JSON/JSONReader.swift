// SPDX-License-Identifier: Apache-2.0

/// The reason why bytes are not JSON.
package struct JSONError: Error, Hashable, CustomStringConvertible {
  /// The offset of the byte at which parsing failed.
  package var position: Int
  /// The cause of the error, without a full stop.
  package var reason: String

  package init(position: Int, reason: String) { (self.position, self.reason) = (position, reason) }

  package var description: String { "byte \(position): \(reason)" }
}

extension JSON {
  /// The greatest nesting depth of arrays and objects.
  package static let deepest = 32

  /// Parses JSON (RFC 8259) from an untrusted sender.
  ///
  /// The nesting depth is limited, and the memory is proportional to the number of bytes. A
  /// duplicate name in an object is an error, because parsers disagree about which value counts.
  ///
  /// - Throws: `JSONError`.
  package init(_ bytes: [UInt8]) throws(JSONError) {
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw JSONError(position: 0, reason: "the text is not UTF-8")
    }
    var reader = JSONReader(bytes: bytes)
    self = try reader.document()
  }
}

/// Parses bytes that are valid UTF-8.
private struct JSONReader {
  let bytes: [UInt8]
  var position = 0

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func error(_ reason: String) -> JSONError {
    JSONError(position: position, reason: reason)
  }

  mutating func document() throws(JSONError) -> JSON {
    let value = try value(depth: 0)
    skipBlanks()
    guard next == nil else { throw error("something follows the value") }
    return value
  }

  private mutating func skipBlanks() {
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
  }

  private mutating func take(_ byte: Character) -> Bool {
    guard next == byte.asciiValue else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSON {
    skipBlanks()
    switch next {
    case nil: throw error("a value is missing")
    case UInt8(ascii: "{"): return try object(depth)
    case UInt8(ascii: "["): return try array(depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ text: String, _ value: JSON) throws(JSONError) -> JSON {
    guard bytes[position...].starts(with: text.utf8) else { throw error("no value begins here") }
    position += text.utf8.count
    return value
  }

  private mutating func open(_ depth: Int) throws(JSONError) {
    guard depth < JSON.deepest else { throw error("it is nested too deeply") }
    position += 1
    skipBlanks()
  }

  /// Skips a separator, and reports whether another element follows.
  private mutating func goesOn(until end: Character) throws(JSONError) -> Bool {
    skipBlanks()
    if take(",") { return true }
    guard take(end) else { throw error("a comma or \(end) is missing") }
    return false
  }

  private mutating func array(_ depth: Int) throws(JSONError) -> JSON {
    try open(depth)
    guard !take("]") else { return .array([]) }
    var values: [JSON] = []
    repeat { values.append(try value(depth: depth + 1)) } while try goesOn(until: "]")
    return .array(values)
  }

  private mutating func object(_ depth: Int) throws(JSONError) -> JSON {
    try open(depth)
    guard !take("}") else { return .object([:]) }
    var members: [String: JSON] = [:]
    repeat {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw error("a name is missing") }
      let start = position
      let name = try string()
      skipBlanks()
      guard take(":") else { throw error("a colon is missing") }
      let value = try value(depth: depth + 1)
      guard members.updateValue(value, forKey: name) == nil else {
        throw JSONError(position: start, reason: "the name is a duplicate")
      }
    } while try goesOn(until: "}")
    return .object(members)
  }

  private mutating func string() throws(JSONError) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = next, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw error("a control character is not escaped") }
      position += 1
      if byte == UInt8(ascii: "\\") {
        text += try escaped()
      } else {
        text.append(byte)
      }
    }
    guard take("\"") else { throw error("a string has no end") }
    return String(decoding: text, as: UTF8.self)
  }

  /// Parses an escape sequence after its backslash, and returns the character as UTF-8.
  private mutating func escaped() throws(JSONError) -> [UInt8] {
    guard let byte = next else { throw error("a string has no end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): break
    default: throw error("the escape sequence is unknown")
    }
    var unit = try hexadecimal()
    if 0xD800..<0xDC00 ~= unit {
      guard take("\\"), take("u"), case let low = try hexadecimal(), 0xDC00..<0xE000 ~= low else {
        throw error("half of a surrogate pair is missing")
      }
      unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(unit) else {
      throw error("half of a surrogate pair is missing")
    }
    return Array(String(scalar).utf8)
  }

  private mutating func hexadecimal() throws(JSONError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("\\u needs four hexadecimal digits")
      }
      unit = unit << 4 | UInt32(digit)
      position += 1
    }
    return unit
  }

  private mutating func number() throws(JSONError) -> JSON {
    let start = position
    _ = take("-")
    let first = position
    guard digits() > 0 else { throw error("no value begins here") }
    guard position - first == 1 || bytes[first] != UInt8(ascii: "0") else {
      throw error("a number begins with 0")
    }
    var isInteger = true
    if take(".") {
      isInteger = false
      guard digits() > 0 else { throw error("a digit is missing") }
    }
    if take("e") || take("E") {
      isInteger = false
      if !take("+") { _ = take("-") }
      guard digits() > 0 else { throw error("a digit is missing") }
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let integer = Int64(text) { return .integer(integer) }
    guard let number = Double(text), number.isFinite else { throw error("a number is too large") }
    return .number(number)
  }

  /// Skips digits, and returns their number.
  private mutating func digits() -> Int {
    let start = position
    while let byte = next, 0x30...0x39 ~= byte { position += 1 }
    return position - start
  }
}
