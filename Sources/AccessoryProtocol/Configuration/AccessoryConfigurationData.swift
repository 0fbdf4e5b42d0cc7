// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// What an accessory says of itself before a session: Accessory Configuration Data.
///
/// Layout: version (two numbers of two bytes), update rate, ten reserved bytes, length and
/// bytes of the UWB part. Sources: published captures of a DWM3001CDK, AOSP's ranging test
/// application.
public struct AccessoryConfigurationData: Sendable, Hashable {
  /// How often an accessory wants to be ranged with. The other side decides.
  public struct UpdateRate: RawRepresentable, Sendable, Hashable {
    /// The byte on the wire. Others than the named ones mean the same as `automatic`.
    public let rawValue: UInt8
    /// Any byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The other side chooses.
    public static let automatic = UpdateRate(rawValue: 0)
    /// About 1.3 times a second.
    public static let infrequent = UpdateRate(rawValue: 10)
    /// About 5.5 times a second.
    public static let userInteractive = UpdateRate(rawValue: 20)
  }

  /// First number of the version of this data, which is not that of the UWB part.
  public static let majorVersion: UInt16 = 1
  /// Second number; later ones keep the layout.
  public var minorVersion: UInt16 = 0
  /// How often the accessory wants to be ranged with.
  public var preferredUpdateRate: UpdateRate
  /// The UWB part.
  public var uwb: UWBConfigurationData

  /// From its fields.
  public init(preferredUpdateRate: UpdateRate = .automatic, uwb: UWBConfigurationData) {
    self.preferredUpdateRate = preferredUpdateRate
    self.uwb = uwb
  }

  /// Reads what an accessory sent, without the identifier of the message.
  ///
  /// - Throws: `AccessoryProtocolError.invalidConfiguration`, which names the field.
  public init(_ bytes: [UInt8]) throws(AccessoryProtocolError) {
    self = try decoded(bytes) { (reader) throws(PayloadError) in try Self(from: &reader) }
  }

  init(from reader: inout PayloadReader) throws(PayloadError) {
    let major = try reader.u16("major version")
    guard major == Self.majorVersion else {
      throw .invalid(field: "major version", reason: "is \(major), not 1")
    }
    minorVersion = try reader.u16("minor version")
    preferredUpdateRate = UpdateRate(rawValue: try reader.u8("preferred update rate"))
    _ = try reader.bytes(10, "reserved")
    let length = try reader.u8("UWB configuration length")
    guard reader.remaining >= Int(length) else {
      throw .tooShort(
        field: "UWB configuration", needed: Int(length), available: reader.remaining)
    }
    uwb = try UWBConfigurationData(from: &reader, length: Int(length))
  }

  /// The bytes as they are sent.
  public var bytes: [UInt8] {
    var writer = PayloadWriter()
    writer.u16(Self.majorVersion)
    writer.u16(minorVersion)
    writer.u8(preferredUpdateRate.rawValue)
    writer.bytes([UInt8](repeating: 0, count: 10))
    writer.u8(UInt8(UWBConfigurationData.length(in: uwb.version)))
    uwb.encode(into: &writer)
    return writer.bytes
  }
}
