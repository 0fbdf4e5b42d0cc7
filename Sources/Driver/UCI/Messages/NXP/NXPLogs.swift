// SPDX-License-Identifier: Apache-2.0

// NXP's reports about single frames, groups 0xB and 0xF. Source (facts only):
// nxp-uwb/sr250-uwbiot-zephyr and nxp-appcodehub/an-sr250-uwb-plug-and-play-demo.

/// RFRAME_LOG_NTF of NXP's group 0xB: the receivers' values for each frame of a round.
package struct NXPRFrameLogNotification: UCINotification, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0xB), 0x22)

  package var sessionToken: UInt32 = 0
  /// The sequence number of the round, as in its SESSION_INFO_NTF.
  package var sequenceNumber: UInt32 = 0
  package var txAntenna: UInt8 = 0
  /// The bytes of each entry.
  package var entryLength: UInt8 = 0
  package var reserved: UInt8 = 0
  /// An entry for each receiver and frame, at most 255; `frames` reads them.
  package var entries: [[UInt8]] = []

  package init() {}

  /// The contents of the entries; entries of another length are left out.
  package var frames: [NXPReceivedFrame] { entries.compactMap { NXPReceivedFrame($0) } }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("sequence", &sequenceNumber)
    try coder.field("tx_antenna", &txAntenna)
    var count = UInt8(entries.count)
    try coder.field("count", &count, .hidden)
    try coder.field("entry_length", &entryLength, .hidden)
    try coder.field("reserved", &reserved, .hidden)
    let length = Int(entryLength)
    try coder.require(length > 0 || count == 0, "entry_length", "entries of 0 bytes say nothing")
    try coder.values(
      "frames", &entries, .exactly(Int(count)), blank: []
    ) { c, entry throws(PayloadError) in try c.bytes("frame", &entry, .exactly(length)) }
  }
}

/// One receiver's values for one frame: an entry of RFRAME_LOG_NTF.
package struct NXPReceivedFrame: FieldGroup, Hashable, Sendable {
  /// The bytes of an entry without the byte that some firmware has at its end.
  fileprivate static let length = 99

  /// SR1xx: bit 7 receiver, bits 6…0 slot; SR2xx: bits 7 and 6 receiver, bits 5…0 slot.
  package var mapping: UInt8 = 0
  /// 4 is success.
  package var decodeStatus: UInt8 = 0
  /// The chip's judgement of the path.
  package var lineOfSight = LineOfSight.notDetermined
  /// Times of the first and of the main path: nanoseconds in Q10.6.
  package var rawFirstPath: UInt16 = 0, rawMainPath: UInt16 = 0
  /// Signal-to-noise ratios of the main and of the first path in dB.
  package var snrMainPath: UInt8 = 0, snrFirstPath: UInt8 = 0
  /// Signal-to-noise ratio of the whole frame in dB, received power in dBm: Q8.8.
  package var rawSNR: Int16 = 0, rawRSSI: Int16 = 0
  package var mainPathPower: UInt32 = 0
  package var firstPathPower: UInt32 = 0
  package var noiseVariance: UInt32 = 0
  /// Clock offset to the sender: ppm in Q5.11.
  package var rawClockOffset: Int16 = 0
  /// Phase for the angle of arrival: degrees in Q9.7.
  package var rawPhase: Int16 = 0
  /// 16 taps of the channel impulse response: real and imaginary part by turns. Empty where the
  /// entry is read in place.
  package var taps: [Int16] = []
  /// The time of reception: units of 1/124.8 µs, and a fraction of one in Q7.9.
  package var timestamp: UInt32 = 0, timestampFraction: Int16 = 0

  package init() {}

  /// Reads the bytes of an entry; nil when there are fewer than the fields need.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.length else { return nil }
    var coder = unsafe FieldReader(PayloadReader(bytes.span.bytes), .assumed)
    guard (try? visit(&coder)) != nil else { return nil }
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try visit(&coder) { c, taps throws(PayloadError) in
      try c.numbers("taps", &taps, .exactly(32))
    }
  }

  fileprivate mutating func visit<C: FieldCoder & ~Escapable>(
    _ coder: inout C, taps: (inout C, inout [Int16]) throws(PayloadError) -> Void
  ) throws(PayloadError) {
    try coder.field("mapping", &mapping)
    try coder.field("decode_status", &decodeStatus)
    try coder.code("nlos", &lineOfSight)
    try coder.field("first_path_ns", &rawFirstPath, .scaled(64))
    try coder.field("main_path_ns", &rawMainPath, .scaled(64))
    try coder.field("snr_main_db", &snrMainPath)
    try coder.field("snr_first_db", &snrFirstPath)
    try coder.field("snr_db", &rawSNR, .scaled(256))
    try coder.field("rssi_dbm", &rawRSSI, .scaled(256))
    try coder.field("main_path_power", &mainPathPower)
    try coder.field("first_path_power", &firstPathPower)
    try coder.field("noise_variance", &noiseVariance)
    try coder.field("cfo_ppm", &rawClockOffset, .scaled(2048))
    try coder.field("phase_deg", &rawPhase, .scaled(128))
    try taps(&coder, &self.taps)
    try coder.field("rx_time", &timestamp, .hidden)
    try coder.field("rx_time_fraction", &timestampFraction, .hidden)
  }
}

/// RFRAME_LOG_NTF of NXP's group 0xB, read in place, without copying or allocating.
/// `NXPRFrameLogNotification` has the same contents as a value.
package struct NXPFrameLogView: ~Escapable {
  private static let head = 12
  private let payload: RawSpan
  private let stride: Int

  /// The token of the session.
  package let sessionToken: UInt32
  /// The sequence number of the round, as in its SESSION_INFO_NTF.
  package let sequenceNumber: UInt32
  /// The number of entries, one for each receiver and frame.
  package let count: Int

  /// Reads the head of a payload; nil when the payload is shorter than its entries, or an entry is
  /// shorter than its fields.
  @_lifetime(copy payload)
  package init?(_ payload: RawSpan) {
    var reader = PayloadReader(payload)
    do throws(PayloadError) {
      sessionToken = try reader.u32("session token")
      sequenceNumber = try reader.u32("sequence number")
      try reader.skip(1, "TX antenna")
      count = Int(try reader.u8("number of entries"))
      stride = Int(try reader.u8("entry length"))
      try reader.skip(1, "reserved")
    } catch { return nil }
    guard count == 0 || stride >= NXPReceivedFrame.length, reader.remaining >= count * stride
    else { return nil }
    self.payload = payload
  }

  /// Returns an entry.
  package func entry(_ index: Int) -> NXPReceivedFrame? {
    precondition(0..<count ~= index)
    let start = Self.head + index * stride
    let entry = PayloadReader(payload.extracting(start..<start + stride))
    var coder = FieldReader(entry, .assumed)
    var frame = NXPReceivedFrame()
    do throws(PayloadError) {
      try frame.visit(&coder) { c, _ throws(PayloadError) in try c.reader.skip(64, "taps") }
    } catch { return nil }
    return frame
  }
}

/// CIR_LOG_NTF of NXP's group 0xF: a channel impulse response.
struct NXPCIRLogNotification: UCINotification, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xF), 0x34)

  var sessionToken: UInt32 = 0
  var slot: UInt8 = 0
  var rxAntenna: UInt8 = 0
  /// The announced number of samples.
  var count: UInt16 = 0
  var samples: [UInt8] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("slot", &slot)
    try coder.field("rx_antenna", &rxAntenna)
    try coder.field("count", &count)
    try coder.bytes("samples", &samples, .rest)
  }
}
