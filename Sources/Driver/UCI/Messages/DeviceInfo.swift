// SPDX-License-Identifier: Apache-2.0

/// A version as two bytes: major, then minor and maintenance in a nibble each.
public struct UCIVersion: FieldGroup, Hashable, Sendable, Comparable, CustomStringConvertible {
  /// Major version, 0…255.
  public var major: UInt8 = 0
  /// Minor version, 0…15.
  public var minor: UInt8 = 0
  /// Maintenance version, 0…15.
  public var maintenance: UInt8 = 0

  package init() {}

  /// Creates a version; `minor` and `maintenance` are 0…15.
  public init(_ major: UInt8, _ minor: UInt8, _ maintenance: UInt8 = 0) {
    self.major = major
    self.minor = minor & 15
    self.maintenance = maintenance & 15
  }

  /// Orders by major, then minor, then maintenance.
  public static func < (a: UCIVersion, b: UCIVersion) -> Bool {
    (a.major, a.minor, a.maintenance) < (b.major, b.minor, b.maintenance)
  }

  /// For example `2.0.0`.
  public var description: String { "\(major).\(minor).\(maintenance)" }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    var rest = minor << 4 | maintenance
    try coder.field("version", &major)
    try coder.field("version", &rest)
    (minor, maintenance) = (rest >> 4, rest & 15)
  }
}

/// The device information of a chip.
public struct DeviceInfo: ResponseBody, Hashable, Sendable {
  /// The version of the UCI generic specification. Dialects depend on it, not on the MAC version.
  public var uciVersion = UCIVersion()
  /// FiRa MAC specification.
  public var macVersion = UCIVersion()
  /// FiRa PHY specification.
  public var phyVersion = UCIVersion()
  /// UCI test specification.
  public var testVersion = UCIVersion()
  /// The vendor's own bytes, at most 255.
  public var vendorInfo: [UInt8] = []

  package init() {}

  package init(
    uciVersion: UCIVersion, macVersion: UCIVersion, phyVersion: UCIVersion,
    testVersion: UCIVersion, vendorInfo: [UInt8]
  ) {
    (self.uciVersion, self.macVersion) = (uciVersion, macVersion)
    (self.phyVersion, self.testVersion) = (phyVersion, testVersion)
    self.vendorInfo = vendorInfo
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.group("uci_version", &uciVersion)
    try coder.group("mac_version", &macVersion)
    try coder.group("phy_version", &phyVersion)
    try coder.group("test_version", &testVersion)
    try coder.bytes("vendor_info", &vendorInfo, .u8)
  }
}
