// SPDX-License-Identifier: Apache-2.0

/// The bytes of an NXP chip after the two-way measurements of a SESSION_INFO_NTF, if the parameter
/// EXTENDED_NOTIFICATIONS is set: phase differences, signal-to-noise ratios, RSSI. They are read in
/// place, without copying or allocating.
///
/// Published logs have fewer bytes than the published parser reads where angles are not measured
/// (modes 0 and 3): then there are no entries of angles. The form that matches the bytes exactly is
/// used; bytes that match no form are not a tail.
///
/// Source: nxp-uwb/sr250-uwbiot-zephyr (facts only) and the logs of an SR250 in its
/// UWBIoT_Middleware_Guide.
package struct NXPVendorTail: ~Escapable {
  /// An angle by one pair of antennas.
  package struct AngleEntry: Hashable, Sendable {
    /// Angle of arrival: degrees in Q9.7.
    package var rawAngle: Int16 = 0
    /// Phase difference of arrival: degrees in Q9.7.
    package var rawPDoA: Int16 = 0
    /// The position in the channel impulse response at which the phases were taken.
    package var index: UInt16 = 0
    /// Whether the peer is within the field of view; nil where it is missing.
    package var fieldOfViewFlag: UInt8?

    package var degrees: Double { Double(rawAngle) / 128 }
    package var phaseDifferenceDegrees: Double { Double(rawPDoA) / 128 }
  }

  /// The values of one antenna.
  package struct ReceiverEntry: Hashable, Sendable {
    /// Signal-to-noise ratio of the first path in dB.
    package var snrFirstPath: UInt8 = 0
    /// Signal-to-noise ratio of the main path in dB.
    package var snrMainPath: UInt8 = 0
    /// Time of the first path: nanoseconds in Q10.6.
    package var rawFirstPath: UInt16 = 0
    /// Time of the main path: nanoseconds in Q10.6.
    package var rawMainPath: UInt16 = 0
    /// Signal-to-noise ratio of the whole frame: dB in Q8.8; nil where it is missing.
    package var rawSNR: Int16?
    /// Received power: dBm in Q8.8; nil where it is missing.
    package var rawRSSI: Int16?

    package var firstPathNanoseconds: Double { Double(rawFirstPath) / 64 }
    package var mainPathNanoseconds: Double { Double(rawMainPath) / 64 }
    package var rssiDBm: Double? { rawRSSI.map { Double($0) / 256 } }
  }

  private let tail: RawSpan
  /// The offset of the first measurement, and the size of each measurement in bytes.
  private let first, stride: Int
  /// The sizes of the parts of a measurement in bytes; 0 for absent parts.
  private let angleSize, receiverSize, secondDistanceSize, millimetresSize: Int
  private let antennaIDs, debugIDs, tag: Range<Int>

  /// The number of measurements.
  package let count: Int
  /// 0 first version, 0xA0 with flags of the field of view, 0xA1 with a message control.
  package let type: UInt8
  /// The optional parts: bit 0 TX antenna, 16 millimetres, 17 all frames; nil in other types than
  /// 0xA1.
  package let messageControl: UInt32?
  /// The sending antenna; nil where it is missing.
  package let txAntenna: UInt8?
  /// Whether Wi-Fi interfered.
  package let wifiCoexistence: UInt8
  /// 0 ToA, 1 AoA, 2 radar, 3 ToA and 4 AoA by frame.
  package let rxMode: UInt8
  /// The number of angles of each measurement: one for each of `antennas`, or none.
  package let angleCount: Int

  /// Reads the bytes after the last measurement; nil when they do not have the form.
  ///
  /// - Parameter count: the number of measurements of the notification.
  @_lifetime(copy tail)
  package init?(_ tail: RawSpan, measurements count: Int) {
    // A missing tail is usual, so no error is thrown for it.
    guard tail.byteCount > 2 else { return nil }
    var rest = PayloadReader(tail)
    guard let length = try? rest.u16("vendor data length"), length > 0,
      rest.remaining >= Int(length)
    else { return nil }
    var reader = PayloadReader(tail.extracting(0..<2 + Int(length)))
    do throws(PayloadError) {
      try reader.skip(2, "length")
      type = try reader.u8("type")
      messageControl = type == 0xA1 ? try reader.u32("message control") : nil
      txAntenna = (messageControl ?? 0) & 1 != 0 ? try reader.u8("TX antenna") : nil
      wifiCoexistence = try reader.u8("Wi-Fi coexistence")
      rxMode = try reader.u8("RX mode")
      antennaIDs = try reader.ids("antennas")
      // The next byte repeats the receiver's mode, or is the number of frames if all frames are
      // reported.
      try reader.skip(1, "debug mode")
      debugIDs = try reader.ids("debug antennas")
      // Only the authentication tag follows the vendor's data.
      try rest.skip(Int(length), "vendor data")
      if rest.remaining > 0, try rest.u8("authentication") != 0 {
        tag = rest.offset..<rest.offset + 16
        try rest.skip(16, "authentication tag")
      } else {
        tag = 0..<0
      }
    } catch { return nil }
    self.tail = tail
    self.count = count
    first = reader.offset
    let control = messageControl ?? 0
    angleSize = type == 0xA0 ? 7 : 6
    receiverSize = control >> 17 & 1 != 0 ? 10 : 6
    secondDistanceSize = rxMode == 3 || rxMode == 4 ? 2 : 0
    millimetresSize = control >> 16 & 1 != 0 ? 4 : 0
    let withoutAngles = debugIDs.count * receiverSize + secondDistanceSize + millimetresSize
    let withAngles = antennaIDs.count * angleSize + withoutAngles
    let hasAngles = reader.remaining == count * withAngles
    guard hasAngles || reader.remaining == count * withoutAngles else { return nil }
    angleCount = hasAngles ? antennaIDs.count : 0
    stride = hasAngles ? withAngles : withoutAngles
  }

  /// The antennas, or pairs of antennas if angles are measured.
  package var antennas: [UInt8] { bytes(antennaIDs) }
  /// The antennas of the receivers.
  package var debugAntennas: [UInt8] { bytes(debugIDs) }
  /// The number of receivers of each measurement, one for each of `debugAntennas`.
  package var receiverCount: Int { debugIDs.count }
  /// 16 bytes that prove the origin of the measurements; nil where there are none.
  package var authenticationTag: [UInt8]? { tag.isEmpty ? nil : bytes(tag) }

  /// Returns the pair of antennas of an angle.
  package func pair(_ index: Int) -> UInt8 {
    precondition(0..<angleCount ~= index)
    var reader = reader(at: antennaIDs.lowerBound + index)
    return (try? reader.u8("pair")) ?? 0
  }

  package func angle(_ index: Int, of measurement: Int) -> AngleEntry {
    precondition(0..<angleCount ~= index && 0..<count ~= measurement)
    var reader = reader(at: first + measurement * stride + index * angleSize)
    // `init` has checked the bounds of the entry.
    return (try? reader.angleEntry(hasFlag: angleSize == 7)) ?? AngleEntry()
  }

  package func receiver(_ index: Int, of measurement: Int) -> ReceiverEntry {
    precondition(0..<receiverCount ~= index && 0..<count ~= measurement)
    let receivers = first + measurement * stride + angleCount * angleSize
    var reader = reader(at: receivers + index * receiverSize)
    return (try? reader.receiverEntry(isLong: receiverSize == 10)) ?? ReceiverEntry()
  }

  /// Returns a second distance in centimetres, in the modes that measure by frame.
  package func secondDistance(of measurement: Int) -> UInt16? {
    precondition(0..<count ~= measurement)
    guard secondDistanceSize > 0 else { return nil }
    var reader = reader(at: first + (measurement + 1) * stride - millimetresSize - 2)
    return try? reader.u16("distance")
  }

  /// Returns the distance in millimetres, where the chip reports it.
  package func distanceMillimetres(of measurement: Int) -> UInt32? {
    precondition(0..<count ~= measurement)
    guard millimetresSize > 0 else { return nil }
    var reader = reader(at: first + (measurement + 1) * stride - 4)
    return try? reader.u32("distance")
  }

  @_lifetime(copy self)
  private func reader(at offset: Int) -> PayloadReader {
    PayloadReader(tail.extracting(offset..<tail.byteCount))
  }

  private func bytes(_ range: Range<Int>) -> [UInt8] {
    var reader = reader(at: range.lowerBound)
    return (try? reader.bytes(range.count, "bytes")) ?? []
  }
}

