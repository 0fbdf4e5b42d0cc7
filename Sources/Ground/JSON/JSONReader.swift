// SPDX-License-Identifier: Apache-2.0

extension JSONNode {
  package enum Mode: Sendable {
    /// RFC 8259.
    case strict
    /// Files that people write. Also accepts comments, a byte order mark, trailing commas, names
    /// without quotation marks, single quotes, the escapes of JSON5, and all words that begin like
    /// numbers.
    case lenient
  }

  /// Parses a text from an untrusted sender.
  ///
  /// The nesting depth is limited, and the memory is proportional to the number of bytes. A
  /// duplicate name in an object is an error, because parsers disagree about which value counts.
  ///
  /// - Parameter deepest: the greatest nesting depth.
  /// - Throws: `JSONError`.
  package init(
    _ bytes: [UInt8], _ mode: Mode, deepest: Int = JSON.deepest
  ) throws(JSONError) {
    var reader = JSONReader(bytes: bytes, isLenient: mode == .lenient, deepest: deepest)
    self = try reader.document()
  }
}

private struct JSONReader {
  let bytes: [UInt8]
  let isLenient: Bool
  let deepest: Int
  private var position = 0
  private var line = 1
  private var lineStart = 0

  init(bytes: [UInt8], isLenient: Bool, deepest: Int) {
    (self.bytes, self.isLenient, self.deepest) = (bytes, isLenient, deepest)
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private var place: JSONPlace { JSONPlace(line: line, column: position - lineStart + 1) }

  private func error(_ reason: String) -> JSONError { JSONError(place, reason) }

  private func unexpected(_ wanted: String) -> JSONError {
    let found =
      switch next {
      case nil: "the text ends"
      case let byte? where 0x21...0x7E ~= byte: "there is '\(Character(Unicode.Scalar(byte)))'"
      default: "there is something else"
      }
    return error("\(found) where \(wanted) should be")
  }

  private mutating func take(_ byte: Character) -> Bool {
    guard next == byte.asciiValue else { return false }
    position += 1
    return true
  }

  private func starts(with text: StaticString) -> Bool {
    bytes[position...].starts(with: "\(text)".utf8)
  }

  mutating func document() throws(JSONError) -> JSONNode {
    try skipBlanks()
    let value = try value(depth: 0)
    try skipBlanks()
    guard next == nil else { throw unexpected("the end of the text") }
    return value
  }

  // MARK: blanks

  private mutating func skipBlanks() throws(JSONError) {
    while let byte = next {
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: skip()
      case 0x0B where isLenient, 0x0C where isLenient: skip()
      case 0xEF where isLenient && starts(with: "\u{FEFF}"): position += 3
      case UInt8(ascii: "/") where isLenient && starts(with: "//"):
        while let byte = next, byte != 0x0A { position += 1 }
      case UInt8(ascii: "/") where isLenient && starts(with: "/*"): try skipComment()
      default: return
      }
    }
  }

  private mutating func skip() {
    position += 1
    if bytes[position - 1] == 0x0A { (line, lineStart) = (line + 1, position) }
  }

  private mutating func skipComment() throws(JSONError) {
    let beginning = place
    position += 2
    while !starts(with: "*/") {
      guard next != nil else { throw JSONError(beginning, "this comment has no end") }
      skip()
    }
    position += 2
  }

  // MARK: values

  private mutating func value(depth: Int) throws(JSONError) -> JSONNode {
    let place = place
    let content: JSONNode.Content =
      switch next {
      case UInt8(ascii: "{"): .object(try members(depth))
      case UInt8(ascii: "["): .array(try values(depth))
      case UInt8(ascii: "\""): .string(try string())
      case UInt8(ascii: "'") where isLenient: .string(try string())
      default: try word()
      }
    return JSONNode(content, at: place)
  }

  private mutating func values(_ depth: Int) throws(JSONError) -> [JSONNode] {
    var values: [JSONNode] = []
    try elements(until: "]", depth) { reader throws(JSONError) in
      values.append(try reader.value(depth: depth + 1))
    }
    return values
  }

  private mutating func members(
    _ depth: Int
  ) throws(JSONError) -> [(name: String, value: JSONNode)] {
    var names: Set<String> = []
    var members: [(name: String, value: JSONNode)] = []
    try elements(until: "}", depth) { reader throws(JSONError) in
      let place = reader.place
      let name = try reader.name()
      guard names.insert(name).inserted else { throw JSONError(place, "\(name) is here twice") }
      try reader.skipBlanks()
      guard reader.take(":") else { throw reader.unexpected("a colon") }
      try reader.skipBlanks()
      var value = try reader.value(depth: depth + 1)
      value.place = place
      members.append((name, value))
    }
    return members
  }

  private mutating func name() throws(JSONError) -> String {
    if next == UInt8(ascii: "\"") || isLenient && next == UInt8(ascii: "'") { return try string() }
    let name = isLenient ? bareWord() : ""
    guard !name.isEmpty else { throw unexpected("a name or }") }
    return name
  }

