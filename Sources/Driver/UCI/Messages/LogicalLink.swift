// SPDX-License-Identifier: Apache-2.0

private let linkLayers = FieldForm.names(
  ["CL_NON_SECURE", "CL_SECURE", "CO_NON_SECURE", "CO_SECURE", "CL_UWBS", "CO_UWBS"],
  others: [0xB0: "PROPRIETARY_1", 0xB1: "PROPRIETARY_2"])

/// LOGICAL_LINK_CREATE, FiRa 3.0: a link for data to a peer of a session.
struct LogicalLinkCreate: UCICommand, Hashable {
  typealias Response = LogicalLinkCreateResponse
  static let opcode = Opcode(.sessionControl, 0x07)

  var sessionToken: UInt32 = 0
  /// The link layer.
  var selector: UInt8 = 0
  /// The address of the peer. A short one is in the low 16 bits.
  var destination: UInt64 = 0
  /// Parameters of the link in the order of the wire, at most 255 bytes.
  var parameters: [UInt8] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("link_layer", &selector, linkLayers)
    try coder.field("destination", &destination, .anyAddress)
    try coder.bytes("parameters", &parameters, .u8)
  }
}

/// LOGICAL_LINK_CREATE_RSP: the link is being made; LOGICAL_LINK_CREATE_NTF has the result.
struct LogicalLinkCreateResponse: UCIResponse, Hashable {
  var status = Status.ok
  /// The id of the link; nil in error responses.
  var connectionID: UInt32?

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("connection", &connectionID)
  }
}

/// LOGICAL_LINK_CLOSE, FiRa 3.0.
struct LogicalLinkClose: UCICommand, Hashable {
  static let opcode = Opcode(.sessionControl, 0x08)
  var connectionID: UInt32 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("connection", &connectionID)
  }
}

/// LOGICAL_LINK_GET_PARAM, FiRa 3.0.
struct LogicalLinkGetParam: UCICommand, Hashable {
  typealias Response = BodyResponse<LogicalLinkParameters>
  static let opcode = Opcode(.sessionControl, 0x0B)
  static let isIdempotent = true
  var connectionID: UInt32 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("connection", &connectionID)
  }
}

/// LOGICAL_LINK_GET_PARAM_RSP: the parameters of a link, each of which is optional.
struct LogicalLinkParameters: ResponseBody {
  static let isMandatory = false

  /// The present values: bits 0…6 stand for the fields below, in their order.
  var control: UInt16 = 0
  /// The greatest size of a service data unit in bytes.
  var sduSize: UInt16?
  /// The greatest size of a protocol data unit in bytes.
  var pduSize: UInt16?
  /// The number of units that may be sent without an acknowledgement.
  var txWindow: UInt8?
  /// The number of units that may be received without an acknowledgement.
  var rxWindow: UInt8?
  /// The number of repetitions of a unit.
  var repetitionCount: UInt8?
  /// The time-out of a silent link.
  var linkTimeout: UInt8?
  var port: UInt8?

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("control", &control)
    try coder.optional("sdu_size", &sduSize, if: control & 0x01 != 0)
    try coder.optional("pdu_size", &pduSize, if: control & 0x02 != 0)
    try coder.optional("tx_window", &txWindow, if: control & 0x04 != 0)
    try coder.optional("rx_window", &rxWindow, if: control & 0x08 != 0)
    try coder.optional("repetition_count", &repetitionCount, if: control & 0x10 != 0)
    try coder.optional("link_timeout", &linkTimeout, if: control & 0x20 != 0)
    try coder.optional("port", &port, if: control & 0x40 != 0)
  }
}

/// LOGICAL_LINK_CREATE_NTF, FiRa 3.0: the result of a link that the host requested.
struct LogicalLinkCreateNotification: UCINotification, Hashable {
  static let opcode = Opcode(.sessionControl, 0x07)
  var connectionID: UInt32 = 0
  var result: UInt8 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("connection", &connectionID)
    try coder.field("result", &result, .names(["ACCEPTED", "REJECTED", "CO_CONNECTED", "ERROR"]))
  }
}

/// LOGICAL_LINK_UWBS_CLOSE_NTF, FiRa 3.0: the chip closed a link.
struct LogicalLinkUWBSCloseNotification: UCINotification, Hashable {
  static let opcode = Opcode(.sessionControl, 0x09)
  var connectionID: UInt32 = 0
  var reason: UInt8 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("connection", &connectionID)
    try coder.field(
      "reason", &reason,
      .names([
        "REMOTE_REQUEST", "TIMEOUT", "TRANSMISSION_ERROR", "SECURE_COMPONENT", "UNKNOWN", "HOST",
      ]))
  }
}

/// LOGICAL_LINK_UWBS_CREATE_NTF, FiRa 3.0: a peer made a link.
struct LogicalLinkUWBSCreateNotification: UCINotification, Hashable {
  static let opcode = Opcode(.sessionControl, 0x0A)

  var sessionToken: UInt32 = 0
  var connectionID: UInt32 = 0
  /// The link layer.
  var selector: UInt8 = 0
  /// The address of the peer. A short one is in the low 16 bits.
  var source: UInt64 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("connection", &connectionID)
    try coder.field("link_layer", &selector, linkLayers)
    try coder.field("source", &source, .anyAddress)
  }
}
