// SPDX-License-Identifier: Apache-2.0

/// RFRAME_LOG_NTF of NXP's group 0xB, read in place, without copying or allocating.
/// `NXPRFrameLogNotification` is the same as a value, and names the source.
public struct NXPFrameLogView: ~Escapable {
  private static let head = 12
  private let payload: RawSpan
  private let stride: Int

  /// What names the session.
  public let sessionToken: UInt32
  /// The same as in the SESSION_INFO_NTF of the round.
  public let sequenceNumber: UInt32
  /// How many entries it has, one for each receiver and frame.
  public let count: Int

  /// What an entry says, apart from its taps.
  public struct Entry: Hashable, Sendable {
    /// SR1xx: bit 7 receiver, bits 6…0 slot; SR2xx: bits 7 and 6 receiver, bits 5…0 slot.
    public var mapping: UInt8
    /// 4 is success.
    public var decodeStatus: UInt8
    /// The chip's judgement of the path.
    public var lineOfSight: LineOfSight
    /// First and main path: nanoseconds in Q10.6.
    public var rawFirstPath, rawMainPath: UInt16
    /// Signal-to-noise ratios of the main and of the first path in dB.
    public var snrMainPath, snrFirstPath: UInt8
    /// Signal-to-noise ratio of the whole frame in dB, received power in dBm: Q8.8.
    public var rawSNR, rawRSSI: Int16
    /// Clock offset to the sender: ppm in Q5.11.
    public var rawClockOffset: Int16
    /// When the frame was received: units of 1/124.8 µs, and a fraction of one in Q7.9.
    public var timestamp: UInt32
    /// Fraction of a unit in Q7.9.
    public var timestampFraction: Int16
  }

  /// Reads the head of a payload; nil when it is shorter than its entries, or they than their
  /// fields.
  @_lifetime(copy payload)
  public init?(_ payload: RawSpan) {
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

  /// An entry.
  public func entry(_ index: Int) -> Entry? {
    precondition(0..<count ~= index)
    let start = Self.head + index * stride
    var reader = PayloadReader(payload.extracting(start..<start + stride))
    do throws(PayloadError) {
      var entry = Entry(
        mapping: try reader.u8("mapping"), decodeStatus: try reader.u8("decode status"),
        lineOfSight: LineOfSight(rawValue: try reader.u8("NLoS")),
        rawFirstPath: try reader.u16("first path"), rawMainPath: try reader.u16("main path"),
        snrMainPath: try reader.u8("SNR main"), snrFirstPath: try reader.u8("SNR first"),
        rawSNR: try reader.i16("SNR total"), rawRSSI: try reader.i16("RSSI"), rawClockOffset: 0,
        timestamp: 0, timestampFraction: 0)
      // Three powers.
      try reader.skip(12, "powers")
      entry.rawClockOffset = try reader.i16("CFO")
      // Phase and 16 complex taps.
      try reader.skip(66, "taps")
      entry.timestamp = try reader.u32("timestamp")
      entry.timestampFraction = try reader.i16("timestamp fraction")
      return entry
    } catch { return nil }
  }
}
