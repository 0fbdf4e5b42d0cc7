// SPDX-License-Identifier: Apache-2.0

/// What one receiver of a chip made of the frames of a radio test.
public struct TestReceiver: Hashable, Sendable {
  /// Which antenna; nil where the chip does not say.
  public var antenna: UInt8?
  /// Received power in Q8.8 dBm.
  public var rawRSSI: Int16
  /// Signal to noise in Q8.8 dB; nil where the chip does not say.
  public var rawSNR: Int16?

  /// From its fields.
  public init(antenna: UInt8? = nil, rawRSSI: Int16, rawSNR: Int16? = nil) {
    self.antenna = antenna
    self.rawRSSI = rawRSSI
    self.rawSNR = rawSNR
  }

  /// Received power in dBm.
  public var rssiDBm: Double { Double(rawRSSI) / 256 }
  /// Signal to noise in dB.
  public var snrDB: Double? { rawSNR.map { Double($0) / 256 } }
}

/// What NXP's chips add behind the fields of TEST_PER_RX_NTF, TEST_RX_NTF and TEST_LOOPBACK_NTF.
///
/// Source: NXP's published host code (UwbApi_RfTest.h, deserializeDataFromLoopbackNtf).
public struct NXPTestReport: Hashable, Sendable {
  /// What form this is.
  public var type: UInt8
  /// How the receivers were used.
  public var mode: UInt8
  /// The receivers, at most 255.
  public var receivers: [TestReceiver]
  /// Difference of the carriers in Q5.11 ppm; nil in TEST_RX_NTF.
  public var rawCarrierOffset: Int16?

  /// From its fields.
  public init(
    type: UInt8 = 0, mode: UInt8 = 0, receivers: [TestReceiver], rawCarrierOffset: Int16? = nil
  ) {
    self.type = type
    self.mode = mode
    self.receivers = receivers
    self.rawCarrierOffset = rawCarrierOffset
  }

  /// Difference of the carriers in parts per million.
  public var carrierOffsetPPM: Double? { rawCarrierOffset.map { Double($0) / 2_048 } }

  /// Reads the octets behind the known fields of a notification; nil where they are none of these.
  public init?(trailing: [UInt8]) {
    var reader = unsafe PayloadReader(trailing.span.bytes)
    do throws(PayloadError) {
      guard try reader.u16("length") > 0 else { return nil }
      type = try reader.u8("type")
      mode = try reader.u8("mode")
      let count = Int(try reader.u8("number of antennas"))
      let antennas = try reader.octets(count, "antennas")
      receivers = []
      for antenna in antennas {
        receivers.append(TestReceiver(antenna: antenna, rawRSSI: try reader.i16("RSSI")))
      }
      for index in receivers.indices { receivers[index].rawSNR = try reader.i16("SNR") }
      rawCarrierOffset = reader.remaining >= 2 ? try reader.i16("carrier offset") : nil
    } catch {
      return nil
    }
  }

  /// The octets with their length in front, as they stand behind the known fields.
  public var trailing: [UInt8] {
    var writer = PayloadWriter()
    writer.u8(type)
    writer.u8(mode)
    writer.u8(UInt8(receivers.count))
    for receiver in receivers { writer.u8(receiver.antenna ?? 0) }
    for receiver in receivers { writer.i16(receiver.rawRSSI) }
    for receiver in receivers { writer.i16(receiver.rawSNR ?? 0) }
    if let rawCarrierOffset { writer.i16(rawCarrierOffset) }
    var whole = PayloadWriter()
    whole.u16(UInt16(writer.octets.count))
    whole.octets(writer.octets)
    return whole.octets
  }
}

/// TEST_DEBUG_NTF of Qorvo's group 0xB: what the receiver saw, once diagnostics are enabled.
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

extension QorvoTestDebugNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("rssi_dbm", .list(receivers.map { .decimal($0.rssiDBm) })),
      Field("noise", .number(rawNoise)),
      Field("azimuth_deg", .decimal(Double(rawAngles[0]) / 128)),
      Field("elevation_deg", .decimal(Double(rawAngles[1]) / 128)),
      Field("carrier_offset_ppm", .decimal(carrierOffsetPPM)),
    ]
  }
}
