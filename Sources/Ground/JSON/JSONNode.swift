// SPDX-License-Identifier: Apache-2.0

/// A value in a JSON text with its place. Members keep their order, and numbers their digits.
package struct JSONNode: Sendable {
  package enum Content: Sendable {
    case null
    case bool(Bool)
    /// The number as written. In the lenient mode, any word that begins like a number, such as
    /// `2ms`.
    case number(String)
    case string(String)
    case array([JSONNode])
    /// The members. The place of a value is the place of its name.
    case object([(name: String, value: JSONNode)])
  }

  package var content: Content
  /// The place in the text; nil for values that were not read as text.
  package var place: JSONPlace?

  package init(_ content: Content, at place: JSONPlace? = nil) {
    (self.content, self.place) = (content, place)
  }

  /// Converts a value; members are sorted by name.
  package init(_ value: JSON) {
    let content: Content =
      switch value {
      case .null: .null
      case .bool(let value): .bool(value)
      case .integer(let number): .number("\(number)")
      case .number(let number): number.isFinite ? .number("\(number)") : .null
      case .string(let text): .string(text)
      case .array(let values): .array(values.map { JSONNode($0) })
      case .object(let members):
        .object(members.sorted { $0.key < $1.key }.map { ($0.key, JSONNode($0.value)) })
      }
    self.init(content)
  }

  package var isNull: Bool { if case .null = content { true } else { false } }
  package var string: String? { if case .string(let text) = content { text } else { nil } }
  package var array: [JSONNode]? { if case .array(let values) = content { values } else { nil } }
  package var object: [(name: String, value: JSONNode)]? {
    if case .object(let members) = content { members } else { nil }
  }
  /// The number if it is finite. The digits may be hexadecimal.
  package var number: Double? {
    guard case .number(let text) = content, let number = Double(text), number.isFinite else {
      return nil
    }
    return number
  }

  /// Returns an error at this place.
  package func error(_ reason: String) -> JSONError { JSONError(place, reason) }
}

/// A place in a text: the line, and the byte in this line, both counted from 1.
package struct JSONPlace: Sendable, Hashable, CustomStringConvertible {
  package var line: Int
  package var column: Int

  package init(line: Int, column: Int) { (self.line, self.column) = (line, column) }

  package var description: String { "line \(line), column \(column)" }
}

/// The reason why a text is not JSON, or a value is not of the wanted kind.
package struct JSONError: Error, Hashable, CustomStringConvertible {
  package var place: JSONPlace?
  /// The cause of the error, without a full stop.
  package var reason: String

  package init(_ place: JSONPlace?, _ reason: String) {
    (self.place, self.reason) = (place, reason)
  }

  package var description: String { (place.map { "\($0): " } ?? "") + reason }
}
