// SPDX-License-Identifier: Apache-2.0

/// DATA_MESSAGE_SND (DPF 1): data for a peer of a session.
package struct DataMessageSend: UCIPayload, Hashable {
  /// The data packet format in the position of the group.
  package static let opcode = Opcode(GroupID(rawValue: 1), 0)

  package var sessionToken: UInt32 = 0
  /// The address of the peer. A short one stands in the low 16 bits.
  package var destination: UInt64 = 0
  /// Counts up with every message; SESSION_DATA_TRANSFER_STATUS_NTF refers to it.
  package var sequenceNumber: UInt16 = 0
  /// At most 65535 bytes.
  package var data: [UInt8] = []

  package init() {}
  package init(sessionToken: UInt32, destination: UInt64, sequenceNumber: UInt16, data: [UInt8]) {
    (self.sessionToken, self.destination) = (sessionToken, destination)
    (self.sequenceNumber, self.data) = (sequenceNumber, data)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("destination", &destination, .anyAddress)
    try coder.field("sequence", &sequenceNumber)
    try coder.bytes("data", &data, .u16)
  }
}

/// DATA_MESSAGE_RCV (DPF 2): data from a peer of a session.
package struct DataMessageReceived: UCIPayload, Hashable {
  /// The data packet format in the position of the group.
  package static let opcode = Opcode(GroupID(rawValue: 2), 0)

  package var sessionToken: UInt32 = 0
  /// 0: received. Other values are statuses on some chips and an enumeration of their own on others.
  package var status = Status.ok
  /// The address of the peer. A short one stands in the low 16 bits.
  package var source: UInt64 = 0
  /// Counts up with every message.
  package var sequenceNumber: UInt16 = 0
  /// At most 65535 bytes.
  package var data: [UInt8] = []

  package init() {}
  package init(
    sessionToken: UInt32, status: Status, source: UInt64, sequenceNumber: UInt16, data: [UInt8]
  ) {
    (self.sessionToken, self.status, self.source) = (sessionToken, status, source)
    (self.sequenceNumber, self.data) = (sequenceNumber, data)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.code("status", &status)
    try coder.field("source", &source, .anyAddress)
    try coder.field("sequence", &sequenceNumber)
    try coder.bytes("data", &data, .u16)
  }
}

/// What both directions of data on a logical link have in common.
package protocol LogicalLinkData: UCIPayload {
  /// What names the link.
  var connectionID: UInt32 { get set }
  /// Counts up with every message.
  var sequenceNumber: UInt16 { get set }
  /// At most 65535 bytes.
  var data: [UInt8] { get set }
}

extension LogicalLinkData {
  package init(connectionID: UInt32, sequenceNumber: UInt16, data: [UInt8]) {
    self.init()
    (self.connectionID, self.sequenceNumber) = (connectionID, sequenceNumber)
    self.data = data
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("connection", &connectionID)
    try coder.field("sequence", &sequenceNumber)
    try coder.bytes("data", &data, .u16)
  }
}

/// LL_DATA_MESSAGE_SND (DPF 3): data for the other end of a logical link.
package struct LogicalLinkDataSend: LogicalLinkData, Hashable {
  /// The data packet format in the position of the group.
  package static let opcode = Opcode(GroupID(rawValue: 3), 0)
  package var connectionID: UInt32 = 0
  package var sequenceNumber: UInt16 = 0
  package var data: [UInt8] = []
  package init() {}
}

/// LL_DATA_MESSAGE_RCV (DPF 4): data from the other end of a logical link.
package struct LogicalLinkDataReceived: LogicalLinkData, Hashable {
  /// The data packet format in the position of the group.
  package static let opcode = Opcode(GroupID(rawValue: 4), 0)
  package var connectionID: UInt32 = 0
  package var sequenceNumber: UInt16 = 0
  package var data: [UInt8] = []
  package init() {}
}

/// RADAR_DATA_MESSAGE (DPF 15): what a radar received, sweep by sweep.
package struct RadarDataMessage: UCIPayload, Hashable {
  /// The data packet format in the position of the group.
  package static let opcode = Opcode(GroupID(rawValue: 15), 0)

  /// What one sweep received.
  package struct Sweep: Hashable, Sendable {
    package var sequenceNumber: UInt32 = 0
    package var timestamp: UInt32 = 0
    /// The vendor's own bytes, at most 255.
    package var vendorData: [UInt8] = []
    /// The samples as they came.
    package var samples: [UInt8] = []
  }

  package var sessionToken: UInt32 = 0
  /// Whether the data is good.
  package var status = Status.ok
  package var dataType: UInt8 = 0
  package var samplesPerSweep: UInt8 = 0
  /// Size of a sample: 0 32 bits, 1 48 bits, 2 64 bits.
  package var bitsPerSample: UInt8 = 0
  /// Where the samples begin.
  package var sweepOffset: UInt16 = 0
  /// Bytes of the data of a sweep, as announced.
  package var sweepDataSize: UInt16 = 0
  /// At most 255.
  package var sweeps: [Sweep] = []

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.code("status", &status)
    try coder.field("data_type", &dataType, .names(["SWEEP_SAMPLES"]))
    var count = UInt8(sweeps.count)
    try coder.field("count", &count, .hidden)
    try coder.field("samples_per_sweep", &samplesPerSweep)
    try coder.field("bits_per_sample", &bitsPerSample, .names(["32", "48", "64"]))
    try coder.field("sweep_offset", &sweepOffset)
    try coder.field("sweep_data_size", &sweepDataSize)
    try coder.require(bitsPerSample <= 2 || count == 0, "bits_per_sample", "the size is not known")
    let length = Int(samplesPerSweep) * (4 + 2 * Int(bitsPerSample))
    try coder.list(
      "sweeps", &sweeps, .exactly(Int(count)), blank: Sweep()
    ) { c, sweep throws(PayloadError) in
      try c.field("sequence", &sweep.sequenceNumber)
      try c.field("timestamp", &sweep.timestamp)
      try c.bytes("vendor_data", &sweep.vendorData, .u8)
      try c.bytes("samples", &sweep.samples, .exactly(length))
    }
  }
}
