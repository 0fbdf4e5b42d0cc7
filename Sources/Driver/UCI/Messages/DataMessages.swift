// SPDX-License-Identifier: Apache-2.0

/// DATA_MESSAGE_SND (DPF 1): data for a peer of a session.
package struct DataMessageSend: UCIData, Hashable {
  package static let format: UInt8 = 1

  package var sessionToken: UInt32 = 0
  /// The address of the peer. A short one is in the low 16 bits.
  package var destination: UInt64 = 0
  /// The number of the message, counted up; SESSION_DATA_TRANSFER_STATUS_NTF refers to it.
  package var sequenceNumber: UInt16 = 0
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
package struct DataMessageReceived: UCIData, Hashable {
  package static let format: UInt8 = 2

  package var sessionToken: UInt32 = 0
  /// 0: received. Other values are statuses on some chips, and numbers of a separate list on
  /// others.
  package var status = Status.ok
  /// The address of the peer. A short one is in the low 16 bits.
  package var source: UInt64 = 0
  /// The number of the message, counted up.
  package var sequenceNumber: UInt16 = 0
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

/// The common fields of both directions of data on a logical link.
protocol LogicalLinkData: UCIData {
  /// The id of the link.
  var connectionID: UInt32 { get set }
  /// The number of the message, counted up.
  var sequenceNumber: UInt16 { get set }
  var data: [UInt8] { get set }
}

extension LogicalLinkData {
  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("connection", &connectionID)
    try coder.field("sequence", &sequenceNumber)
    try coder.bytes("data", &data, .u16)
  }
}

/// LL_DATA_MESSAGE_SND (DPF 3): data for the other end of a logical link.
struct LogicalLinkDataSend: LogicalLinkData, Hashable {
  static let format: UInt8 = 3
  var connectionID: UInt32 = 0
  var sequenceNumber: UInt16 = 0
  var data: [UInt8] = []
}

/// LL_DATA_MESSAGE_RCV (DPF 4): data from the other end of a logical link.
struct LogicalLinkDataReceived: LogicalLinkData, Hashable {
  static let format: UInt8 = 4
  var connectionID: UInt32 = 0
  var sequenceNumber: UInt16 = 0
  var data: [UInt8] = []
}

/// RADAR_DATA_MESSAGE (DPF 15): the samples that a radar received, by sweep.
struct RadarDataMessage: UCIData, Hashable {
  static let format: UInt8 = 15

  /// The samples of one sweep.
  struct Sweep: Hashable, Sendable {
    var sequenceNumber: UInt32 = 0
    var timestamp: UInt32 = 0
    /// The vendor's own bytes, at most 255.
    var vendorData: [UInt8] = []
    var samples: [UInt8] = []
  }

  var sessionToken: UInt32 = 0
  var status = Status.ok
  var dataType: UInt8 = 0
  var samplesPerSweep: UInt8 = 0
  /// Size of a sample: 0 32 bits, 1 48 bits, 2 64 bits.
  var bitsPerSample: UInt8 = 0
  /// The offset of the samples.
  var sweepOffset: UInt16 = 0
  /// The announced bytes of the data of a sweep.
  var sweepDataSize: UInt16 = 0
  var sweeps: [Sweep] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
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
