// SPDX-License-Identifier: Apache-2.0
package import UCI
package import UWB

/// The UWB block of a Configuration: the session that a phone has chosen.
package struct AndroidChoice: Sendable, Hashable {
  /// The phone's short address.
  package var address: UInt16 = 0
  package var sessionID: UInt32 = 1
  /// The number of the configuration in the out-of-band protocol; see `AndroidConfiguration`.
  package var number: UInt8 = 1
  package var channel: UInt8 = 9
  package var preambleCode: UInt8 = 9
  /// The time between ranging rounds in milliseconds.
  package var interval: UInt16 = 120
  /// The duration of a slot in milliseconds.
  package var slot: UInt8 = 2
  /// The key material, never printed: 8 bytes of a static STS, or a session key of 16 or 32.
  package var key = SessionConfiguration.SessionKey([UInt8](repeating: 0, count: 8))
  /// The phone's country: two ASCII characters.
  package var country: [UInt8] = [0x55, 0x53]
  /// The role of the receiver of the message.
  package var role = SessionConfiguration.Role.controller
  /// The mode of the receiver: 1 controller, 2 controlee. Phones send 1 beside either role, so it
  /// has no effect.
  package var mode: UInt8 = 1

  package init() {}
}

extension AndroidChoice: ConfigurationData {
  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    var size = UInt8(truncatingIfNeeded: 19 + key.bytes.count)
    try coder.blockHeader(&size)
    try coder.field("phone's address", &address)
    try coder.field("session id", &sessionID)
    try coder.field("configuration", &number)
    try coder.field("channel", &channel)
    try coder.field("preamble code index", &preambleCode)
    try coder.field("ranging interval", &interval)
    try coder.field("slot duration", &slot)
    try coder.bytes("key", &key.bytes, .u8, .secret)
    let count = key.bytes.count
    try coder.require([8, 16, 32].contains(count), "key", "has \(count) bytes, not 8, 16 or 32")
    try coder.require(Int(size) == 19 + count, "size", "is \(size), not \(19 + count)")
    country = Array((country + [0, 0]).prefix(2))
    try coder.bytes("country", &country, .exactly(2))
    var role: UInt8 = role == .controller ? 1 : 2
    try coder.field("role", &role)
    try coder.require(
      1...2 ~= role, "role", "is \(role), not 1 (initiator) or 2 (responder)")
    self.role = role == 1 ? .controller : .controlee
    try coder.field("mode", &mode)
  }
}
