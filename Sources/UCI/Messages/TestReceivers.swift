// SPDX-License-Identifier: Apache-2.0

/// What one receiver of a chip made of the frames of a radio test.
public struct TestReceiver: Hashable, Sendable {
  /// Received power in Q8.8 dBm.
  public var rawRSSI: Int16

  /// From its field.
  public init(rawRSSI: Int16) { self.rawRSSI = rawRSSI }

  /// Received power in dBm.
  public var rssiDBm: Double { Double(rawRSSI) / 256 }
}

/// TEST_DEBUG_NTF of Qorvo's group 0xB: what the receiver saw, once diagnostics are enabled.
///
/// Source: UWB Qorvo Tools 1.1.1; DW3_QM33_SDK 1.1.0 (uci_spec_qorvo.h).
public struct QorvoTestDebugNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x00)

  /// Phase difference for the azimuth and for the elevation in Q8.7.
  public var rawPDoA: [Int16]
  /// Received power at each receiver: magnitude of negative dBm in Q8.8.
  public var rawRSSI: [UInt16]
  /// Noise, as the chip counts it.
  public var rawNoise: Int16
  /// Azimuth and elevation in Q8.7 degrees.
  public var rawAngles: [Int16]
  /// Difference of the carriers in Q5.26, of which 10^-6 are a ppm; nil where it is left out.
  public var rawCarrierOffset: UInt32?

  /// From its fields: two phase differences and two angles.
  public init(
    rawPDoA: [Int16], rawRSSI: [UInt16], rawNoise: Int16, rawAngles: [Int16],
    rawCarrierOffset: UInt32? = nil
  ) {
    precondition(rawPDoA.count == 2 && rawAngles.count == 2)
    self.rawPDoA = rawPDoA
    self.rawRSSI = rawRSSI
    self.rawNoise = rawNoise
    self.rawAngles = rawAngles
    self.rawCarrierOffset = rawCarrierOffset
  }

  /// The receivers in the order of the wire.
  public var receivers: [TestReceiver] {
    rawRSSI.map { TestReceiver(rawRSSI: Int16(clamping: -Int($0))) }
  }

  /// Difference of the carriers in parts per million.
  public var carrierOffsetPPM: Double? {
    rawCarrierOffset.map { Double(Int32(bitPattern: $0)) / Double(1 << 26) * 1e6 }
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    rawPDoA = [try reader.i16("PDoA azimuth"), try reader.i16("PDoA elevation")]
    rawRSSI = []
    for _ in 0..<(try reader.u8("number of RSSI")) { rawRSSI.append(try reader.u16("RSSI")) }
    rawNoise = try reader.i16("noise")
    rawAngles = [try reader.i16("azimuth"), try reader.i16("elevation")]
    rawCarrierOffset = reader.remaining >= 4 ? try reader.u32("carrier offset") : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    for value in rawPDoA { writer.i16(value) }
    writer.u8(UInt8(rawRSSI.count))
    for value in rawRSSI { writer.u16(value) }
    writer.i16(rawNoise)
    for value in rawAngles { writer.i16(value) }
    if let rawCarrierOffset { writer.u32(rawCarrierOffset) }
  }
}
