// SPDX-License-Identifier: Apache-2.0

public import UCI

/// The capabilities of a chip, from CORE_GET_CAPS_INFO_RSP. Unreported capabilities are nil.
///
/// Some chips report more than they can do, so take this as a hint.
public struct Capabilities: Hashable, Sendable {
  /// All reported capabilities, in the order of the response.
  package let parameters: [TLV]
  /// The numbering that the chip used.
  package let numbering: CapabilityID.Numbering

  /// Roles a device can take, as bits.
  public struct Roles: OptionSet, Hashable, Sendable {
    /// One bit for each role, numbered like the parameter DEVICE_ROLE.
    public let rawValue: UInt16
    /// Creates a set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    /// Responder of two-way ranging.
    public static let responder = Roles(rawValue: 1 << 0)
    /// Initiator of two-way ranging.
    public static let initiator = Roles(rawValue: 1 << 1)
    /// UL-TDoA anchor that provides the time.
    public static let utSyncAnchor = Roles(rawValue: 1 << 2)
    /// UL-TDoA anchor.
    public static let utAnchor = Roles(rawValue: 1 << 3)
    /// UL-TDoA tag.
    public static let utTag = Roles(rawValue: 1 << 4)
    /// A sender of frames whose angle observers measure.
    public static let advertiser = Roles(rawValue: 1 << 5)
    /// Measures the angle of advertisers.
    public static let observer = Roles(rawValue: 1 << 6)
    /// DL-TDoA anchor.
    public static let dtAnchor = Roles(rawValue: 1 << 7)
    /// DL-TDoA tag.
    public static let dtTag = Roles(rawValue: 1 << 8)
  }

  /// Types a device can be, as bits.
  public struct DeviceTypes: OptionSet, Hashable, Sendable {
    /// The byte on the wire; NXP uses further bits.
    public let rawValue: UInt8
    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Determines the parameters of a session.
    public static let controller = DeviceTypes(rawValue: 1 << 0)
    /// Follows a controller.
    public static let controlee = DeviceTypes(rawValue: 1 << 1)
  }

  /// Ways to make the scrambled timestamp sequence, as bits numbered like STS_CONFIG.
  public struct STSModes: OptionSet, Hashable, Sendable {
    /// The byte on the wire.
    public let rawValue: UInt8
    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The sequence is made from values that both ends know, without a key: distances can be
    /// forged.
    public static let `static` = STSModes(rawValue: 1 << 0)
    /// The sequence is made from a session key that a secure element provides.
    public static let dynamic = STSModes(rawValue: 1 << 1)
    /// The sequence is made as for `dynamic`, with a key for each controlee.
    public static let dynamicWithControleeKey = STSModes(rawValue: 1 << 2)
    /// The sequence is made from a session key that the host sends.
    public static let provisioned = STSModes(rawValue: 1 << 3)
    /// The sequence is made as for `provisioned`, with a key for each controlee.
    public static let provisionedWithControleeKey = STSModes(rawValue: 1 << 4)
  }

  /// Angles a chip can measure, as bits.
  public struct Angles: OptionSet, Hashable, Sendable {
    /// The byte on the wire.
    public let rawValue: UInt8
    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Azimuth from -90 to 90 degrees.
    public static let azimuth90 = Angles(rawValue: 1 << 0)
    /// Azimuth from -180 to 180 degrees.
    public static let azimuth180 = Angles(rawValue: 1 << 1)
    /// Elevation from -90 to 90 degrees.
    public static let elevation = Angles(rawValue: 1 << 2)
    /// A figure of merit beside each angle.
    public static let figureOfMerit = Angles(rawValue: 1 << 3)
  }

  /// Reads the parameters of a response.
  ///
  /// The number 0x02 distinguishes the numberings. It is the roles in one or two bytes in FiRa 1.x,
  /// and a range of versions in four bytes since 2.0.
  public init(_ parameters: [TLV]) {
    self.parameters = parameters
    let second = parameters.first { $0.id == 0x02 }
    numbering = second.map { $0.value.count == 4 } ?? true ? .fira2 : .fira1
  }

