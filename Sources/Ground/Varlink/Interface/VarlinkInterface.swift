// SPDX-License-Identifier: Apache-2.0
package import JSON

/// The description of a varlink interface: its types, methods and errors.
package struct VarlinkInterface: Sendable, Hashable {
  /// The name of the interface as a reversed domain, such as `org.varlink.service`.
  package var name: String
  /// The lines of the comment before the interface.
  package var comment: [String] = []
  package var members: [Member] = []

  package struct Member: Sendable, Hashable {
    package var name: String
    package var comment: [String] = []
    package var kind: Kind
  }

  package enum Kind: Sendable, Hashable {
    /// A declared type: an object or an enumeration.
    case type(ValueType)
    case method(input: [Field], output: [Field])
    case error([Field])
  }

  package struct Field: Sendable, Hashable {
    package var name: String
    package var comment: [String] = []
    package var type: ValueType
  }

  package indirect enum ValueType: Sendable, Hashable {
    case bool, int, float, string
    /// An object with any members.
    case object
    /// A type that another member declares.
    case named(String)
    case structure([Field])
    case enumeration([String])
    case array(ValueType)
    /// An object with any names and values of one type.
    case dictionary(ValueType)
    /// A value that may be null or absent.
    case optional(ValueType)
  }

  package init(name: String) { self.name = name }

  /// Returns the fields of a method's parameters and of its reply, or nil for an unknown method.
  package func method(_ name: String) -> (input: [Field], output: [Field])? {
    guard case .method(let input, let output) = kind(name) else { return nil }
    return (input, output)
  }

  /// Returns the fields of an error, or nil for an unknown error.
  package func error(_ name: String) -> [Field]? {
    guard case .error(let fields) = kind(name) else { return nil }
    return fields
  }

  /// Returns the kind of the member with this name, which is unique in an interface.
  private func kind(_ name: String) -> Kind? { members.first { $0.name == name }?.kind }
}

// MARK: values

extension VarlinkInterface {
  /// Returns the path of the first value that does not match its field, or nil when all match.
  ///
  /// - Parameter ignoresUnknown: whether values without a field are accepted. Clients accept them
  ///   in replies, because newer services may send more fields.
  /// - Returns: A path such as `peers[1].address`.
  package func problem(
    with values: [String: JSON], _ fields: [Field], ignoresUnknown: Bool = false
  ) -> String? {
    for field in fields {
      if let path = problem(with: values[field.name] ?? .null, field.type, ignoresUnknown) {
        return field.name + path
      }
    }
    guard !ignoresUnknown else { return nil }
    return values.keys.filter { name in !fields.contains { $0.name == name } }.min()
  }

  /// Returns the path inside `value` at which it does not match `type`, or nil when it matches. The
  /// path is empty when the value itself has the wrong type.
  private func problem(with value: JSON, _ type: ValueType, _ ignoresUnknown: Bool) -> String? {
    switch (type, value) {
    case (.bool, .bool), (.int, .integer), (.float, .number), (.float, .integer),
      (.string, .string), (.object, .object), (.optional, .null):
      return nil
    case (.optional(let inner), _): return problem(with: value, inner, ignoresUnknown)
    case (.named(let name), _):
      guard case .type(let type) = kind(name) else { return "" }
      return problem(with: value, type, ignoresUnknown)
    case (.enumeration(let names), .string(let name)): return names.contains(name) ? nil : ""
    case (.structure(let fields), .object(let values)):
      return problem(with: values, fields, ignoresUnknown: ignoresUnknown).map { "." + $0 }
    case (.array(let inner), .array(let values)):
      for (index, value) in values.enumerated() {
        if let path = problem(with: value, inner, ignoresUnknown) { return "[\(index)]" + path }
      }
      return nil
    case (.dictionary(let inner), .object(let values)):
      for (name, value) in values.sorted(by: { $0.key < $1.key }) {
        if let path = problem(with: value, inner, ignoresUnknown) { return "[\(name)]" + path }
      }
      return nil
    default: return ""
    }
  }
}
