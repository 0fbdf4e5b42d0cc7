// SPDX-License-Identifier: Apache-2.0

/// Reads JSON with the usual liberties of JSON5: comments, trailing commas, names without quotes,
/// single quotes, hexadecimal numbers. Tracks the line; evaluates nothing, and bounds nesting.
struct ProfileReader {
  private let bytes: [UInt8]
  private var place = 0
  private var line = 1

  private static let deepest = 8

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads the value that the whole file consists of.
  static func read(_ bytes: [UInt8]) throws(ProfileError) -> ProfileValue {
    var reader = ProfileReader(bytes)
    let value = try reader.value(depth: 0)
    try reader.skipBlanks()
    guard reader.place == bytes.count else { throw reader.unexpected("the end of the file") }
    return value
  }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func advance() {
    if bytes[place] == 0x0A { line += 1 }
    place += 1
  }

  private func starts(with text: StaticString) -> Bool {
    let wanted = "\(text)".utf8
    return bytes[place...].starts(with: wanted)
  }

  private func unexpected(_ wanted: String) -> ProfileError {
    let found: String
    switch next {
    case nil: found = "the file ends"
    case let byte? where (0x21...0x7E).contains(byte):
      found = "there is '\(Character(Unicode.Scalar(byte)))'"
    default: found = "there is something else"
    }
    return .notJSON(line: line, "\(found) where \(wanted) should be")
  }

  private mutating func skipBlanks() throws(ProfileError) {
    while let byte = next {
      if byte == 0x20 || (0x09...0x0D).contains(byte) {
        advance()
      } else if starts(with: "\u{FEFF}") {
        place += 3
      } else if starts(with: "//") {
        while let byte = next, byte != 0x0A { _ = byte; advance() }
      } else if starts(with: "/*") {
        let beginning = line
        while !starts(with: "*/") {
          guard next != nil else {
            throw .notJSON(line: beginning, "this comment has no end")
          }
          advance()
        }
        place += 2
      } else {
        return
      }
    }
  }

  private mutating func value(depth: Int) throws(ProfileError) -> ProfileValue {
    guard depth < Self.deepest else { throw .notJSON(line: line, "it is nested too deeply") }
    try skipBlanks()
    switch next {
    case UInt8(ascii: "{"): return .object(try members(depth))
    case UInt8(ascii: "["):
      return .list(
        try list(until: "]") { reader throws(ProfileError) in try reader.value(depth: depth + 1) })
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .text(try quoted())
    default:
      let word = bare()
      switch word {
      case "": throw unexpected("a value")
      case "true": return .bool(true)
      case "false": return .bool(false)
      case "null": return .null
      default:
        guard let first = word.utf8.first,
          (0x30...0x39).contains(first) || "+-.".utf8.contains(first)
        else { throw .notJSON(line: line, "'\(word)' lacks its quotation marks") }
        return .number(word)
      }
    }
  }

  /// Reads letters, digits and the other characters of numbers and names.
  private mutating func bare() -> String {
    let beginning = place
    while let byte = next {
      let isPart =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
        || (0x61...0x7A).contains(byte) || "_$+-.".utf8.contains(byte)
      guard isPart else { break }
      place += 1
    }
    return String(decoding: bytes[beginning..<place], as: UTF8.self)
  }

  private mutating func members(_ depth: Int) throws(ProfileError) -> [ProfileValue.Member] {
    var names: Set<String> = []
    return try list(until: "}") { reader throws(ProfileError) in
      let line = reader.line
      let isQuoted = reader.next == UInt8(ascii: "\"") || reader.next == UInt8(ascii: "'")
      let name = isQuoted ? try reader.quoted() : reader.bare()
      guard isQuoted || !name.isEmpty else { throw reader.unexpected("a name or }") }
      guard names.insert(name).inserted else { throw .notJSON(line: line, "\(name) is here twice") }
      try reader.skipBlanks()
      guard reader.next == UInt8(ascii: ":") else { throw reader.unexpected("a colon") }
      reader.place += 1
      return .init(name: name, line: line, value: try reader.value(depth: depth + 1))
    }
  }

  /// Reads the elements between two brackets, separated by commas.
  private mutating func list<Element>(
    until end: Character, _ element: (inout ProfileReader) throws(ProfileError) -> Element
  ) throws(ProfileError) -> [Element] {
    place += 1
    var elements: [Element] = []
    while true {
      try skipBlanks()
      if next == end.asciiValue { break }
      elements.append(try element(&self))
      try skipBlanks()
      if next == UInt8(ascii: ",") { place += 1 } else { break }
    }
    guard next == end.asciiValue else { throw unexpected("a comma or \(end)") }
    place += 1
    return elements
  }

  private mutating func quoted() throws(ProfileError) -> String {
    let (mark, beginning) = (bytes[place], line)
    place += 1
    var text: [UInt8] = []
    while let byte = next, byte != mark {
      guard byte != 0x0A else { break }
      place += 1
      if byte == UInt8(ascii: "\\"), let escaped = next {
        // The characters of parameters need no other escapes.
        guard "\\\"'/".utf8.contains(escaped) else {
          throw .notJSON(line: line, "there is an escape that profiles do not have")
        }
        text.append(escaped)
        place += 1
      } else {
        text.append(byte)
      }
    }
    guard next == mark else { throw .notJSON(line: beginning, "this text has no end") }
    place += 1
    return String(decoding: text, as: UTF8.self)
  }
}

/// A value of JSON as far as profiles use it, before interpretation.
enum ProfileValue: Equatable {
  /// A number as written.
  case number(String)
  case bool(Bool)
  case text(String)
  case list([ProfileValue])
  case object([Member])
  case null

  /// A named value and the line of its name.
  struct Member: Equatable {
    var name: String
    var line: Int
    var value: ProfileValue
  }

  /// The value as a whole number, also from a text.
  var number: UInt64? {
    switch self {
    case .number(let text), .text(let text):
      text.lowercased().hasPrefix("0x") ? UInt64(hexDigits: text.dropFirst(2)) : UInt64(text)
    default: nil
    }
  }

  /// The value as a parameter is written; nil for values that no parameter has.
  var text: String? {
    switch self {
    case .number(let text), .text(let text): return text
    case .bool(let value): return value ? "on" : "off"
    case .list(let values):
      let texts = values.compactMap(\.text)
      return texts.count == values.count ? texts.joined(separator: ",") : nil
    case .object, .null: return nil
    }
  }
}
