// SPDX-License-Identifier: Apache-2.0

/// The type of the measurements of a SESSION_INFO_NTF.
public struct MeasurementType: RawRepresentable, Hashable, Sendable, WireCode {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a type from any byte.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// One-way ranging, uplink TDoA (at an anchor).
  @inlinable public static var uplinkTDoA: Self { Self(rawValue: 0) }
  /// Two-way ranging.
  @inlinable public static var twoWay: Self { Self(rawValue: 1) }
  /// One-way ranging, downlink TDoA (at a tag).
  @inlinable public static var downlinkTDoA: Self { Self(rawValue: 2) }
  /// One-way ranging, angle of arrival only.
  @inlinable public static var oneWayAoA: Self { Self(rawValue: 3) }
  /// One-way ranging, downlink TDoA in its second version (at a tag), FiRa 3.0.
  @inlinable public static var downlinkTDoAV2: Self { Self(rawValue: 6) }
}

/// A SESSION_INFO_NTF (FiRa 1.x: RANGE_DATA_NTF) read in place, without copying or allocating.
///
/// The view borrows the payload and cannot outlive it. The bounds of the header and, for two-way
/// ranging, of all measurements are checked once in `init`; after that every field is one load.
public struct SessionInfoView: ~Escapable {
  /// Bytes before the first measurement.
  @inlinable package static var headerLength: Int { 25 }

  /// The whole payload.
  public let payload: RawSpan
  /// The number of measurements according to the notification.
  public let count: Int

  /// Reads the header of a payload.
  ///
  /// - Throws: `PayloadError` when the payload is shorter than its header, or than its measurements
  ///   for two-way ranging.
  @inlinable
  @_lifetime(copy payload)
  package init(_ payload: RawSpan) throws(PayloadError) {
    guard payload.byteCount >= Self.headerLength else {
      throw PayloadError.tooShort(
        field: "SESSION_INFO_NTF", needed: Self.headerLength, available: payload.byteCount)
    }
    // Sound: there are 25 bytes.
    let count = Int(unsafe payload.unsafeLoad(fromByteOffset: 24, as: UInt8.self))
    let type = unsafe payload.unsafeLoad(fromByteOffset: 13, as: UInt8.self)
    let needed = Self.headerLength + count * TwoWayMeasurement.length
    guard type != MeasurementType.twoWay.rawValue || payload.byteCount >= needed else {
      throw PayloadError.tooShort(
        field: "measurements", needed: needed, available: payload.byteCount)
    }
    self.payload = payload
    self.count = count
  }

  /// Views a payload whose layout a view has checked before: `init(_:)` did not throw for these
  /// bytes.
  @inlinable
  @unsafe @_lifetime(copy payload)
  package init(unchecked payload: RawSpan) {
    self.payload = payload
    count = Int(
      unsafe payload.unsafeLoad(fromUncheckedByteOffset: 24, as: UInt8.self))
  }

  // Sound for every offset used below: `init` has checked the bounds. The loads are unaligned and
  // the values little-endian, so this is right on every architecture.
  @inlinable @inline(__always)
  func load<T: BitwiseCopyable & FixedWidthInteger>(_ offset: Int, as: T.Type) -> T {
    T(littleEndian: unsafe payload.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: T.self))
  }

  /// The number of the notification in its session, from 0 at its start.
  @inlinable public var sequenceNumber: UInt32 { load(0, as: UInt32.self) }
  /// The session: its id in FiRa 1.x, its handle since 2.0.
  @inlinable public var sessionToken: UInt32 { load(4, as: UInt32.self) }
  /// Ranging interval in milliseconds; some chips send 0.
  @inlinable public var intervalMilliseconds: UInt32 { load(9, as: UInt32.self) }
  /// The type of the measurements.
  @inlinable public var type: MeasurementType {
    MeasurementType(rawValue: load(13, as: UInt8.self))
  }
  /// Whether peers are named by extended addresses.
  @inlinable package var hasExtendedAddresses: Bool { load(15, as: UInt8.self) != 0 }

  @inlinable @inline(__always)
  func uncheckedTwoWayMeasurement(at index: Int, extended: Bool) -> TwoWayMeasurement {
    let start = Self.headerLength &+ index &* TwoWayMeasurement.length
    // The fields after the address are the same for short and extended addresses.
    let o = start &+ (extended ? 8 : 2)
    let fields = unsafe payload.extracting(unchecked: o..<o &+ 18)
    func load<T: BitwiseCopyable & FixedWidthInteger>(_ offset: Int, as: T.Type) -> T {
      T(
        littleEndian: unsafe fields.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: T.self)
      )
    }
    func angle(_ offset: Int) -> Angle {
      Angle(raw: load(offset, as: Int16.self), figureOfMerit: load(offset &+ 2, as: UInt8.self))
    }
    return TwoWayMeasurement(
      peer: extended
        ? MACAddress(extended: self.load(start, as: UInt64.self))
        : MACAddress(self.load(start, as: UInt16.self)),
      status: Status(rawValue: load(0, as: UInt8.self)),
      lineOfSight: LineOfSight(rawValue: load(1, as: UInt8.self)),
      rawDistance: load(2, as: UInt16.self),
      azimuth: angle(4), elevation: angle(7),
      destinationAzimuth: angle(10), destinationElevation: angle(13),
      slotIndex: load(16, as: UInt8.self),
      rawRSSI: load(17, as: UInt8.self))
  }

  /// Calls `body` with each two-way measurement in order; never for other types.
  @inlinable @inline(__always)
  public func forEachTwoWayMeasurement<E: Error>(
    _ body: (TwoWayMeasurement) throws(E) -> Void
  ) throws(E) {
    guard type == .twoWay else { return }
    let extended = hasExtendedAddresses
    for index in 0..<count {
      try body(uncheckedTwoWayMeasurement(at: index, extended: extended))
    }
  }

  /// The offset after the last two-way measurement, where the vendor's own bytes begin.
  package var vendorTailOffset: Int { Self.headerLength + count * TwoWayMeasurement.length }
}
