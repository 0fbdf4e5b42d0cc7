// SPDX-License-Identifier: Apache-2.0
package import UCI
package import UWB

/// The part of the accessory configuration data that the accessory's UWB firmware provides. All
/// numbers are little-endian.
///
/// Sources: AOSP's ranging test application for the layout of all versions; published captures of
/// a DWM3001CDK for 1.0 and 1.1.
public struct UWBConfigurationData: Sendable, Hashable {
  /// The version, which determines the fields.
  package var version = ConfigurationVersion.v11
  /// The manufacturer's number; 0x0003F53F is Qorvo.
  package var manufacturer: UInt32 = 0
  /// The number that the manufacturer assigned to the chip; 3000 is the DW3000.
  package var model: UInt32 = 0
  /// The version of the UWB firmware, in the manufacturer's format.
  package var middleware: UInt32 = 0
  /// The accessory's role: an initiator is the controller, a responder the controlee.
  package var role = SessionConfiguration.Role.controller
  /// The accessory's short address, random for each session.
  package var address: UInt16 = 0
  /// The greatest clock error in parts per million. Not in version 1.0.
  package var clockDrift: UInt16 = 100
  /// The session that the accessory requests. Only in version 2.0.
  package var request = Request()

  /// The session that an accessory requests, from version 2.0. The app's side decides.
  public struct Request: Sendable, Hashable {
    /// Whether rounds hop within a block.
    public var hopping: Bool
    /// The number of slots in a ranging round: at least 6 for one-to-one double-sided ranging with
    /// deferred results.
    public var slotsPerRound: UInt16
    /// The duration of a slot in RSTU: a multiple of 1200 (a millisecond), at least 2400.
    public var slotDuration: UInt16
    /// The time between ranging rounds in milliseconds.
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

  package init() {}

  package init(
    version: ConfigurationVersion = .v11, role: SessionConfiguration.Role, address: UInt16
  ) {
    self.version = version
    self.role = role
    self.address = address
  }
}

extension UWBConfigurationData: ConfigurationData {
  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.version("UWB configuration version", &version)
    try coder.field("manufacturer", &manufacturer)
    try coder.field("model", &model)
    try coder.field("middleware version", &middleware)
    var role = role.deviceRole
    try coder.field("ranging role", &role)
    try coder.require(
      role <= 1, "ranging role", "is \(role), not 0 (responder) or 1 (initiator)")
    self.role = role == 1 ? .controller : .controlee
    try coder.field("accessory address", &address)
    if version >= .v11 { try coder.field("clock drift", &clockDrift) } else { clockDrift = 0 }
    if version >= .v20 {
      try coder.reserved(4)
      try coder.flag("requested hopping mode", &request.hopping)
      try coder.field("requested slots per round", &request.slotsPerRound)
      try coder.field("requested slot duration", &request.slotDuration)
      try coder.field("requested ranging interval", &request.interval)
    }
  }
}

extension ConfigurationVersion {
  /// The length of the UWB part in bytes.
  var length: Int {
    switch self {
    case .v10: 19
    case .v11: 21
    case .v20: 32
    }
  }
}
