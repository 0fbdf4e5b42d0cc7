// SPDX-License-Identifier: Apache-2.0

// What NXP's chips report of single frames, groups 0xB and 0xF. Source (facts only):
// nxp-uwb/sr250-uwbiot-zephyr and nxp-appcodehub/an-sr250-uwb-plug-and-play-demo.

/// RFRAME_LOG_NTF of NXP's group 0xB: what the receivers saw in each frame of a round.
public struct NXPRFrameLogNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x22)

  /// What names the session.
  public var sessionToken: UInt32
  /// The same as in the SESSION_INFO_NTF of the round.
  public var sequenceNumber: UInt32
  /// Which antenna sent.
  public var txAntenna: UInt8
  /// Bytes of each entry.
  public var entryLength: UInt8
  /// Reserved.
  public var reserved: UInt8
  /// An entry for each receiver and frame, at most 255; `NXPReceivedFrame` reads them.
  public var entries: [[UInt8]]

  /// What the entries say; those that do not have the known length are left out.
  public var frames: [NXPReceivedFrame] { entries.compactMap { NXPReceivedFrame($0) } }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends,
  /// and for entries without bytes.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    sequenceNumber = try reader.u32("sequence number")
    txAntenna = try reader.u8("TX antenna")
    let count = try reader.u8("number of entries")
    entryLength = try reader.u8("entry length")
    reserved = try reader.u8("reserved")
    guard entryLength > 0 || count == 0 else {
      throw PayloadError.invalid(field: "entry length", reason: "entries of 0 bytes say nothing")
    }
    entries = []
    for _ in 0..<count { entries.append(try reader.bytes(Int(entryLength), "entry")) }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u32(sequenceNumber)
    writer.u8(txAntenna)
    writer.u8(UInt8(entries.count))
    writer.u8(entryLength)
    writer.u8(reserved)
    for entry in entries { writer.bytes(entry) }
  }
}

/// What one receiver saw in one frame: an entry of RFRAME_LOG_NTF.
public struct NXPReceivedFrame: Hashable, Sendable {
  /// Bytes of an entry without the byte that some firmware has at its end.
  static let length = 99

  /// SR1xx: bit 7 receiver, bits 6…0 slot; SR2xx: bits 7 and 6 receiver, bits 5…0 slot.
  public var mapping: UInt8
  /// 4 is success.
  public var decodeStatus: UInt8
  /// The chip's judgement of the path.
  public var lineOfSight: LineOfSight
  /// First path: nanoseconds in Q10.6.
  public var rawFirstPath: UInt16
  /// Main path: nanoseconds in Q10.6.
  public var rawMainPath: UInt16
  /// Signal-to-noise ratio of the main path in dB.
  public var snrMainPath: UInt8
  /// Signal-to-noise ratio of the first path in dB.
  public var snrFirstPath: UInt8
  /// Signal-to-noise ratio of the whole frame: dB in Q8.8.
  public var rawSNR: Int16
  /// Received power: dBm in Q8.8.
  public var rawRSSI: Int16
  /// Power of the main path.
  public var mainPathPower: UInt32
  /// Power of the first path.
  public var firstPathPower: UInt32
  /// Variance of the noise.
  public var noiseVariance: UInt32
  /// Clock offset to the sender: ppm in Q5.11.
  public var rawClockOffset: Int16
  /// Phase for the angle of arrival: degrees in Q9.7.
  public var rawPhase: Int16
  /// 16 taps of the channel impulse response: real and imaginary part by turns.
  public var taps: [Int16]
  /// When the frame was received: units of 1/124.8 µs.
  public var timestamp: UInt32
  /// Fraction of such a unit in Q7.9.
  public var timestampFraction: Int16

  /// From the bytes of an entry; nil when there are fewer than the fields need.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.length else { return nil }
    var reader = unsafe PayloadReader(bytes.span.bytes)
    do throws(PayloadError) {
      mapping = try reader.u8("mapping")
      decodeStatus = try reader.u8("decode status")
      lineOfSight = LineOfSight(rawValue: try reader.u8("NLoS"))
      rawFirstPath = try reader.u16("first path")
      rawMainPath = try reader.u16("main path")
      snrMainPath = try reader.u8("SNR main")
      snrFirstPath = try reader.u8("SNR first")
      rawSNR = try reader.i16("SNR total")
      rawRSSI = try reader.i16("RSSI")
      mainPathPower = try reader.u32("main path power")
      firstPathPower = try reader.u32("first path power")
      noiseVariance = try reader.u32("noise variance")
      rawClockOffset = try reader.i16("CFO")
      rawPhase = try reader.i16("phase")
      taps = []
      for _ in 0..<32 { taps.append(try reader.i16("tap")) }
      timestamp = try reader.u32("timestamp")
      timestampFraction = try reader.i16("timestamp fraction")
    } catch { return nil }
  }
}

/// CIR_LOG_NTF of NXP's group 0xF: a channel impulse response.
public struct NXPCIRLogNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xF), 0x34)

  /// What names the session.
  public var sessionToken: UInt32
  /// The slot of the frame.
  public var slot: UInt8
  /// Which antenna received.
  public var rxAntenna: UInt8
  /// How many samples there are, as announced.
  public var count: UInt16
  /// The samples as they come.
  public var samples: [UInt8]

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    slot = try reader.u8("slot")
    rxAntenna = try reader.u8("RX antenna")
    count = try reader.u16("number of samples")
    samples = reader.rest()
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(slot)
    writer.u8(rxAntenna)
    writer.u16(count)
    writer.bytes(samples)
  }
}
