// SPDX-License-Identifier: Apache-2.0

/// The reason why a text does not describe an interface.
package struct VarlinkInterfaceError: Error, Hashable, CustomStringConvertible {
  /// The line of the error, counted from 1.
  package var line: Int
  /// The cause of the error, without a full stop.
  package var reason: String

  package var description: String { "line \(line): \(reason)" }
}

extension VarlinkInterface {
  /// The greatest nesting depth of types.
  package static let deepest = 16

  /// Parses the description of an interface, and checks that each type in it is declared.
  ///
  /// Follows the grammar of varlink.org, but accepts any white space in place of a line end.
  ///
  /// - Throws: `VarlinkInterfaceError`.
  package init(_ text: String) throws(VarlinkInterfaceError) {
    var reader = InterfaceReader(bytes: Array(text.utf8))
    self = try reader.interface()
  }
}

private struct InterfaceReader {
  typealias Field = VarlinkInterface.Field
  typealias Member = VarlinkInterface.Member
  typealias ValueType = VarlinkInterface.ValueType

  let bytes: [UInt8]
  var position = 0
  var line = 1
  /// The lines of the comment directly before the next word.
  var comment: [String] = []
  /// The types that are used, with the line of their first use.
  var used: [String: Int] = [:]

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func error(_ reason: String) -> VarlinkInterfaceError {
    VarlinkInterfaceError(line: line, reason: reason)
  }

