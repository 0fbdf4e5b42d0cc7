// SPDX-License-Identifier: Apache-2.0

/// TEST_PERIODIC_TX_NTF: the frames were sent.
package struct TestPeriodicTXNotification: UCINotification, Hashable {
  package static let opcode = TestPeriodicTX.opcode
  package var status = Status.ok

  package init() {}
  package init(status: Status) { self.status = status }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
  }
}

/// TEST_PER_RX_NTF: the counters of reception.
package struct TestPERRXNotification: UCINotification, Hashable {
  package static let opcode = TestPERRX.opcode

  /// The names of the counters, in the order of the wire.
  package static let counterNames: [StaticString] = [
    "attempts", "acquisition_detected", "acquisition_rejected", "rx_failed", "sync_cir_ready",
    "sfd_failed", "sfd_found", "phr_decode_errors", "phr_bit_errors", "psdu_decode_errors",
    "psdu_bit_errors", "sts_found", "end_of_frame",
  ]

  package var status = Status.ok
  /// A number for each of `counterNames`; fewer if the notification ends early.
  package var counters: [UInt32] = []

  package init() {}
  package init(status: Status, counters: [UInt32]) {
    (self.status, self.counters) = (status, counters)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.counters(Self.counterNames, &counters)
  }
}

/// TEST_SS_TWR_NTF: a measured time.
package struct TestSSTWRNotification: UCINotification, Hashable {
  package static let opcode = TestSSTWR.opcode
  package var status = Status.ok
  /// Round-trip time of an initiator, or reply time of a responder, in ticks of 1/(128 · 499.2
  /// MHz). Nil where the notification is a status only.
  package var ticks: UInt32?

  package init() {}
  package init(status: Status, ticks: UInt32?) { (self.status, self.ticks) = (status, ticks) }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("ticks", &ticks)
  }
}

/// TEST_SR_RX_NTF: the counters of reception.
///
/// Source: FiRa UCI as published in AOSP (packages/modules/Uwb, uci_packets.pdl, SrRxData).
package struct TestSRRXNotification: UCINotification, Hashable {
  package static let opcode = TestSRRX.opcode

  /// The names of the counters, in the order of the wire.
  package static let counterNames: [StaticString] = [
    "attempts", "acquisition_detected", "acquisition_rejected", "rx_failed", "sync_cir_ready",
    "sfd_failed", "sfd_found", "sts_found", "end_of_frame",
  ]

  package var status = Status.ok
  /// A number for each of `counterNames`; fewer if the notification ends early.
  package var counters: [UInt32] = []
  /// The raw bitmap of detected STS; empty unless STS_DETECT_BITMAP asks for it. It is read as one
  /// bit for each frame, beginning with the least significant bit of the first byte, as usual in
  /// UCI.
  package var bitmap: [UInt8] = []

  package init() {}
  package init(status: Status, counters: [UInt32], bitmap: [UInt8] = []) {
    (self.status, self.counters, self.bitmap) = (status, counters, bitmap)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.counters(Self.counterNames, &counters)
    let isComplete = counters.count == Self.counterNames.count
    var bitmap: [UInt8]? = bitmap.isEmpty ? nil : bitmap
    try coder.optional(
      "sts_bitmap", &bitmap, blank: [], .omitted, { isComplete && $0 > 0 }
    ) { c, bytes throws(PayloadError) in try c.bytes("sts_bitmap", &bytes, .rest) }
    self.bitmap = bitmap ?? []
  }
}

/// The time at which a frame of a radio test was sent or received.
package struct TestTimestamp: FieldGroup, Hashable, Sendable {
  /// Units of 1/124.8 µs.
  package var units: UInt32 = 0
  /// Units of 1/(512 · 124.8) µs.
  package var fraction: UInt16 = 0

  package init() {}
  package init(units: UInt32, fraction: UInt16) { (self.units, self.fraction) = (units, fraction) }

  package var microseconds: Double { (Double(units) + Double(fraction) / 512) / 124.8 }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("units", &units)
    try coder.field("fraction", &fraction)
  }
}

