// SPDX-License-Identifier: Apache-2.0

extension Opcode {
  /// LOGICAL_LINK_CREATE, since FiRa 3.0.
  public static let logicalLinkCreate = Opcode(.sessionControl, 0x07)
  /// LOGICAL_LINK_CLOSE, since FiRa 3.0.
  public static let logicalLinkClose = Opcode(.sessionControl, 0x08)
  /// LOGICAL_LINK_UWBS_CLOSE, notification only, since FiRa 3.0.
  public static let logicalLinkUWBSClose = Opcode(.sessionControl, 0x09)
  /// LOGICAL_LINK_UWBS_CREATE, notification only, since FiRa 3.0.
  public static let logicalLinkUWBSCreate = Opcode(.sessionControl, 0x0A)
  /// LOGICAL_LINK_GET_PARAM, since FiRa 3.0.
  public static let logicalLinkGetParam = Opcode(.sessionControl, 0x0B)
}

private let linkLayers = FieldForm.names(
  ["CL_NON_SECURE", "CL_SECURE", "CO_NON_SECURE", "CO_SECURE", "CL_UWBS", "CO_UWBS"],
  others: [0xB0: "PROPRIETARY_1", 0xB1: "PROPRIETARY_2"])

/// LOGICAL_LINK_CREATE, FiRa 3.0: a link for data to a peer of a session.
package struct LogicalLinkCreate: UCICommand, Hashable {
  package typealias Response = LogicalLinkCreateResponse
  package static let opcode = Opcode.logicalLinkCreate

  package var sessionToken: UInt32 = 0
  /// Which link layer.
  package var selector: UInt8 = 0
  /// The address of the peer. A short one stands in the low 16 bits.
  package var destination: UInt64 = 0
  /// Parameters of the link as they go on the wire, at most 255 bytes.
  package var parameters: [UInt8] = []

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("link_layer", &selector, linkLayers)
    try coder.field("destination", &destination, .anyAddress)
    try coder.bytes("parameters", &parameters, .u8)
  }
}

/// LOGICAL_LINK_CREATE_RSP: the link is being made; LOGICAL_LINK_CREATE_NTF says what became of it.
package struct LogicalLinkCreateResponse: UCIResponse, Hashable {
  package var status = Status.ok
  /// What names the link; nil in error responses.
  package var connectionID: UInt32?

  package init() {}
  package init(status: Status, connectionID: UInt32?) {
    (self.status, self.connectionID) = (status, connectionID)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("connection", &connectionID)
  }
}

/// LOGICAL_LINK_CLOSE, FiRa 3.0.
package struct LogicalLinkClose: UCICommand, Hashable {
  package static let opcode = Opcode.logicalLinkClose
  package var connectionID: UInt32 = 0

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("connection", &connectionID)
  }
}

/// LOGICAL_LINK_GET_PARAM, FiRa 3.0.
package struct LogicalLinkGetParam: UCICommand, Hashable {
  package typealias Response = LogicalLinkParametersResponse
  package static let opcode = Opcode.logicalLinkGetParam
  package static let isIdempotent = true
  package var connectionID: UInt32 = 0

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("connection", &connectionID)
  }
}

/// LOGICAL_LINK_GET_PARAM_RSP: the parameters of a link of which the chip has values.
package struct LogicalLinkParametersResponse: UCIResponse, Hashable {
  /// Values, each of which is there or not.
  package struct Parameters: FieldGroup, Hashable, Sendable {
    /// Which values follow: bits 0…6 are those below, in their order.
    package var control: UInt16 = 0
    /// Bytes of a service data unit at most.
    package var sduSize: UInt16?
    /// Bytes of a protocol data unit at most.
    package var pduSize: UInt16?
    /// Units that may be sent without an acknowledgement.
    package var txWindow: UInt8?
    /// Units that may be received without an acknowledgement.
    package var rxWindow: UInt8?
    /// How often a unit is repeated.
    package var repetitionCount: UInt8?
    /// When a silent link is given up.
    package var linkTimeout: UInt8?
    /// The port of the link.
    package var port: UInt8?

    package init() {}

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
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

  package var status = Status.ok
  /// nil in responses that are a status only.
  package var parameters: Parameters?

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &parameters)
  }
}

/// LOGICAL_LINK_CREATE_NTF, FiRa 3.0: what became of a link the host asked for.
package struct LogicalLinkCreateNotification: UCINotification, Hashable {
  package static let opcode = Opcode.logicalLinkCreate
  package var connectionID: UInt32 = 0
  package var result: UInt8 = 0

  package init() {}
  package init(connectionID: UInt32, result: UInt8) {
    (self.connectionID, self.result) = (connectionID, result)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("connection", &connectionID)
    try coder.field("result", &result, .names(["ACCEPTED", "REJECTED", "CO_CONNECTED", "ERROR"]))
  }
}

/// LOGICAL_LINK_UWBS_CLOSE_NTF, FiRa 3.0: the chip closed a link.
package struct LogicalLinkUWBSCloseNotification: UCINotification, Hashable {
  package static let opcode = Opcode.logicalLinkUWBSClose
  package var connectionID: UInt32 = 0
  package var reason: UInt8 = 0

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("connection", &connectionID)
    try coder.field(
      "reason", &reason,
      .names([
        "REMOTE_REQUEST", "TIMEOUT", "TRANSMISSION_ERROR", "SECURE_COMPONENT", "UNKNOWN", "HOST",
      ]))
  }
}

/// LOGICAL_LINK_UWBS_CREATE_NTF, FiRa 3.0: a peer made a link.
package struct LogicalLinkUWBSCreateNotification: UCINotification, Hashable {
  package static let opcode = Opcode.logicalLinkUWBSCreate

  package var sessionToken: UInt32 = 0
  package var connectionID: UInt32 = 0
  /// Which link layer.
  package var selector: UInt8 = 0
  /// The address of the peer. A short one stands in the low 16 bits.
  package var source: UInt64 = 0

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("connection", &connectionID)
    try coder.field("link_layer", &selector, linkLayers)
    try coder.field("source", &source, .anyAddress)
  }
}