  mutating func interface() throws(VarlinkInterfaceError) -> VarlinkInterface {
    skipBlanks()
    let comment = takeComment()
    guard word() == "interface" else { throw error("a description begins with interface") }
    skipBlanks()
    let name = word { Self.isNamePart($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    guard Self.isInterfaceName(name) else {
      throw error("an interface has a reversed domain as name")
    }
    var interface = VarlinkInterface(name: name)
    interface.comment = comment
    skipBlanks()
    while next != nil {
      let member = try member()
      guard !interface.members.contains(where: { $0.name == member.name }) else {
        throw error("\(member.name) is declared twice")
      }
      interface.members.append(member)
      skipBlanks()
    }
    let declared = interface.members.compactMap { if case .type = $0.kind { $0.name } else { nil } }
    for (name, line) in used.sorted(by: { $0.value < $1.value }) where !declared.contains(name) {
      throw VarlinkInterfaceError(line: line, reason: "the type \(name) is not declared")
    }
    return interface
  }

  private mutating func member() throws(VarlinkInterfaceError) -> Member {
    let comment = takeComment()
    let keyword = word()
    skipBlanks()
    let name = word()
    guard ["type", "method", "error"].contains(keyword) else {
      throw error("a member is a type, a method or an error")
    }
    guard Self.isMemberName(name) else { throw error("the name of a member begins with a capital") }
    switch keyword {
    case "type":
      let type = try structure(depth: 0)
      return Member(name: name, comment: comment, kind: .type(type))
    case "method":
      let input = try fields()
      skipBlanks()
      guard take("->") else { throw error("-> is missing") }
      return Member(name: name, comment: comment, kind: .method(input: input, output: try fields()))
    default: return Member(name: name, comment: comment, kind: .error(try fields()))
    }
  }

  private mutating func fields() throws(VarlinkInterfaceError) -> [Field] {
    guard case .structure(let fields) = try structure(depth: 0) else {
      throw error("fields need types here")
    }
    return fields
  }

  private mutating func type(depth: Int) throws(VarlinkInterfaceError) -> ValueType {
    skipBlanks()
    if take("?") {
      skipBlanks()
      guard next != UInt8(ascii: "?") else { throw error("a type is optional twice") }
      return .optional(try type(depth: depth))
    }
    guard depth < VarlinkInterface.deepest else { throw error("it is nested too deeply") }
    if take("[]") { return .array(try type(depth: depth + 1)) }
    if take("[string]") { return .dictionary(try type(depth: depth + 1)) }
    if next == UInt8(ascii: "(") { return try structure(depth: depth + 1) }
    let line = line
    let name = word()
    switch name {
    case "bool": return .bool
    case "int": return .int
    case "float": return .float
    case "string": return .string
    case "object": return .object
    default:
      guard Self.isMemberName(name) else { throw error("a type is missing") }
      used[name] = min(line, used[name] ?? line)
      return .named(name)
    }
  }

  /// Parses a parenthesised list: fields with types, or bare names. An empty list is an object.
  private mutating func structure(depth: Int) throws(VarlinkInterfaceError) -> ValueType {
    skipBlanks()
    guard take("(") else { throw error("( is missing") }
    guard depth < VarlinkInterface.deepest else { throw error("it is nested too deeply") }
    skipBlanks()
    guard !take(")") else { return .structure([]) }
    var (fields, names): ([Field], [String]) = ([], [])
    repeat {
      if !names.isEmpty { skipBlanks() }
      let comment = takeComment()
      let name = word()
      guard Self.isFieldName(name) else { throw error("the name of a field is missing") }
      guard !names.contains(name) else { throw error("\(name) is a duplicate") }
      names.append(name)
      skipBlanks()
      if take(":") {
        fields.append(Field(name: name, comment: comment, type: try type(depth: depth)))
        skipBlanks()
      }
      guard fields.isEmpty || fields.count == names.count else {
        throw error("some names have a type and others have none")
      }
    } while take(",")
    guard take(")") else { throw error("a comma or ) is missing") }
    return fields.isEmpty ? .enumeration(names) : .structure(fields)
  }

  // MARK: words

  private mutating func skipBlanks() {
    comment = []
    // A comment belongs to the next member unless an empty line separates them.
    var ends = 0
    while let byte = next {
      switch byte {
      case 0x0A:
        line += 1
        ends += 1
        if ends > 1 { comment = [] }
        position += 1
      case 0x20, 0x09, 0x0D: position += 1
      case UInt8(ascii: "#"):
        let end = bytes[position...].firstIndex(of: 0x0A) ?? bytes.count
        var text = bytes[(position + 1)..<end]
        if text.first == 0x20 { text.removeFirst() }
        while let last = text.last, [0x20, 0x09, 0x0D].contains(last) { text.removeLast() }
        comment.append(String(decoding: text, as: UTF8.self))
        position = end
        ends = 0
      default: return
      }
    }
  }

  private mutating func takeComment() -> [String] {
    defer { comment = [] }
    return comment
  }

  private mutating func take(_ text: String) -> Bool {
    guard bytes[position...].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
  }

  private mutating func word(_ isPart: (UInt8) -> Bool = Self.isNamePart) -> String {
    let start = position
    while let byte = next, isPart(byte) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  // MARK: names

  private static func isLetter(_ byte: UInt8) -> Bool { 0x61...0x7A ~= byte | 0x20 }
  private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }
  private static func isNamePart(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "_")
  }

  private static func isMemberName(_ name: String) -> Bool {
    guard let first = name.utf8.first, 0x41...0x5A ~= first else { return false }
    return name.utf8.allSatisfy { isLetter($0) || isDigit($0) }
  }

  /// Reports whether a name is a field name: underscores are single and between other characters.
  private static func isFieldName(_ name: String) -> Bool {
    guard let first = name.utf8.first, isLetter(first) else { return false }
    let parts = name.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
    return parts.allSatisfy { !$0.isEmpty }
  }

  /// Reports whether a name is an interface name: hyphens stand between other characters. Capitals,
  /// which the grammar excludes, are accepted because systemd's interfaces have them.
  private static func isInterfaceName(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count > 1, let first = name.utf8.first, isLetter(first) else { return false }
    return parts.allSatisfy { part in
      guard let first = part.first, let last = part.last else { return false }
      return first != UInt8(ascii: "-") && last != UInt8(ascii: "-")
        && !part.contains(UInt8(ascii: "_"))
    }
  }
}
