// SPDX-License-Identifier: Apache-2.0

/// SESSION_QUERY_DATA_SIZE_IN_RANGING, FiRa 2.0. The token is a connection id in FiRa 3.0.
package struct QueryDataSize: SessionTokenCommand, Hashable {
  package typealias Response = DataSizeResponse
  package static let opcode = Opcode.sessionQueryDataSize
  package static let isIdempotent = true
  package var sessionToken: UInt32 = 0
  package init() {}
}

/// SESSION_QUERY_DATA_SIZE_IN_RANGING_RSP: the one response that does not begin with its status.
package struct DataSizeResponse: UCIResponse, Hashable {
  /// The token of the session; nil in error responses that are a status only.
  package var sessionToken: UInt32?
  package var status = Status.ok
  /// Bytes of data that fit into one ranging round; nil in error responses.
  package var maxDataSize: UInt16?

  package init() {}
  package init(sessionToken: UInt32?, status: Status, maxDataSize: UInt16?) {
    (self.sessionToken, self.status) = (sessionToken, status)
    self.maxDataSize = maxDataSize
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    // A payload too short for a token is a status.
    let hasToken = coder.holds(sessionToken != nil) { $0 >= 5 }
    try coder.optional("session", &sessionToken, if: hasToken)
    try coder.code("status", &status)
    let hasSize = coder.holds(maxDataSize != nil) { $0 >= 2 }
    try coder.optional("max_data_size", &maxDataSize, if: hasToken && hasSize)
  }
}

/// SESSION_DATA_CREDIT_NTF: whether the chip accepts another data segment.
package struct DataCreditNotification: UCINotification, Hashable {
  package static let opcode = Opcode.sessionDataCredit

  package var sessionToken: UInt32 = 0
  /// 0: wait; 1: one segment may be sent.
  package var credit: UInt8 = 0

  package init() {}
  package init(sessionToken: UInt32, credit: UInt8) {
    (self.sessionToken, self.credit) = (sessionToken, credit)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("credit", &credit)
  }
}

/// SESSION_DATA_TRANSFER_STATUS_NTF. Its length determines which of three forms it has.
package struct DataTransferStatusNotification: UCINotification, Hashable {
  package static let opcode = Opcode.sessionDataTransferStatus

  /// The token of the session; a connection id in FiRa 3.0.
  package var sessionToken: UInt32 = 0
  /// The sequence number of the data message.
  package var sequenceNumber: UInt16 = 0
  /// Whether the sequence number has two bytes (the form of 8 bytes) rather than one.
  package var hasLongSequenceNumber = true
  package var status = DataTransferStatus.ok
  /// The number of transmissions; nil in the form of 6 bytes. The form of 8 bytes always has it.
  package var transmissions: UInt8? = 0

  package init() {}

  /// Creates the form of 8 bytes.
  package init(
    sessionToken: UInt32, sequenceNumber: UInt16, status: DataTransferStatus, transmissions: UInt8
  ) {
    (self.sessionToken, self.sequenceNumber) = (sessionToken, sequenceNumber)
    (self.status, self.transmissions) = (status, transmissions)
  }

  /// Creates an older form: 7 bytes, or 6 bytes without `transmissions`.
  package init(
    sessionToken: UInt32, shortSequenceNumber: UInt8, status: DataTransferStatus,
    transmissions: UInt8?
  ) {
    (self.sessionToken, sequenceNumber) = (sessionToken, UInt16(shortSequenceNumber))
    (self.status, self.transmissions) = (status, transmissions)
    hasLongSequenceNumber = false
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    hasLongSequenceNumber = coder.holds(hasLongSequenceNumber) { $0 >= 4 }
    let isCounted = coder.holds(transmissions != nil) { $0 >= 3 }
    try coder.integer("sequence", &sequenceNumber, width: hasLongSequenceNumber ? 2 : 1) { .plain }
    try coder.code("status", &status)
    try coder.optional("transmissions", &transmissions, if: isCounted || hasLongSequenceNumber)
  }
}
