// SPDX-License-Identifier: Apache-2.0

/// The payload of a message with a known layout.
package protocol UCIPayload: FieldGroup, Sendable {
  /// The first byte that may belong to key material: session keys, ranging keys, initialisation
  /// vectors, random bytes that become keys. Nil for messages without key material. Messages with
  /// key material mark its fields as `.secret`.
  static var firstKeyByte: Int? { get }
}

extension UCIPayload {
  package static var firstKeyByte: Int? { nil }
}

/// A command and its response.
package protocol UCICommand: UCIPayload {
  associatedtype Response: UCIResponse = StatusResponse
  static var opcode: Opcode { get }
  /// Whether a second command after a time-out has no further effect.
  static var isIdempotent: Bool { get }
  /// The first byte that may belong to key material in the response.
  static var firstKeyByteOfResponse: Int? { get }
}

extension UCICommand {
  package static var isIdempotent: Bool { false }
  package static var firstKeyByteOfResponse: Int? { nil }
}

/// The answer to a command.
package protocol UCIResponse: UCIPayload {
  /// Whether the chip carried out the command.
  var status: Status { get }
}

/// A message that the chip sends without a command.
package protocol UCINotification: UCIPayload {
  static var opcode: Opcode { get }
}

/// Application data, either way.
package protocol UCIData: UCIPayload {
  /// The data packet format, in the position of the group.
  static var format: UInt8 { get }
}

extension UCIData {
  package static var opcode: Opcode { Opcode(GroupID(rawValue: format), 0) }
}

/// A response that is a status only.
package struct StatusResponse: UCIResponse, Hashable {
  package var status = Status.ok

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
  }
}

/// The fields of a response after its status.
package protocol ResponseBody: FieldGroup, Hashable, Sendable {
  /// Whether a response with the status OK is too short without these fields.
  static var isMandatory: Bool { get }
}

extension ResponseBody {
  package static var isMandatory: Bool { true }
}

/// A response of a status and some fields.
package struct BodyResponse<Body: ResponseBody>: UCIResponse, Hashable {
  package var status = Status.ok
  /// The fields; nil where the response ends after its status.
  package var body: Body?

  package init() {}
  package init(status: Status, body: Body?) { (self.status, self.body) = (status, body) }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &body, blank: Body(), isMandatory: Body.isMandatory) {
      c, body throws(PayloadError) in
      try body.visit(&c)
    }
  }
}

/// A command without a payload that can be repeated without a further effect.
package protocol EmptyCommand: UCICommand {}

extension EmptyCommand {
  package static var isIdempotent: Bool { true }
  package mutating func visit<C: FieldCoder & ~Escapable>(
    _ coder: inout C
  ) throws(PayloadError) {}
}

/// A command whose payload is the token of a session: its id in FiRa 1.x, its handle since 2.0.
package protocol SessionTokenCommand: UCICommand {
  var sessionToken: UInt32 { get set }
}

extension SessionTokenCommand {
  package init(sessionToken: UInt32) {
    self.init()
    self.sessionToken = sessionToken
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
  }
}

/// A command that sets parameters of a session.
package protocol SetParametersCommand: UCICommand where Response == ConfigurationResponse {
  static var space: ParameterSpace { get }
  var sessionToken: UInt32 { get set }
  /// The parameters in the order in which the chip reads them, at most 255.
  var parameters: [TLV] { get set }
}

extension SetParametersCommand {
  package static var isIdempotent: Bool { true }

  package init(sessionToken: UInt32, parameters: [TLV]) {
    self.init()
    (self.sessionToken, self.parameters) = (sessionToken, parameters)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.parameters("parameters", &parameters, Self.space)
  }
}

/// A command that reads parameters of a session.
package protocol GetParametersCommand: UCICommand where Response == TLVListResponse {
  static var space: ParameterSpace { get }
  var sessionToken: UInt32 { get set }
  /// The numbers of the parameters, at most 255. Some firmware reads all parameters for an empty
  /// list.
  var ids: [UInt8] { get set }
}

extension GetParametersCommand {
  package static var isIdempotent: Bool { true }

  package init(sessionToken: UInt32, ids: [UInt8]) {
    self.init()
    (self.sessionToken, self.ids) = (sessionToken, ids)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.values("parameters", &ids, .u8, blank: 0) { c, id throws(PayloadError) in
      var subID: UInt8?
      try c.parameterID(&id, &subID, Self.space) { _ in false }
    }
  }
}
