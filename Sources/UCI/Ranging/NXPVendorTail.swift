// SPDX-License-Identifier: Apache-2.0

/// What an NXP chip puts behind the two-way measurements of a SESSION_INFO_NTF, if the parameter
/// EXTENDED_NOTIFICATIONS is set: phase differences, signal-to-noise ratios, RSSI.
///
/// Published logs hold fewer bytes than the published parser reads where angles are not measured
/// (modes 0 and 3): then there are no entries of angles. What fits the bytes exactly is taken; what
/// does not fit in any way is no tail.
///
/// Source: nxp-uwb/sr250-uwbiot-zephyr (facts only) and the logs of an SR250 in its
/// UWBIoT_Middleware_Guide.
public struct NXPVendorTail: Hashable, Sendable {
  /// An angle by one pair of antennas.
  public struct AngleEntry: Hashable, Sendable {
    /// Angle of arrival: degrees in Q9.7.
    public var rawAngle: Int16
    /// Phase difference of arrival: degrees in Q9.7.
    public var rawPDoA: Int16
    /// Where in the channel impulse response the phases were taken.
    public var index: UInt16
    /// Whether the peer is within the field of view; nil where it is not said.
    public var fieldOfViewFlag: UInt8?

    /// Angle of arrival in degrees.
    public var degrees: Double { Double(rawAngle) / 128 }
    /// Phase difference of arrival in degrees.
    public var phaseDifferenceDegrees: Double { Double(rawPDoA) / 128 }
  }

  /// What one antenna received.
  public struct ReceiverEntry: Hashable, Sendable {
    /// Signal-to-noise ratio of the first path in dB.
    public var snrFirstPath: UInt8
    /// Signal-to-noise ratio of the main path in dB.
    public var snrMainPath: UInt8
    /// First path: nanoseconds in Q10.6.
    public var rawFirstPath: UInt16
    /// Main path: nanoseconds in Q10.6.
    public var rawMainPath: UInt16
    /// Signal-to-noise ratio of the whole frame: dB in Q8.8; nil where it is not said.
    public var rawSNR: Int16?
    /// Received power: dBm in Q8.8; nil where it is not said.
    public var rawRSSI: Int16?

    /// First path in nanoseconds.
    public var firstPathNanoseconds: Double { Double(rawFirstPath) / 64 }
    /// Main path in nanoseconds.
    public var mainPathNanoseconds: Double { Double(rawMainPath) / 64 }
    /// Received power in dBm.
    public var rssiDBm: Double? { rawRSSI.map { Double($0) / 256 } }
  }

  /// What belongs to one measurement.
  public struct Measurement: Hashable, Sendable {
    /// One for each of `antennas`; empty where no angles are measured.
    public var angles: [AngleEntry]
    /// One for each of `debugAntennas`.
    public var receivers: [ReceiverEntry]
    /// A second distance in centimetres, in the modes that measure by frame.
    public var secondDistance: UInt16?
    /// The distance in millimetres, where the chip gives it.
    public var distanceMillimetres: UInt32?
  }

  /// 0 first version, 0xA0 with flags of the field of view, 0xA1 with a message control.
  public var type: UInt8
  /// What is there: bit 0 TX antenna, 16 millimetres, 17 all frames; nil in other types than 0xA1.
  public var messageControl: UInt32?
  /// Which antenna sent; nil where it is not said.
  public var txAntenna: UInt8?
  /// Whether Wi-Fi was in the way.
  public var wifiCoexistence: UInt8
  /// 0 ToA, 1 AoA, 2 radar, 3 ToA and 4 AoA by frame.
  public var rxMode: UInt8
  /// Antennas, or pairs of them where angles are measured.
  public var antennas: [UInt8]
  /// The receiver's mode once more, or the number of frames where all are reported.
  public var debugMode: UInt8
  /// Antennas of the receivers.
  public var debugAntennas: [UInt8]
  /// One for each measurement of the notification.
  public var measurements: [Measurement]
  /// 16 bytes that prove the origin of the measurements; nil where there are none.
  public var authenticationTag: [UInt8]?

  /// From the bytes behind the last measurement.
  ///
  /// - Parameter count: how many measurements the notification has.
  public init?(_ bytes: [UInt8], measurements count: Int) {
    var reader = unsafe PayloadReader(bytes.span.bytes)
    do throws(PayloadError) {
      // Bounds everything below; nothing is read behind it but the tag.
      let body = try reader.longCounted("vendor data")
      guard !body.isEmpty, let tail = Self.read(body, count) else { return nil }
      self = tail
      if reader.remaining > 0, try reader.u8("authentication") != 0 {
        authenticationTag = try reader.bytes(16, "authentication tag")
      }
    } catch { return nil }
  }

  private static func read(_ body: [UInt8], _ count: Int) -> NXPVendorTail? {
    for withAngles in [true, false] {
      var reader = unsafe PayloadReader(body.span.bytes)
      if let tail = try? NXPVendorTail(from: &reader, count, withAngles: withAngles),
        reader.remaining == 0
      {
        return tail
      }
    }
    return nil
  }

  private init(
    from reader: inout PayloadReader, _ count: Int, withAngles: Bool
  ) throws(PayloadError) {
    type = try reader.u8("type")
    let control: UInt32? = type == 0xA1 ? try reader.u32("message control") : nil
    messageControl = control
    let bits = control ?? 0
    txAntenna = bits & 1 != 0 ? try reader.u8("TX antenna") : nil
    wifiCoexistence = try reader.u8("Wi-Fi coexistence")
    rxMode = try reader.u8("RX mode")
    antennas = try reader.counted("antennas")
    debugMode = try reader.u8("debug mode")
    debugAntennas = try reader.counted("debug antennas")
    measurements = []
    for _ in 0..<count {
      var measurement = Measurement(angles: [], receivers: [])
      for _ in withAngles ? antennas[...] : [] {
        measurement.angles.append(try reader.angleEntry(hasFlag: type == 0xA0))
      }
      for _ in debugAntennas {
        measurement.receivers.append(try reader.receiverEntry(isLong: bits >> 17 & 1 != 0))
      }
      if rxMode == 3 || rxMode == 4 { measurement.secondDistance = try reader.u16("distance") }
      if bits >> 16 & 1 != 0 { measurement.distanceMillimetres = try reader.u32("distance") }
      measurements.append(measurement)
    }
  }
}

extension PayloadReader {
  mutating func angleEntry(
    hasFlag: Bool
  ) throws(PayloadError) -> NXPVendorTail.AngleEntry {
    NXPVendorTail.AngleEntry(
      rawAngle: try i16("AoA"), rawPDoA: try i16("PDoA"), index: try u16("PDoA index"),
      fieldOfViewFlag: hasFlag ? try u8("field of view") : nil)
  }

  mutating func receiverEntry(
    isLong: Bool
  ) throws(PayloadError) -> NXPVendorTail.ReceiverEntry {
    NXPVendorTail.ReceiverEntry(
      snrFirstPath: try u8("SNR first"), snrMainPath: try u8("SNR main"),
      rawFirstPath: try u16("first path"), rawMainPath: try u16("main path"),
      rawSNR: isLong ? try i16("SNR") : nil, rawRSSI: isLong ? try i16("RSSI") : nil)
  }
}
