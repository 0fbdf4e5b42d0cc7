// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// An accessory's description of itself: Accessory Configuration Data.
///
/// Layout: version (two numbers of two bytes), update rate, ten reserved bytes, length and
/// bytes of the UWB part. Sources: published captures of a DWM3001CDK, AOSP's ranging test
/// application.
public struct AccessoryConfigurationData: Sendable, Hashable {
  /// How often an accessory asks to be ranged with. The app's side decides.
  public struct UpdateRate: RawRepresentable, Sendable, Hashable {
    /// The byte on the wire. Others than the named ones mean the same as `automatic`.
    public let rawValue: UInt8
    /// Creates an update rate from its byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The app's side chooses.
    public static let automatic = UpdateRate(rawValue: 0)
    /// About 1.3 times a second.
    public static let infrequent = UpdateRate(rawValue: 10)
    /// About 5.5 times a second.
    public static let userInteractive = UpdateRate(rawValue: 20)
  }

  static let majorVersion: UInt16 = 1
  /// The minor version of this data, which is not that of the UWB part. Later ones keep the layout.
  package var minorVersion: UInt16 = 0
  package var preferredUpdateRate: UpdateRate
  /// The UWB part.
  public var uwb: UWBConfigurationData

  /// Creates configuration data with the UWB part of a firmware.
  public init(preferredUpdateRate: UpdateRate = .automatic, uwb: UWBConfigurationData) {
    self.preferredUpdateRate = preferredUpdateRate
    self.uwb = uwb
  }

  /// Decodes what an accessory sent, without the message identifier.
  ///
  /// - Throws: `AccessoryError` with the code `.invalidConfiguration`, which names the field.
  public init(_ bytes: [UInt8]) throws(AccessoryError) {
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

  /// The encoded data.
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