  /// Reads the elements between two brackets, separated by commas.
  private mutating func elements(
    until end: Character, _ depth: Int,
    _ element: (inout JSONReader) throws(JSONError) -> Void
  ) throws(JSONError) {
    guard depth < deepest else { throw error("it is nested too deeply") }
    position += 1
    try skipBlanks()
    guard !take(end) else { return }
    repeat {
      try element(&self)
      try skipBlanks()
      guard take(",") else {
        guard take(end) else { throw unexpected("a comma or \(end)") }
        return
      }
      try skipBlanks()
    } while !isLenient || !take(end)
  }

  /// Reads a number, or a word without quotation marks.
  private mutating func word() throws(JSONError) -> JSONNode.Content {
    let (beginning, place) = (position, place)
    let word = bareWord()
    switch word {
    case "": throw unexpected("a value")
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    default: break
    }
    let first = bytes[beginning]
    guard
      0x30...0x39 ~= first || first == UInt8(ascii: "-") || isLenient && "+.".utf8.contains(first)
    else { throw JSONError(place, "\(Self.shown(word)) lacks its quotation marks") }
    if isLenient { return .number(word) }
    position = beginning
    return .number(try number())
  }

  /// Returns a word for the text of an error. Leaves out its digits if it may be a key.
  private static func shown(_ word: String) -> String {
    let isKey = word.count >= 8 && word.allSatisfy(\.isHexDigit)
    return isKey ? "a value in hexadecimal digits" : "'\(word.prefix(40))'"
  }

  /// Skips letters, digits and the other characters of numbers and names.
  private mutating func bareWord() -> String {
    let beginning = position
    while let byte = next {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: break
      case _ where "_$+-.".utf8.contains(byte): break
      default: return String(decoding: bytes[beginning..<position], as: UTF8.self)
      }
      position += 1
    }
    return String(decoding: bytes[beginning..<position], as: UTF8.self)
  }

  private mutating func number() throws(JSONError) -> String {
    let start = position
    _ = take("-")
    let first = position
    guard digits() > 0 else { throw error("a digit is missing") }
    guard position - first == 1 || bytes[first] != UInt8(ascii: "0") else {
      throw error("a number begins with 0")
    }
    if take(".") {
      guard digits() > 0 else { throw error("a digit is missing") }
    }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      guard digits() > 0 else { throw error("a digit is missing") }
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard Double(text)?.isFinite == true else { throw error("a number is too large") }
    return text
  }

  /// Skips digits, and returns their number.
  private mutating func digits() -> Int {
    let start = position
    while let byte = next, 0x30...0x39 ~= byte { position += 1 }
    return position - start
  }

  // MARK: strings

  private mutating func string() throws(JSONError) -> String {
    let (mark, beginning) = (next, place)
    position += 1
    var text: [UInt8] = []
    while let byte = next, byte != mark, byte != 0x0A {
      guard byte >= 0x20 || isLenient else { throw error("a control character is not escaped") }
      position += 1
      if byte == UInt8(ascii: "\\") {
        text += try escaped()
      } else {
        text.append(byte)
      }
    }
    guard next != nil, next == mark else { throw error("this text has no end") }
    position += 1
    guard let string = String(validating: text, as: UTF8.self) else {
      throw JSONError(beginning, "the text is not UTF-8")
    }
    return string
  }

  /// Parses an escape sequence after its backslash, and returns the character as UTF-8.
  private mutating func escaped() throws(JSONError) -> [UInt8] {
    guard let byte = next else { throw error("this text has no end") }
    skip()
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return Array(String(try character()).utf8)
    case UInt8(ascii: "'") where isLenient: return [byte]
    case UInt8(ascii: "v") where isLenient: return [0x0B]
    case UInt8(ascii: "0") where isLenient: return [0x00]
    case UInt8(ascii: "x") where isLenient:
      return Array(String(Unicode.Scalar(UInt8(try hexadecimal(2)))).utf8)
    case 0x0A where isLenient: return []
    default: throw error("the escape sequence is unknown")
    }
  }

  /// Parses one or two UTF-16 code units, the first one after its `\u`.
  private mutating func character() throws(JSONError) -> Character {
    var unit = try hexadecimal(4)
    if 0xD800..<0xDC00 ~= unit {
      guard take("\\"), take("u"), case let low = try hexadecimal(4), 0xDC00..<0xE000 ~= low else {
        throw error("half of a surrogate pair is missing")
      }
      unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(unit) else {
      throw error("half of a surrogate pair is missing")
    }
    return Character(scalar)
  }

  private mutating func hexadecimal(_ count: Int) throws(JSONError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<count {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("an escape sequence needs \(count) hexadecimal digits")
      }
      unit = unit << 4 | UInt32(digit)
      position += 1
    }
    return unit
  }
}
