// SPDX-License-Identifier: Apache-2.0

package import JSON

/// A value that can be written as JSON.
package protocol JSONValue: SendableMetatype {
  var node: JSONNode { get }
  /// Appends the value on one line.
  func append(to text: inout JSONText)
}

extension JSONValue {
  package func append(to text: inout JSONText) { text.append(contentsOf: "\(node)".utf8) }
  /// The value on one line.
  package var json: String { "\(node)" }
  /// Returns the value as a cell of a table.
  package var plain: String { node.string ?? json }
}

extension JSONValue where Self: BinaryInteger {
  package var node: JSONNode { JSONNode(.number("\(self)")) }
  package func append(to text: inout JSONText) {
    if self < 0 { text.append(UInt8(ascii: "-")) }
    text.appendDigits(UInt64(magnitude))
  }
}

extension Int: JSONValue {}
extension Int32: JSONValue {}
extension Int64: JSONValue {}
extension UInt8: JSONValue {}
extension UInt16: JSONValue {}
extension UInt32: JSONValue {}
extension UInt64: JSONValue {}

extension Bool: JSONValue {
  package var node: JSONNode { JSONNode(.bool(self)) }
  package func append(to text: inout JSONText) { text.append(self ? "true" : "false") }
}

extension String: JSONValue {
  package var node: JSONNode { JSONNode(.string(self)) }
  package func append(to text: inout JSONText) { text.appendJSON(self) }
}

extension Array: JSONValue where Element: JSONValue {
  package var node: JSONNode { JSONNode(.array(map(\.node))) }
}

/// A number with a fixed count of decimal places.
package struct Fixed: JSONValue {
  private let value: Double
  private let digits: Int

  package init?(_ value: Double?, _ digits: Int) {
    guard let value else { return nil }
    (self.value, self.digits) = (value, digits)
  }

  package var node: JSONNode { JSONNode(.number(fixed(value, digits))) }
  package func append(to text: inout JSONText) { text.appendFixed(value, digits) }
}

/// A JSON object on one line with its keys in the given order. Keys are in snake case, and never
/// change their meaning.
package struct JSONLine: JSONValue, ExpressibleByDictionaryLiteral {
  private var members: [(name: String, value: JSONNode)] = []

  package init(dictionaryLiteral elements: (String, (any JSONValue)?)...) {
    for (key, value) in elements { add(key, value) }
  }

  package mutating func add(_ key: String, _ value: (any JSONValue)?) {
    add(key, value?.node)
  }

  fileprivate mutating func add(_ key: String, _ node: JSONNode?) {
    members.append((key, node ?? JSONNode(.null)))
  }

  package var node: JSONNode { JSONNode(.object(members)) }
}

/// A key in the JSON output of a command.
package struct JSONEntry: Sendable {
  package struct Key: Sendable {
    /// The path of the key: `receivers[].rssi_dbm` is a key of each object in the list `receivers`.
    package var path: String
    package var meaning: String
    /// Whether the key may be missing.
    package var isOptional: Bool

    /// - Parameter path: the key; a key that ends with `?` is optional.
    package init(_ path: String, _ meaning: String) {
      isOptional = path.hasSuffix("?")
      self.path = isOptional ? String(path.dropLast()) : path
      self.meaning = meaning
    }
  }

  /// The command without its program, `uwbctl`.
  package var command: String
  /// The thing that an object describes.
  package var each: String
  /// Whether there are further keys that depend on the message.
  package var hasMore = false
  package var keys: [Key]

  /// Returns the entry with another command.
  package func also(_ command: String) -> JSONEntry {
    var entry = self
    entry.command = command
    return entry
  }
}

extension JSONEntry {
  package init(
    _ command: String, each: String, hasMore: Bool = false, _ keys: KeyValuePairs<String, String>
  ) {
    self.init(
      command: command, each: each, hasMore: hasMore, keys: keys.map { Key($0, $1) })
  }
}

/// A receiver of keys with their meanings and values.
package protocol JSONKeys<Object>: ~Copyable {
  associatedtype Object

  /// - Parameters:
  ///   - path: the key. If it ends with `?`, it is omitted without a value; otherwise, its value is
  ///     null.
  ///   - value: returns the value; nil if there is none.
  mutating func key<Value: JSONValue>(
    _ path: StaticString, _ meaning: String, _ value: @escaping @Sendable (Object) -> Value?)
}

