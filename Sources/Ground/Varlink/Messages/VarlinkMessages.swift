// SPDX-License-Identifier: Apache-2.0
package import JSON

/// A call from a client.
package struct VarlinkCall: Sendable, Hashable {
  /// The name of the method with its interface, such as `org.varlink.service.GetInfo`.
  package var method: String
  /// The parameters by name; empty when the message has none or null.
  package var parameters: [String: JSON]
  /// Whether the client accepts several replies.
  package var more: Bool
  /// Whether the client expects no reply.
  package var oneway: Bool
  /// Whether the client requests that the connection no longer carries varlink after the reply.
  package var upgrade: Bool

  package init(
    _ method: String, _ parameters: [String: JSON] = [:], more: Bool = false, oneway: Bool = false,
    upgrade: Bool = false
  ) {
    (self.method, self.parameters) = (method, parameters)
    (self.more, self.oneway, self.upgrade) = (more, oneway, upgrade)
  }

  /// Parses a message without its zero byte; ignores unknown members.
  ///
  /// - Throws: `VarlinkMessageError`.
  package init(_ bytes: [UInt8]) throws(VarlinkMessageError) {
    let members = try JSON.members(bytes)
    guard let method = members["method"]?.string else { throw .invalid(member: "method") }
    self.init(
      method, try members.parameters(), more: try members.flag("more"),
      oneway: try members.flag("oneway"), upgrade: try members.flag("upgrade"))
  }

  /// The encoded message with its zero byte.
  package var bytes: [UInt8] {
    var members: [String: JSON] = ["method": .string(method)]
    if !parameters.isEmpty { members["parameters"] = .object(parameters) }
    for (name, isSet) in [("more", more), ("oneway", oneway), ("upgrade", upgrade)] where isSet {
      members[name] = .bool(true)
    }
    return Array("\(JSON.object(members))".utf8) + [0]
  }
}

/// A reply from a service.
package struct VarlinkReply: Sendable, Hashable {
  /// The parameters of the reply or of the error.
  package var parameters: [String: JSON]
  /// Whether another reply to the same call follows.
  package var continues: Bool
  /// The name of the error with its interface; nil for success.
  package var error: String?

  package init(_ parameters: [String: JSON] = [:], continues: Bool = false, error: String? = nil) {
    (self.parameters, self.continues, self.error) = (parameters, continues, error)
  }

  /// Parses a message without its zero byte; ignores unknown members.
  ///
  /// - Throws: `VarlinkMessageError`.
  package init(_ bytes: [UInt8]) throws(VarlinkMessageError) {
    let members = try JSON.members(bytes)
    let error = members["error"] ?? .null
    guard error == .null || error.string != nil else { throw .invalid(member: "error") }
    self.init(
      try members.parameters(), continues: try members.flag("continues"), error: error.string)
  }

  /// The encoded message with its zero byte.
  package var bytes: [UInt8] {
    var text = "{"
    if let error { text += "\"error\":\(JSON.string(error))," }
    text += "\"parameters\":\(JSON.object(parameters))"
    if continues { text += ",\"continues\":true" }
    return Array("\(text)}".utf8) + [0]
  }
}

extension JSON {
  fileprivate static func members(
    _ bytes: [UInt8]
  ) throws(VarlinkMessageError) -> [String: JSON] {
    let value: JSON
    do throws(JSONError) { value = try JSON(bytes) } catch { throw .notJSON(error) }
    guard let members = value.object else { throw .notAnObject }
    return members
  }
}

extension [String: JSON] {
  fileprivate func parameters() throws(VarlinkMessageError) -> [String: JSON] {
    switch self["parameters"] ?? .null {
    case .null: [:]
    case .object(let members): members
    default: throw .invalid(member: "parameters")
    }
  }

  fileprivate func flag(_ name: String) throws(VarlinkMessageError) -> Bool {
    switch self[name] ?? .null {
    case .null: false
    case .bool(let isSet): isSet
    default: throw .invalid(member: name)
    }
  }
}
