// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// The parts of a reply whose parameters are not parsed: only their end is searched.
struct ReplyParts: Sendable, Hashable {
  /// An object of JSON, unless the service is broken.
  var parameters = Array("{}".utf8)
  var continues = false
  var error: String?

  /// Splits a message without its zero byte.
  ///
  /// - Throws: `VarlinkMessageError`.
  init(_ message: [UInt8]) throws(VarlinkMessageError) {
    var scanner = MemberScanner(bytes: message)
    guard scanner.take("{") else { throw .notAnObject }
    guard !scanner.take("}") else { return }
    repeat {
      let name = scanner.value()
      guard scanner.take(":") else { throw .notAnObject }
      let value = scanner.value()
      try set(String(decoding: name, as: UTF8.self), value)
    } while scanner.take(",")
    guard scanner.take("}") else { throw .notAnObject }
  }

  private mutating func set(
    _ name: String, _ value: ArraySlice<UInt8>
  ) throws(VarlinkMessageError) {
    let isNull = value.elementsEqual("null".utf8)
    switch name {
    case #""parameters""# where !isNull:
      guard value.first == UInt8(ascii: "{"), value.last == UInt8(ascii: "}") else {
        throw .invalid(member: "parameters")
      }
      parameters = Array(value)
    case #""continues""#: continues = value.elementsEqual("true".utf8)
    case #""error""# where !isNull:
      guard let text = try? JSON(Array(value)).string else { throw .invalid(member: "error") }
      error = text
    default: break
    }
  }
}

/// Finds the ends of values in an object.
private struct MemberScanner {
  let bytes: [UInt8]
  var position = 0

  private mutating func skipBlanks() {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
      position += 1
    }
  }

  mutating func take(_ character: Character) -> Bool {
    skipBlanks()
    guard position < bytes.count, bytes[position] == character.asciiValue else { return false }
    position += 1
    return true
  }

  /// Skips one value, and returns its bytes.
  mutating func value() -> ArraySlice<UInt8> {
    skipBlanks()
    let start = position
    var depth = 0
    scan: while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""): skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { break scan }
        depth -= 1
      case UInt8(ascii: ","), UInt8(ascii: ":"):
        if depth == 0 { break scan }
      default: break
      }
      position += 1
    }
    position = min(position, bytes.count)
    var end = position
    while end > start, bytes[end - 1] <= 0x20 { end -= 1 }
    return bytes[start..<end]
  }

  /// Moves to the quotation mark that ends a string.
  private mutating func skipString() {
    position += 1
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
  }
}