extension PayloadReader {
  /// Returns the range of the bytes whose number is in the byte before them.
  @_lifetime(self: copy self)
  fileprivate mutating func ids(_ field: String) throws(PayloadError) -> Range<Int> {
    let count = Int(try u8(field))
    try skip(count, field)
    return offset - count..<offset
  }

  @_lifetime(self: copy self)
  fileprivate mutating func angleEntry(
    hasFlag: Bool
  ) throws(PayloadError) -> NXPVendorTail.AngleEntry {
    NXPVendorTail.AngleEntry(
      rawAngle: try i16("AoA"), rawPDoA: try i16("PDoA"), index: try u16("PDoA index"),
      fieldOfViewFlag: hasFlag ? try u8("field of view") : nil)
  }

  @_lifetime(self: copy self)
  fileprivate mutating func receiverEntry(
    isLong: Bool
  ) throws(PayloadError) -> NXPVendorTail.ReceiverEntry {
    NXPVendorTail.ReceiverEntry(
      snrFirstPath: try u8("SNR first"), snrMainPath: try u8("SNR main"),
      rawFirstPath: try u16("first path"), rawMainPath: try u16("main path"),
      rawSNR: isLong ? try i16("SNR") : nil, rawRSSI: isLong ? try i16("RSSI") : nil)
  }
}
