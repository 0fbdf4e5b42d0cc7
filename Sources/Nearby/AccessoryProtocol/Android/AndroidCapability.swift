// SPDX-License-Identifier: Apache-2.0
package import UCI

/// The UWB block of a Capability Response: the sessions that an accessory can have.
package struct AndroidCapability: Sendable, Hashable {
  /// The ends of a session that an accessory can be.
  package struct Roles: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Initiator and controller.
    package static let initiator = Self(rawValue: 1)
    /// Responder and controlee.
    package static let responder = Self(rawValue: 2)
  }

  /// The accessory's short address.
  package var address: UInt16 = 0
  /// Bit n is channel n.
  package var channels: UInt32 = 1 << 9
  /// Bit n is preamble code n + 1.
  package var preambles: UInt32 = 0x0F00
  /// Bit n is the configuration with the number n.
  package var configurations: UInt32 = 1 << 1
  /// The shortest ranging interval in milliseconds.
  package var interval: UInt16 = 96
  /// The shortest slot in milliseconds.
  package var slot: UInt8 = 2
  package var roles: Roles = [.initiator, .responder]

  package init() {}

  package func hasChannel(_ channel: UInt8) -> Bool { channels >> channel & 1 != 0 }
  package func hasPreamble(_ code: UInt8) -> Bool {
    code > 0 && preambles >> (code - 1) & 1 != 0
  }
  package func hasConfiguration(_ number: UInt8) -> Bool { configurations >> number & 1 != 0 }
}

extension AndroidCapability: ConfigurationData {
  static let size: UInt8 = 20

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    var size = Self.size
    try coder.blockHeader(&size)
    try coder.require(size == Self.size, "size", "is \(size), not \(Self.size)")
    try coder.field("address", &address)
    try coder.field("channels", &channels)
    try coder.field("preamble codes", &preambles)
    try coder.field("configurations", &configurations)
    try coder.field("shortest interval", &interval)
    try coder.field("shortest slot", &slot)
    var bits = roles.rawValue
    try coder.field("roles", &bits)
    roles = Roles(rawValue: bits)
  }
}

extension FieldCoder where Self: ~Escapable {
  /// Codes the header of the block: the number of UWB, and the size.
  @_lifetime(self: copy self)
  mutating func blockHeader(_ size: inout UInt8) throws(PayloadError) {
    var technology: UInt8 = 0
    try field("technology", &technology)
    try require(technology == 0, "technology", "is \(technology), not 0 (UWB)")
    try field("size", &size)
  }
}
