// SPDX-License-Identifier: Apache-2.0

/// A SESSION_INFO_NTF (FiRa 1.x: RANGE_DATA_NTF) as a value, for everything that is not in a hurry.
///
/// The reader of a stream uses `SessionInfoView`, which does not copy.
public struct SessionInfo: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.sessionInfo

  /// What was measured, by type.
  public enum Measurements: Hashable, Sendable {
    /// Distances and angles to peers.
    case twoWay([TwoWayMeasurement])
    /// Angles to advertisers.
    case oneWayAoA([OneWayAoAMeasurement])
    /// Messages of anchors, at a tag.
    case downlinkTDoA([DownlinkTDoAMeasurement])
    /// Messages of anchors, at a tag, in the second version.
    case downlinkTDoAV2([DownlinkTDoAMeasurementV2])
    /// Frames of tags, at an anchor.
    case uplinkTDoA([UplinkTDoAMeasurement])
    /// Of another type, or not laid out as known: the bytes behind the header.
    case other(count: UInt8, bytes: [UInt8])
  }

  /// Counts up by one for every notification of a session, from 0 at its start.
  public var sequenceNumber: UInt32
  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32
  /// Reserved in many implementations.
  public var rcrIndication: UInt8
  /// Milliseconds; some chips say 0.
  public var intervalMilliseconds: UInt32
  /// What was measured.
  public var type: MeasurementType
  /// Reserved.
  public var reserved14: UInt8
  /// 0 short, 1 extended.
  public var addressIndicator: UInt8
  /// The primary session of a hybrid schedule.
  public var primarySessionToken: UInt32
  /// Reserved.
  public var reserved20: UInt32
  /// The measurements, by type.
  public var measurements: Measurements
  /// Reserved bytes of each two-way measurement, 11 or 5 of them, as they came.
  public var reservedBytes: [[UInt8]]

  /// A notification of two-way measurements.
  public init(
    sequenceNumber: UInt32, sessionToken: UInt32, intervalMilliseconds: UInt32,
    twoWay: [TwoWayMeasurement], extendedAddresses: Bool = false
  ) {
    self.sequenceNumber = sequenceNumber
    self.sessionToken = sessionToken
    rcrIndication = 0
    self.intervalMilliseconds = intervalMilliseconds
    type = .twoWay
    reserved14 = 0
    addressIndicator = extendedAddresses ? 1 : 0
    primarySessionToken = 0
    reserved20 = 0
    measurements = .twoWay(twoWay)
    reservedBytes = twoWay.map { _ in Array(repeating: 0, count: extendedAddresses ? 5 : 11) }
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sequenceNumber = try reader.u32("sequence number")
    sessionToken = try reader.u32("session token")
    rcrIndication = try reader.u8("RCR indication")
    intervalMilliseconds = try reader.u32("ranging interval")
    type = MeasurementType(rawValue: try reader.u8("measurement type"))
    reserved14 = try reader.u8("reserved")
    addressIndicator = try reader.u8("address indicator")
    primarySessionToken = try reader.u32("primary session token")
    reserved20 = try reader.u32("reserved")
    let count = try reader.u8("number of measurements")
    reservedBytes = []
    measurements = try Self.measurements(
      &reader, type, count: count, extended: addressIndicator != 0, dialect, &reservedBytes)
  }

  /// Reads what follows the header.
  private static func measurements(
    _ reader: inout PayloadReader, _ type: MeasurementType, count: UInt8, extended: Bool,
    _ dialect: Dialect, _ reservedBytes: inout [[UInt8]]
  ) throws(PayloadError) -> Measurements {
    switch type {
    case .twoWay:
      return .twoWay(
        try Self.twoWay(&reader, count: count, extended: extended, reserved: &reservedBytes))
    case .oneWayAoA:
      var list: [OneWayAoAMeasurement] = []
      for _ in 0..<count { list.append(try .init(from: &reader, extendedAddress: extended)) }
      return .oneWayAoA(list)
    case .downlinkTDoA:
      var list: [DownlinkTDoAMeasurement] = []
      for _ in 0..<count { list.append(try .init(from: &reader, extendedAddress: extended)) }
      return .downlinkTDoA(list)
    case .uplinkTDoA:
      return UplinkTDoAMeasurement.list(
        &reader, count: count, extended: extended, dialect: dialect
      )
      .map { .uplinkTDoA($0) } ?? .other(count: count, bytes: reader.rest())
    case .downlinkTDoAV2:
      return DownlinkTDoAMeasurementV2.list(&reader, count: count, extended: extended)
        .map { .downlinkTDoAV2($0) } ?? .other(count: count, bytes: reader.rest())
    default:
      return .other(count: count, bytes: reader.rest())
    }
  }

  /// Reads the measurements of a notification whose header has been read in place.
  package static func measurements(
    of view: borrowing SessionInfoView, dialect: Dialect
  ) throws(PayloadError) -> Measurements {
    var reader = PayloadReader(
      view.payload.extracting(SessionInfoView.headerLength..<view.payload.byteCount))
    var reserved: [[UInt8]] = []
    return try measurements(
      &reader, view.type, count: UInt8(view.count), extended: view.hasExtendedAddresses, dialect,
      &reserved)
  }

  private static func twoWay(
    _ reader: inout PayloadReader, count: UInt8, extended: Bool, reserved: inout [[UInt8]]
  ) throws(PayloadError) -> [TwoWayMeasurement] {
    var list: [TwoWayMeasurement] = []
    for _ in 0..<count {
      let peer = try reader.address(extended: extended)
      var measurement = TwoWayMeasurement(
        peer: peer, status: Status(rawValue: try reader.u8("status")),
        lineOfSight: LineOfSight(rawValue: try reader.u8("NLoS")),
        rawDistance: try reader.u16("distance"))
      measurement.azimuth = try reader.angle("azimuth")
      measurement.elevation = try reader.angle("elevation")
      measurement.destinationAzimuth = try reader.angle("destination azimuth")
      measurement.destinationElevation = try reader.angle("destination elevation")
      measurement.slotIndex = try reader.u8("slot index")
      measurement.rawRSSI = try reader.u8("RSSI")
      reserved.append(try reader.bytes(extended ? 5 : 11, "reserved"))
      list.append(measurement)
    }
    return list
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sequenceNumber)
    writer.u32(sessionToken)
    writer.u8(rcrIndication)
    writer.u32(intervalMilliseconds)
    writer.u8(type.rawValue)
    writer.u8(reserved14)
    writer.u8(addressIndicator)
    writer.u32(primarySessionToken)
    writer.u32(reserved20)
    switch measurements {
    case .other(let count, let bytes):
      writer.u8(count)
      writer.bytes(bytes)
    case .oneWayAoA(let list):
      writer.u8(UInt8(list.count))
      for measurement in list { measurement.encode(into: &writer) }
    case .downlinkTDoA(let list):
      writer.u8(UInt8(list.count))
      for measurement in list { measurement.encode(into: &writer) }
    case .downlinkTDoAV2(let list):
      writer.u8(UInt8(list.count))
      for measurement in list { measurement.encode(into: &writer) }
    case .uplinkTDoA(let list):
      writer.u8(UInt8(list.count))
      for measurement in list { measurement.encode(into: &writer) }
    case .twoWay(let list):
      writer.u8(UInt8(list.count))
      for (measurement, reserved) in zip(list, reservedBytes) {
        writer.bytes(measurement.peer.bytes)
        writer.u8(measurement.status.rawValue)
        writer.u8(measurement.lineOfSight.rawValue)
        writer.u16(measurement.rawDistance)
        for angle in [
          measurement.azimuth, measurement.elevation, measurement.destinationAzimuth,
          measurement.destinationElevation,
        ] {
          writer.angle(angle)
        }
        writer.u8(measurement.slotIndex)
        writer.u8(measurement.rawRSSI)
        writer.bytes(reserved)
      }
    }
  }
}

extension PayloadReader {
  /// An angle with its figure of merit.
  mutating func angle(_ field: String) throws(PayloadError) -> Angle {
    Angle(raw: try i16(field), figureOfMerit: try u8("\(field) FoM"))
  }
}
