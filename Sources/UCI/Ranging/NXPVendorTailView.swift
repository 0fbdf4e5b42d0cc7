// SPDX-License-Identifier: Apache-2.0

/// What an NXP chip puts behind the two-way measurements of a SESSION_INFO_NTF, read in place,
/// without copying or allocating. `NXPVendorTail` is the same as a value, and names the source.
public struct NXPVendorTailView: ~Escapable {
  private let body: RawSpan
  private let first: Int
  private let angles: (count: Int, hasFlag: Bool, ids: Int)
  private let receivers: (count: Int, isLong: Bool, ids: Int)
  private let stride: Int
  private let millimetres: Int?

  /// 0 ToA, 1 AoA, 2 radar, 3 ToA and 4 AoA by frame.
  public let rxMode: UInt8
  /// How many measurements there are.
  public let count: Int

  /// From the bytes behind the last measurement; nil when they do not have the form.
  ///
  /// - Parameter count: how many measurements the notification has.
  @_lifetime(copy tail)
  public init?(_ tail: RawSpan, measurements count: Int) {
    // Nothing is thrown where there is no tail, which is usual.
    guard tail.byteCount > 2 else { return nil }
    var outer = PayloadReader(tail)
    guard let length = try? outer.u16("vendor data length"), length > 0,
      outer.remaining >= Int(length)
    else { return nil }
    let body = tail.extracting(2..<2 + Int(length))
    var reader = PayloadReader(body)
    do throws(PayloadError) {
      let type = try reader.u8("type")
      let bits = type == 0xA1 ? try reader.u32("message control") : 0
      if bits & 1 != 0 { try reader.skip(1, "TX antenna") }
      try reader.skip(1, "Wi-Fi coexistence")
      rxMode = try reader.u8("RX mode")
      let antennas = Int(try reader.u8("antennas"))
      let antennaIDs = reader.offset
      try reader.skip(antennas, "antennas")
      try reader.skip(1, "debug mode")
      let debug = Int(try reader.u8("debug antennas"))
      let debugIDs = reader.offset
      try reader.skip(debug, "debug antennas")
      let hasFlag = type == 0xA0
      let isLong = bits >> 17 & 1 != 0
      let behind =
        debug * (isLong ? 10 : 6) + (rxMode == 3 || rxMode == 4 ? 2 : 0)
        + (bits >> 16 & 1 != 0 ? 4 : 0)
      let withAngles = antennas * (hasFlag ? 7 : 6) + behind
      // As with `NXPVendorTail`: what fits the bytes exactly is taken.
      let hasAngles = reader.remaining == count * withAngles
      guard hasAngles || reader.remaining == count * behind else { return nil }
      first = reader.offset
      angles = (hasAngles ? antennas : 0, hasFlag, antennaIDs)
      receivers = (debug, isLong, debugIDs)
      stride = hasAngles ? withAngles : behind
      millimetres = bits >> 16 & 1 != 0 ? stride - 4 : nil
    } catch { return nil }
    self.body = body
    self.count = count
  }

  /// How many angles each measurement has, one for each pair of antennas.
  public var angleCount: Int { angles.count }
  /// How many receivers each measurement has.
  public var receiverCount: Int { receivers.count }

  /// Which pair of antennas an angle is from.
  public func pair(_ index: Int) -> UInt8 {
    precondition(0..<angles.count ~= index)
    return reader(at: angles.ids + index).peek ?? 0
  }

  /// An angle of a measurement.
  public func angle(_ index: Int, of measurement: Int) -> NXPVendorTail.AngleEntry {
    precondition(0..<angles.count ~= index && 0..<count ~= measurement)
    var reader = reader(at: first + measurement * stride + index * (angles.hasFlag ? 7 : 6))
    // `init` has checked that it is there.
    return (try? reader.angleEntry(hasFlag: angles.hasFlag))
      ?? .init(rawAngle: 0, rawPDoA: 0, index: 0)
  }

  /// What a receiver saw.
  public func receiver(_ index: Int, of measurement: Int) -> NXPVendorTail.ReceiverEntry {
    precondition(0..<receivers.count ~= index && 0..<count ~= measurement)
    let start = first + measurement * stride + angles.count * (angles.hasFlag ? 7 : 6)
    var reader = reader(at: start + index * (receivers.isLong ? 10 : 6))
    return (try? reader.receiverEntry(isLong: receivers.isLong))
      ?? .init(snrFirstPath: 0, snrMainPath: 0, rawFirstPath: 0, rawMainPath: 0)
  }

  /// The distance in millimetres, where the chip gives it.
  public func distanceMillimetres(of measurement: Int) -> UInt32? {
    precondition(0..<count ~= measurement)
    guard let millimetres else { return nil }
    var reader = reader(at: first + measurement * stride + millimetres)
    return try? reader.u32("distance")
  }

  @_lifetime(copy self)
  private func reader(at offset: Int) -> PayloadReader {
    PayloadReader(body.extracting(offset..<body.byteCount))
  }
}
