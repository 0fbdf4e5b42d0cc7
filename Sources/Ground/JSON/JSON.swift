// SPDX-License-Identifier: Apache-2.0

/// A JSON value. Numbers that are whole and fit into 64 bits are integers.
package enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])
}

extension JSON {
  /// The greatest nesting depth of arrays and objects in a text.
  package static let deepest = 32

  /// Parses JSON (RFC 8259) from an untrusted sender; see `JSONNode`.
  ///
  /// - Throws: `JSONError`.
  package init(_ bytes: [UInt8]) throws(JSONError) {
    self.init(try JSONNode(bytes, .strict))
  }

  /// Converts a node. Drops its place and the order of members. A word of the lenient mode that is
  /// not a number becomes a string.
  package init(_ node: JSONNode) {
    switch node.content {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .number(let text):
      self =
        Int64(text).map(JSON.integer) ?? Double(text).map(JSON.number) ?? .string(text)
    case .string(let text): self = .string(text)
    case .array(let values): self = .array(values.map { JSON($0) })
    case .object(let members):
      self = .object(Dictionary(members.map { ($0.name, JSON($0.value)) }) { $1 })
    }
  }

  package var string: String? { if case .string(let text) = self { text } else { nil } }
  package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  package var array: [JSON]? { if case .array(let values) = self { values } else { nil } }
  package var object: [String: JSON]? {
    if case .object(let members) = self { members } else { nil }
  }
}

extension JSON: CustomStringConvertible {
  /// The value on one line, without white space. Members of objects are sorted by name. NaN and
  /// infinity, which JSON cannot represent, become null.
  package var description: String { "\(JSONNode(self))" }
}
