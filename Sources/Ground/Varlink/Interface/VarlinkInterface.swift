// SPDX-License-Identifier: Apache-2.0

/// What an interface of varlink consists of: types, methods and errors.
package struct VarlinkInterface: Sendable, Hashable {
  /// A reversed domain, such as `org.varlink.service`.
  package var name: String
  /// The lines of the comment before it, as before each member and field.
  package var comment: [String] = []
  package var members: [Member] = []

  package struct Member: Sendable, Hashable {
    package var name: String
    package var comment: [String] = []
    package var kind: Kind
  }

  package enum Kind: Sendable, Hashable {
    /// An object or an enumeration.
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
    /// Any object.
    case object
    /// Declared by a member.
    case named(String)
    case structure([Field])
    case enumeration([String])
    case array(ValueType)
    /// An object with any names, and values of one type.
    case dictionary(ValueType)
    /// The value, null, or nothing at all.
    case optional(ValueType)
  }

  package init(name: String) { self.name = name }

  /// The fields of a method's parameters and of its reply; nil: there is no such method.
  package func method(_ name: String) -> (input: [Field], output: [Field])? {
    guard case .method(let input, let output) = kind(name) else { return nil }
    return (input, output)
  }

  /// The fields of an error; nil: there is no such error.
  package func error(_ name: String) -> [Field]? {
    guard case .error(let fields) = kind(name) else { return nil }
    return fields
  }

  /// Of a member; there is one of a name.
  private func kind(_ name: String) -> Kind? { members.first { $0.name == name }?.kind }
}

// MARK: values

extension VarlinkInterface {
  /// What is wrong with the values of some fields; nil: nothing.
  ///
  /// - Parameter ignoresUnknown: whether values that no field is for are accepted, as clients do for
  ///   replies of newer services.
  /// - Returns: the field, such as `peers[1].address`.
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

  /// Where a value is not of a type: an empty text for the value itself; nil: it is of the type.
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
