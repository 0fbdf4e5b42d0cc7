// SPDX-License-Identifier: Apache-2.0
internal import UCI
public import UWB

/// The part of the accessory configuration data that the accessory's UWB firmware makes. All numbers
/// are little-endian.
///
/// Sources: AOSP's ranging test application for the layout of all versions; published captures of
/// a DWM3001CDK for 1.0 and 1.1.
public struct UWBConfigurationData: Sendable, Hashable {
  /// Determines which fields are sent.
  package var version: ConfigurationVersion
  /// The manufacturer's number; 0x0003F53F is Qorvo.
  package var manufacturer: UInt32 = 0
  /// The chip's number, as its manufacturer assigns them; 3000 is the DW3000.
  package var model: UInt32 = 0
  /// The version of the UWB firmware, in the manufacturer's format.
  package var middleware: UInt32 = 0
  /// The accessory's role: an initiator is the controller, a responder the controlee.
  package var role: SessionConfiguration.Role
  /// The accessory's short address, random for each session.
  package var address: UInt16
  /// The greatest clock error in parts per million. Not in version 1.0.
  package var clockDrift: UInt16 = 100
  /// What the accessory asks for. Only in version 2.0.
  package var request = Request()

  /// The session that an accessory asks for, from version 2.0 on. The app's side decides.
  public struct Request: Sendable, Hashable {
    /// Rounds hop within a block.
    public var hopping: Bool
    /// Slots in a ranging round: at least 6 for one-to-one double-sided ranging with deferred
    /// results.
    public var slotsPerRound: UInt16
    /// Length of a slot in RSTU: at least 2400, a multiple of 1200, which are a millisecond.
    public var slotDuration: UInt16
    /// From one ranging round to the next, in milliseconds.
    public var interval: UInt16

    /// Creates a request; the defaults are AOSP's.
    public init(
      hopping: Bool = false, slotsPerRound: UInt16 = 25, slotDuration: UInt16 = 2_400,
      interval: UInt16 = 200
    ) {
      self.hopping = hopping
      self.slotsPerRound = slotsPerRound
      self.slotDuration = slotDuration
      self.interval = interval
    }
  }

  /// Creates the data of an accessory.
  public init(
    version: ConfigurationVersion = .v11, role: SessionConfiguration.Role, address: UInt16
  ) {
    self.version = version
    self.role = role
    self.address = address
  }

  static func length(in version: ConfigurationVersion) -> Int {
    switch version {
    case .v10: 19
    case .v11: 21
    case .v20: 32
    }
  }

  /// Decodes what a UWB firmware made.
  ///
  /// - Throws: `AccessoryError` with the code `.invalidConfiguration`.
  public init(_ bytes: [UInt8]) throws(AccessoryError) {
    self = try decoded(bytes) { (reader) throws(PayloadError) in
      try Self(from: &reader, length: reader.remaining)
    }
  }

  init(from reader: inout PayloadReader, length: Int) throws(PayloadError) {
    version = try ConfigurationVersion(from: &reader, "UWB configuration version")
    guard length == Self.length(in: version) else {
      throw .invalid(
        field: "UWB configuration length",
        reason: "is \(length), not \(Self.length(in: version)) as in version \(version)")
    }
    manufacturer = try reader.u32("manufacturer")
    model = try reader.u32("model")
    middleware = try reader.u32("middleware version")
    let role = try reader.u8("ranging role")
    guard let known = SessionConfiguration.Role(rawValue: role) else {
      throw .invalid(
        field: "ranging role", reason: "is \(role), not 0 (responder) or 1 (initiator)")
    }
    self.role = known
    address = try reader.u16("accessory address")
    clockDrift = version >= .v11 ? try reader.u16("clock drift") : 0
    if version >= .v20 {
      _ = try reader.u32("reserved")
      request.hopping = try reader.flag("requested hopping mode")
      request.slotsPerRound = try reader.u16("requested slots per round")
      request.slotDuration = try reader.u16("requested slot duration")
      request.interval = try reader.u16("requested ranging interval")
    }
  }

  func encode(into writer: inout PayloadWriter) {
    version.encode(into: &writer)
    writer.u32(manufacturer)
    writer.u32(model)
    writer.u32(middleware)
    writer.u8(role.rawValue)
    writer.u16(address)
    if version >= .v11 { writer.u16(clockDrift) }
    if version >= .v20 {
      writer.u32(0)
      writer.u8(request.hopping ? 1 : 0)
      writer.u16(request.slotsPerRound)
      writer.u16(request.slotDuration)
      writer.u16(request.interval)
    }
  }

  /// The encoded data.
  public var bytes: [UInt8] {
    var writer = PayloadWriter()
    encode(into: &writer)
    return writer.bytes
  }
}
