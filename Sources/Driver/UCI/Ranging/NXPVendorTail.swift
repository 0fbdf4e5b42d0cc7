// SPDX-License-Identifier: Apache-2.0

/// What an NXP chip puts after the two-way measurements of a SESSION_INFO_NTF, if the parameter
/// EXTENDED_NOTIFICATIONS is set: phase differences, signal-to-noise ratios, RSSI. It is read in
/// place, without copying or allocating.
///
/// Published logs hold fewer bytes than the published parser reads where angles are not measured
/// (modes 0 and 3): then there are no entries of angles. What fits the bytes exactly is taken; what
/// does not fit in any way is no tail.
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
    /// Where in the channel impulse response the phases were taken.
    package var index: UInt16 = 0
    /// Whether the peer is within the field of view; nil where it is not said.
    package var fieldOfViewFlag: UInt8?

    package var degrees: Double { Double(rawAngle) / 128 }
    package var phaseDifferenceDegrees: Double { Double(rawPDoA) / 128 }
  }

  /// What one antenna received.
  package struct ReceiverEntry: Hashable, Sendable {
    /// Signal-to-noise ratio of the first path in dB.
    package var snrFirstPath: UInt8 = 0
    /// Signal-to-noise ratio of the main path in dB.
    package var snrMainPath: UInt8 = 0
    /// First path: nanoseconds in Q10.6.
    package var rawFirstPath: UInt16 = 0
    /// Main path: nanoseconds in Q10.6.
    package var rawMainPath: UInt16 = 0
    /// Signal-to-noise ratio of the whole frame: dB in Q8.8; nil where it is not said.
    package var rawSNR: Int16?
    /// Received power: dBm in Q8.8; nil where it is not said.
    package var rawRSSI: Int16?

    package var firstPathNanoseconds: Double { Double(rawFirstPath) / 64 }
    package var mainPathNanoseconds: Double { Double(rawMainPath) / 64 }
    package var rssiDBm: Double? { rawRSSI.map { Double($0) / 256 } }
  }

  private let tail: RawSpan
  /// Where the first measurement is, and bytes of each.
  private let first, stride: Int
  /// Bytes of their parts; 0 for those that are not there.
  private let angleSize, receiverSize, secondDistanceSize, millimetresSize: Int
  private let antennaIDs, debugIDs, tag: Range<Int>

  /// How many measurements there are.
  package let count: Int
  /// 0 first version, 0xA0 with flags of the field of view, 0xA1 with a message control.
  package let type: UInt8
  /// What is there: bit 0 TX antenna, 16 millimetres, 17 all frames; nil in other types than 0xA1.
  package let messageControl: UInt32?
  /// Which antenna sent; nil where it is not said.
  package let txAntenna: UInt8?
  /// Whether Wi-Fi was in the way.
  package let wifiCoexistence: UInt8
  /// 0 ToA, 1 AoA, 2 radar, 3 ToA and 4 AoA by frame.
  package let rxMode: UInt8
  /// How many angles each measurement has: one for each of `antennas`, or none.
  package let angleCount: Int

  /// From the bytes after the last measurement; nil when they do not have the form.
  ///
  /// - Parameter count: how many measurements the notification has.
  @_lifetime(copy tail)
  package init?(_ tail: RawSpan, measurements count: Int) {
    // Nothing is thrown where there is no tail, which is usual.
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
      // The receiver's mode once more, or the number of frames where all are reported.
      try reader.skip(1, "debug mode")
      debugIDs = try reader.ids("debug antennas")
      // Only the tag that proves the origin of the measurements follows the vendor's data.
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

  /// Antennas, or pairs of them where angles are measured.
  package var antennas: [UInt8] { bytes(antennaIDs) }
  /// Antennas of the receivers.
  package var debugAntennas: [UInt8] { bytes(debugIDs) }
  /// How many receivers each measurement has, one for each of `debugAntennas`.
  package var receiverCount: Int { debugIDs.count }
  /// 16 bytes that prove the origin of the measurements; nil where there are none.
  package var authenticationTag: [UInt8]? { tag.isEmpty ? nil : bytes(tag) }

  /// Which pair of antennas an angle is from.
  package func pair(_ index: Int) -> UInt8 {
    precondition(0..<angleCount ~= index)
    var reader = reader(at: antennaIDs.lowerBound + index)
    return (try? reader.u8("pair")) ?? 0
  }

  package func angle(_ index: Int, of measurement: Int) -> AngleEntry {
    precondition(0..<angleCount ~= index && 0..<count ~= measurement)
    var reader = reader(at: first + measurement * stride + index * angleSize)
    // `init` has checked that it is there.
    return (try? reader.angleEntry(hasFlag: angleSize == 7)) ?? AngleEntry()
  }

  package func receiver(_ index: Int, of measurement: Int) -> ReceiverEntry {
    precondition(0..<receiverCount ~= index && 0..<count ~= measurement)
    let receivers = first + measurement * stride + angleCount * angleSize
    var reader = reader(at: receivers + index * receiverSize)
    return (try? reader.receiverEntry(isLong: receiverSize == 10)) ?? ReceiverEntry()
  }

  /// A second distance in centimetres, in the modes that measure by frame.
  package func secondDistance(of measurement: Int) -> UInt16? {
    precondition(0..<count ~= measurement)
    guard secondDistanceSize > 0 else { return nil }
    var reader = reader(at: first + (measurement + 1) * stride - millimetresSize - 2)
    return try? reader.u16("distance")
  }

  /// The distance in millimetres, where the chip gives it.
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
  /// Where as many bytes are as the byte before them says.
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
