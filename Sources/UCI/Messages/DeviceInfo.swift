// SPDX-License-Identifier: Apache-2.0

/// A version as two bytes: major, then minor and maintenance in a nibble each.
public struct UCIVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// Major version, 0…255.
  public var major: UInt8
  /// Minor version, 0…15.
  public var minor: UInt8
  /// Maintenance version, 0…15.
  public var maintenance: UInt8

  /// 2.0.0 and so on; `minor` and `maintenance` 0…15.
  public init(_ major: UInt8, _ minor: UInt8, _ maintenance: UInt8 = 0) {
    self.major = major
    self.minor = minor & 15
    self.maintenance = maintenance & 15
  }

  init(from reader: inout PayloadReader, _ field: String) throws(PayloadError) {
    let major = try reader.u8(field)
    let rest = try reader.u8(field)
    self.init(major, rest >> 4, rest & 15)
  }

  func encode(into writer: inout PayloadWriter) {
    writer.u8(major)
    writer.u8(minor << 4 | maintenance)
  }

  /// Major first, then minor, then maintenance.
  public static func < (a: UCIVersion, b: UCIVersion) -> Bool {
    (a.major, a.minor, a.maintenance) < (b.major, b.minor, b.maintenance)
  }

  /// For example `2.0.0`.
  public var description: String { "\(major).\(minor).\(maintenance)" }
}

/// What a chip says about itself.
public struct DeviceInfo: Hashable, Sendable {
  /// UCI generic specification. Not the MAC version: dialects follow this one.
  public var uciVersion: UCIVersion
  /// FiRa MAC specification.
  public var macVersion: UCIVersion
  /// FiRa PHY specification.
  public var phyVersion: UCIVersion
  /// UCI test specification.
  public var testVersion: UCIVersion
  /// The vendor's own bytes, at most 255.
  public var vendorInfo: [UInt8]

  /// From its fields.
  public init(
    uciVersion: UCIVersion, macVersion: UCIVersion, phyVersion: UCIVersion,
    testVersion: UCIVersion, vendorInfo: [UInt8]
  ) {
    self.uciVersion = uciVersion
    self.macVersion = macVersion
    self.phyVersion = phyVersion
    self.testVersion = testVersion
    self.vendorInfo = vendorInfo
  }
}

/// CORE_GET_DEVICE_INFO_RSP.
public struct DeviceInfoResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// Missing in error responses.
  public var info: DeviceInfo?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, info: DeviceInfo?) {
    self.status = status
    self.info = info
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    guard status == .ok || reader.remaining >= 9 else { return }
    let uci = try UCIVersion(from: &reader, "UCI version")
    let mac = try UCIVersion(from: &reader, "MAC version")
    let phy = try UCIVersion(from: &reader, "PHY version")
    let test = try UCIVersion(from: &reader, "test version")
    let length = try reader.u8("vendor info length")
    info = DeviceInfo(
      uciVersion: uci, macVersion: mac, phyVersion: phy, testVersion: test,
      vendorInfo: try reader.bytes(Int(length), "vendor info"))
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let info else { return }
    for version in [info.uciVersion, info.macVersion, info.phyVersion, info.testVersion] {
      version.encode(into: &writer)
    }
    writer.u8(UInt8(info.vendorInfo.count))
    writer.bytes(info.vendorInfo)
  }
}