/// The received frame of a radio test: TEST_RX_NTF or TEST_LOOPBACK_NTF after the status.
package struct TestFrame: Hashable, Sendable {
  /// The time of sending; nil in TEST_RX_NTF.
  package var txTimestamp: TestTimestamp?
  package var rxTimestamp: TestTimestamp
  /// Azimuth: degrees in Q9.7.
  package var rawAzimuth: Int16
  /// Elevation: degrees in Q9.7.
  package var rawElevation: Int16
  /// Time between the main path and the first path in nanoseconds; nil in TEST_LOOPBACK_NTF.
  package var arrivalGapNanoseconds: UInt8?
  /// The header of the frame.
  package var phr: UInt16
  /// The payload of the frame, at most 65535 bytes.
  package var psdu: [UInt8]

  /// Creates a frame from its fields; `txTimestamp` for a loopback, `arrivalGapNanoseconds` for all
  /// others.
  package init(
    txTimestamp: TestTimestamp? = nil, rxTimestamp: TestTimestamp = TestTimestamp(),
    rawAzimuth: Int16 = 0, rawElevation: Int16 = 0, arrivalGapNanoseconds: UInt8? = nil,
    phr: UInt16 = 0, psdu: [UInt8] = []
  ) {
    (self.txTimestamp, self.rxTimestamp) = (txTimestamp, rxTimestamp)
    (self.rawAzimuth, self.rawElevation) = (rawAzimuth, rawElevation)
    (self.arrivalGapNanoseconds, self.phr, self.psdu) = (arrivalGapNanoseconds, phr, psdu)
  }

  fileprivate mutating func visit<C: FieldCoder & ~Escapable>(
    _ coder: inout C, isLoopback: Bool
  ) throws(PayloadError) {
    try coder.optional(
      "tx_time_us", &txTimestamp, blank: TestTimestamp(), .omitted, { _ in isLoopback }
    ) { c, time throws(PayloadError) in try c.group("tx_time_us", &time) }
    try coder.group("rx_time_us", &rxTimestamp)
    try coder.field("azimuth_deg", &rawAzimuth, .scaled(128))
    try coder.field("elevation_deg", &rawElevation, .scaled(128))
    try coder.optional(
      "arrival_gap_ns", &arrivalGapNanoseconds, if: !isLoopback, absent: .omitted)
    try coder.field("phr", &phr)
    try coder.bytes("psdu", &psdu, .u16)
  }
}

/// TEST_RX_NTF: a frame was received.
package struct TestRXNotification: UCINotification, Hashable {
  package static let opcode = TestRX.opcode
  package var status = Status.ok
  /// The frame; nil where the notification is a status only.
  package var frame: TestFrame?

  package init() {}
  package init(status: Status, frame: TestFrame?) { (self.status, self.frame) = (status, frame) }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional(
      "frame", &frame, blank: TestFrame(), .omitted, { $0 > 0 }
    ) { c, frame throws(PayloadError) in try frame.visit(&c, isLoopback: false) }
  }
}

/// TEST_LOOPBACK_NTF: a frame was sent and received.
package struct TestLoopbackNotification: UCINotification, Hashable {
  package static let opcode = TestLoopback.opcode
  package var status = Status.ok
  /// The frame; nil where the notification is a status only.
  package var frame: TestFrame?

  package init() {}
  package init(status: Status, frame: TestFrame?) { (self.status, self.frame) = (status, frame) }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional(
      "frame", &frame, blank: TestFrame(), .omitted, { $0 > 0 }
    ) { c, frame throws(PayloadError) in try frame.visit(&c, isLoopback: true) }
  }
}

/// One receiver's values for the frames of a radio test.
package struct TestReceiver: Hashable, Sendable {
  /// Received power: dBm in Q8.8.
  package var rawRSSI: Int16

  package init(rawRSSI: Int16) { self.rawRSSI = rawRSSI }

  package var rssiDBm: Double { Double(rawRSSI) / 256 }
}

/// TEST_DEBUG_NTF of Qorvo's group 0xB: the receiver's values, once diagnostics are enabled.
///
/// Source: UWB Qorvo Tools 1.1.1; DW3_QM33_SDK 1.1.0 (uci_spec_qorvo.h).
package struct QorvoTestDebugNotification: UCINotification, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0xB), 0x00)

  /// Phase difference for the azimuth and for the elevation in Q8.7.
  package var rawPDoA: [Int16] = [0, 0]
  /// Received power at each receiver: magnitude of negative dBm in Q8.8.
  package var rawRSSI: [UInt16] = []
  /// Noise, in the chip's unit.
  package var rawNoise: Int16 = 0
  /// Azimuth and elevation in Q8.7 degrees.
  package var rawAngles: [Int16] = [0, 0]
  /// Relative difference of the carriers in Q5.26; nil where it is missing.
  package var rawCarrierOffset: UInt32?

  package init() {}
  package init(
    rawPDoA: [Int16], rawRSSI: [UInt16], rawNoise: Int16, rawAngles: [Int16],
    rawCarrierOffset: UInt32? = nil
  ) {
    precondition(rawPDoA.count == 2 && rawAngles.count == 2)
    (self.rawPDoA, self.rawRSSI, self.rawNoise) = (rawPDoA, rawRSSI, rawNoise)
    (self.rawAngles, self.rawCarrierOffset) = (rawAngles, rawCarrierOffset)
  }

  /// The receivers in the order of the wire.
  package var receivers: [TestReceiver] {
    rawRSSI.map { TestReceiver(rawRSSI: Int16(clamping: -Int($0))) }
  }

  /// Difference of the carriers in parts per million.
  package var carrierOffsetPPM: Double? {
    rawCarrierOffset.map { Double(Int32(bitPattern: $0)) / Double(1 << 26) * 1e6 }
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.numbers("pdoa", &rawPDoA, .exactly(2))
    try coder.numbers("rssi", &rawRSSI)
    try coder.field("noise", &rawNoise)
    try coder.numbers("angles", &rawAngles, .exactly(2))
    try coder.optional("carrier_offset", &rawCarrierOffset)
  }
}