  package subscript(capability: CapabilityID) -> [UInt8]? {
    capability.number(in: numbering).flatMap { self[number: $0] }
  }

  /// Returns the bytes of a capability by its number on the wire, for vendors' capabilities.
  package subscript(number number: UInt8) -> [UInt8]? {
    parameters.first { $0.id == number }?.value
  }

  private func integer(_ capability: CapabilityID) -> UInt64? {
    self[capability].flatMap { TLV(0, $0).integer }
  }

  /// The length of the longest control message in bytes.
  public var maxMessageSize: Int? { integer(.maxMessageSize).map { Int(clamping: $0) } }
  /// The payload of the longest data packet in bytes.
  public var maxDataPayloadSize: Int? {
    integer(.maxDataPacketPayloadSize).map { Int(clamping: $0) }
  }
  /// The types that the device can be; not in FiRa 1.x.
  public var deviceTypes: DeviceTypes? {
    integer(.deviceType).map { DeviceTypes(rawValue: UInt8(truncatingIfNeeded: $0)) }
  }
  /// The roles that the device can have.
  public var roles: Roles? {
    integer(.deviceRoles).map { Roles(rawValue: UInt16(truncatingIfNeeded: $0)) }
  }
  /// The STS modes that the device supports.
  public var stsModes: STSModes? {
    integer(.stsConfig).map { STSModes(rawValue: UInt8(truncatingIfNeeded: $0)) }
  }
  /// The angles that the device measures; empty for none.
  public var angles: Angles? {
    integer(.aoaSupport).map { Angles(rawValue: UInt8(truncatingIfNeeded: $0)) }
  }
  /// Whether addresses may have eight bytes.
  public var supportsExtendedAddresses: Bool? { integer(.extendedMACAddress).map { $0 & 1 != 0 } }
  /// Whether rounds can hop within a block.
  public var supportsHopping: Bool? { integer(.hoppingMode).map { $0 & 1 != 0 } }
  /// The channels by the number of their bit.
  static let channelNumbers = [5, 6, 8, 9, 10, 12, 13, 14]
  /// The numbers of the supported channels, ascending.
  public var channels: [Int]? {
    integer(.channels).map { mask in
      Self.channelNumbers.enumerated().filter { mask >> $0.offset & 1 != 0 }.map(\.element)
    }
  }
  /// The number of simultaneous FiRa sessions, where an Android HAL reports it (0xE9).
  public var maxSessions: Int? {
    integer("MAX_SESSIONS").map { Int(clamping: $0) }
  }
  /// The shortest ranging interval in milliseconds, where an Android HAL reports it (0xE4).
  package var minRangingIntervalMilliseconds: Int? {
    integer("MIN_RANGING_INTERVAL").map { Int(clamping: $0) }
  }

  /// Returns the value of a capability as text: `5, 9`, `2.0.0-2.0.0`, `259 bytes`. Returns bytes
  /// for unknown capabilities and unknown forms.
  package func words(for capability: TLV, dialect: Dialect = .assumed) -> String {
    row(of: capability, dialect)?.words(for: capability.value)
      ?? capability.value.map { String(hex($0).dropFirst(2)) }.joined(separator: " ")
  }

  /// Returns the capability of an entry of the list; nil if it is unknown.
  package func id(of capability: TLV) -> CapabilityID? {
    CapabilityID(number: capability.id, subID: capability.subID, in: numbering)
  }

  func row(of capability: TLV, _ dialect: Dialect) -> CapabilityParameter? {
    id(of: capability)?.parameter(in: dialect, length: capability.value.count)
  }

  /// Returns versions, channels and lists as text, everything else as a number or bytes.
  func fieldValue(of capability: TLV, _ dialect: Dialect) -> FieldValue {
    if id(of: capability) == .channels, let channels { return .list(channels.map { .number($0) }) }
    return row(of: capability, dialect)?.fieldValue(of: capability.value) ?? capability.plainValue
  }
}
