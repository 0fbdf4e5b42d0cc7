// SPDX-License-Identifier: Apache-2.0

/// What a client asks.
package struct VarlinkCall: Sendable, Hashable {
  /// With its interface: `org.varlink.service.GetInfo`.
  package var method: String
  /// Missing ones and null are the same as none.
  package var parameters: [String: JSON]
  /// The client takes any number of replies.
  package var more: Bool
  /// The client takes no reply.
  package var oneway: Bool
  /// The client wants to say something else than varlink afterwards.
  package var upgrade: Bool

  package init(
    _ method: String, _ parameters: [String: JSON] = [:], more: Bool = false, oneway: Bool = false,
    upgrade: Bool = false
  ) {
    (self.method, self.parameters) = (method, parameters)
    (self.more, self.oneway, self.upgrade) = (more, oneway, upgrade)
  }

  /// Reads a message without its end. Members that are not known are ignored.
  ///
  /// - Throws: `VarlinkMessageError`.
  package init(_ bytes: [UInt8]) throws(VarlinkMessageError) {
    let members = try JSON.members(bytes)
    guard let method = members["method"]?.string else { throw .invalid(member: "method") }
    self.init(
      method, try members.parameters(), more: try members.flag("more"),
      oneway: try members.flag("oneway"), upgrade: try members.flag("upgrade"))
  }

  /// The message with its end.
  package var bytes: [UInt8] {
    var members: [String: JSON] = ["method": .string(method)]
    if !parameters.isEmpty { members["parameters"] = .object(parameters) }
    for (name, isSet) in [("more", more), ("oneway", oneway), ("upgrade", upgrade)] where isSet {
      members[name] = .bool(true)
    }
    return Array("\(JSON.object(members))".utf8) + [0]
  }
}

/// What a service answers.
package struct VarlinkReply: Sendable, Hashable {
  /// Of the method, or of the error.
  package var parameters: [String: JSON]
  /// Whether another reply to the same call follows.
  package var continues: Bool
  /// The error with its interface; nil: there was none.
  package var error: String?

  package init(_ parameters: [String: JSON] = [:], continues: Bool = false, error: String? = nil) {
    (self.parameters, self.continues, self.error) = (parameters, continues, error)
  }

  /// Reads a message without its end. Members that are not known are ignored.
  ///
  /// - Throws: `VarlinkMessageError`.
  package init(_ bytes: [UInt8]) throws(VarlinkMessageError) {
    let members = try JSON.members(bytes)
    let error = members["error"] ?? .null
    guard error == .null || error.string != nil else { throw .invalid(member: "error") }
    self.init(
      try members.parameters(), continues: try members.flag("continues"), error: error.string)
  }

  /// The message with its end.
  package var bytes: [UInt8] {
    Self.bytes("\(JSON.object(parameters))", continues: continues, error: error)
  }

  /// The message with its end, of parameters that are JSON already.
  package static func bytes(
    _ parameters: String, continues: Bool = false, error: String? = nil
  ) -> [UInt8] {
    var text = "{"
    if let error { text += "\"error\":\(JSON.string(error))," }
    text += "\"parameters\":\(parameters)"
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
