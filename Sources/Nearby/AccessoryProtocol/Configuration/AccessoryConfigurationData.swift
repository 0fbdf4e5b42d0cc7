// SPDX-License-Identifier: Apache-2.0
package import UCI

/// Accessory Configuration Data, an accessory's description of itself.
///
/// Layout: version (two numbers of two bytes), update rate, ten reserved bytes, length and
/// bytes of the UWB part. Sources: published captures of a DWM3001CDK, AOSP's ranging test
/// application.
public struct AccessoryConfigurationData: Sendable, Hashable {
  /// The update rate that an accessory requests. The app's side decides.
  public struct UpdateRate: Sendable, Hashable {
    /// The byte on the wire. Values without a name mean the same as `automatic`.
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The app's side chooses.
    public static let automatic = UpdateRate(rawValue: 0)
    /// About 1.3 updates a second.
    public static let infrequent = UpdateRate(rawValue: 10)
    /// About 5.5 updates a second.
    public static let userInteractive = UpdateRate(rawValue: 20)
  }

  /// The minor version of this data, independent of the UWB part. Later versions keep the layout.
  package var minorVersion: UInt16 = 0
  package var preferredUpdateRate = UpdateRate.automatic
  package var uwb: UWBConfigurationData
}

extension AccessoryConfigurationData: ConfigurationData {
  package init() { uwb = UWBConfigurationData() }

  package init(preferredUpdateRate: UpdateRate = .automatic, uwb: UWBConfigurationData) {
    self.preferredUpdateRate = preferredUpdateRate
    self.uwb = uwb
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    var major: UInt16 = 1
    try coder.field("major version", &major)
    try coder.require(major == 1, "major version", "is \(major), not 1")
    try coder.field("minor version", &minorVersion)
    try coder.field("preferred update rate", &preferredUpdateRate.rawValue)
    try coder.reserved(10)
    var part = uwb.bytes
    try coder.bytes("UWB configuration", &part, .u8)
    guard coder.isReading else { return }
    // Zeros follow, so that a wrong length and damaged bytes give different errors.
    uwb = try UWBConfigurationData(decoding: part + [UInt8](repeating: 0, count: 32))
    try coder.require(
      part.count == uwb.version.length, "UWB configuration length",
      "is \(part.count), not \(uwb.version.length) as in version \(uwb.version)")
  }
}