/// The keys of the objects that a command prints, each with its meaning and its value.
package struct JSONTable<Object>: JSONKeys, Sendable {
  /// A key, and its value in each object.
  package struct Column: Sendable {
    package var key: JSONEntry.Key
    /// Returns the value as a cell of a table; nil if there is none.
    package var plain: @Sendable (Object) -> String?
    fileprivate var node: @Sendable (Object) -> JSONNode?
    fileprivate var append: @Sendable (inout JSONObjectWriter<Object>) -> Void
  }

  package private(set) var entry: JSONEntry
  package private(set) var columns: [Column] = []

  /// - Parameters:
  ///   - command: the command without `uwbctl`.
  ///   - each: the thing that an object describes.
  package init(_ command: String, each: String, _ build: (inout JSONTable) -> Void) {
    entry = JSONEntry(command: command, each: each, keys: [])
    build(&self)
  }

  package mutating func key<Value: JSONValue>(
    _ path: StaticString, _ meaning: String, _ value: @escaping @Sendable (Object) -> Value?
  ) {
    let key = JSONEntry.Key("\(path)", meaning)
    entry.keys.append(key)
    columns.append(
      Column(key: key, plain: { value($0)?.plain }, node: { value($0)?.node }) {
        $0.key(path, meaning, value)
      })
  }

  /// Adds a list of objects.
  package mutating func list<Inner>(
    _ path: StaticString, _ meaning: String, of list: @escaping @Sendable (Object) -> [Inner],
    _ build: (inout JSONTable<Inner>) -> Void
  ) {
    let inner = JSONTable<Inner>("", each: "", build)
    key(path, meaning) { list($0).map(inner.object) }
    entry.keys += inner.entry.keys.map { key in
      var key = key
      key.path = "\(path)[].\(key.path)"
      return key
    }
  }

  package func object(_ object: Object) -> JSONLine {
    var line: JSONLine = [:]
    for column in columns {
      let node = column.node(object)
      if node != nil || !column.key.isOptional { line.add(column.key.path, node) }
    }
    return line
  }

  /// Appends an object on one line.
  ///
  /// - Parameter hasNulls: Whether members that are null are written.
  package func append(_ object: Object, to text: inout JSONText, hasNulls: Bool = true) {
    JSONObjectWriter.append(object, to: &text, hasNulls: hasNulls) { writer in
      for column in columns { column.append(&writer) }
    }
  }

  package func line(_ object: Object) -> String {
    var text = JSONText()
    append(object, to: &text)
    return text.string + "\n"
  }
}

/// Writes the keys of an object with their values, as JSON on one line.
///
/// A generic function that passes keys to this writer compiles to straight-line code without
/// closures.
package struct JSONObjectWriter<Object>: ~Copyable, JSONKeys {
  private let object: Object
  private let hasNulls: Bool
  private var text: JSONText

  /// Appends an object.
  ///
  /// - Parameters:
  ///   - hasNulls: Whether members that are null are written.
  ///   - keys: Passes the keys to the writer.
  @inline(__always)
  package static func append(
    _ object: Object, to text: inout JSONText, hasNulls: Bool,
    _ keys: (inout JSONObjectWriter) -> Void
  ) {
    var writer = JSONObjectWriter(object: object, hasNulls: hasNulls, text: JSONText(capacity: 0))
    swap(&writer.text, &text)
    let start = writer.text.count
    keys(&writer)
    if writer.text.count == start { writer.text.append(UInt8(ascii: ",")) }
    // Every member begins with a comma, so the first comma becomes the brace.
    writer.text.replace(at: start, by: UInt8(ascii: "{"))
    writer.text.append(UInt8(ascii: "}"))
    swap(&writer.text, &text)
  }

  @inline(__always)
  package mutating func key<Value: JSONValue>(
    _ path: StaticString, _ meaning: String, _ value: @escaping @Sendable (Object) -> Value?
  ) {
    guard let value = value(object) else {
      if hasNulls, !path.isOptionalKey {
        text.appendKey(path)
        text.append("null")
      }
      return
    }
    text.appendKey(path)
    value.append(to: &text)
  }
}
