// SPDX-License-Identifier: Apache-2.0

// Commands of NXP's groups 0xA, 0xE and 0xF. Sources: GET_ERROR_LOG NXPHoverGames/nxp-uwb-ros2
// (Apache-2.0); SE_BIND and SE_BINDING_CHECK AOSP hardware/nxp/uwb (Apache-2.0);
// READ_MODULE_MAKER_ID and SET_PROFILE NXP's UWBIoT API Reference Guide; the parameters of sessions
// nxp-appcodehub/an-sr250-uwb-plug-and-play-demo.

/// NXP's CORE_DEVICE_INIT (GID 0xE, OID 0): an SR1xx or SR2xx accepts no other command before this
/// one.
package struct NXPDeviceInit: UCICommand, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0xE), 0x00)
  package static let isIdempotent = true

  /// Board variant; 0 in every published log.
  package var boardVariant: UInt8 = 0
  /// Version of the board variant; 0 in every published log.
  package var boardVersion: UInt8 = 0

  package init() {}
  package init(boardVariant: UInt8, boardVersion: UInt8) {
    (self.boardVariant, self.boardVersion) = (boardVariant, boardVersion)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("board_variant", &boardVariant)
    try coder.field("board_version", &boardVersion)
  }
}

/// SET_VENDOR_APP_CONFIG of NXP's group 0xF.
package struct NXPSetAppConfig: SetParametersCommand, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0xF), 0x00)
  package static let space = ParameterSpace.nxpApp
  package static let firstKeyByte: Int? = 4
  package var sessionToken: UInt32 = 0
  package var parameters: [TLV] = []
  package init() {}
}

/// GET_VENDOR_APP_CONFIG of NXP's group 0xF.
struct NXPGetAppConfig: GetParametersCommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xF), 0x03)
  static let space = ParameterSpace.nxpApp
  static let firstKeyByteOfResponse: Int? = 1
  var sessionToken: UInt32 = 0
  var ids: [UInt8] = []
}

/// SET_PROFILE of NXP's group 0xA: the chip makes a session from a phone's data.
package struct NXPSetProfile: UCICommand, Hashable {
  package typealias Response = SessionInitResponse
  package static let opcode = Opcode(GroupID(rawValue: 0xA), 0x05)
  package static let firstKeyByte: Int? = 5

  /// Apple's profile.
  package static let apple: UInt8 = 0x0B

  /// The maker of the profile: `apple`.
  package var profile: UInt8 = NXPSetProfile.apple
  package var deviceType: UInt8 = 0
  /// The address of this device.
  package var address: UInt16 = 0
  /// The role of this device, with the numbers of the parameter DEVICE_ROLE.
  package var role: UInt8 = 0
  /// The phone's data, unchanged. It contains the initialisation vector of the static STS.
  package var data: [UInt8] = []

  package init() {}
  package init(profile: UInt8, deviceType: UInt8, address: UInt16, role: UInt8, data: [UInt8]) {
    (self.profile, self.deviceType, self.address) = (profile, deviceType, address)
    (self.role, self.data) = (role, data)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("profile", &profile)
    try coder.field("device_type", &deviceType, .names(["CONTROLEE", "CONTROLLER"]))
    try coder.field("mac", &address, .shortAddress)
    try coder.field("role", &role)
    try coder.bytes("data", &data, .rest, .secret)
  }
}

/// GET_TRNG of NXP's group 0xA: bytes of the chip's random number generator.
struct NXPGetRandom: UCICommand, Hashable {
  typealias Response = NXPRandomResponse
  static let opcode = Opcode(GroupID(rawValue: 0xA), 0x02)
  static let isIdempotent = true
  static let firstKeyByteOfResponse: Int? = 1

  var count: UInt8 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("count", &count)
  }
}

/// GET_TRNG_RSP of NXP's group 0xA.
struct NXPRandomResponse: UCIResponse, Hashable {
  var status = Status.ok
  /// All bytes after the status. They may become a key.
  var random: [UInt8] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.bytes("random", &random, .rest, .secret)
  }
}

/// SE_BINDING_STATUS_NTF of NXP's group 0xE.
struct NXPBindingStatusNotification: UCINotification, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xE), 0x06)
  var binding: UInt8 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field(
      "binding", &binding, .names(["NOT_BOUND", "BOUND_UNLOCKED", "BOUND_LOCKED", "UNKNOWN"]))
  }
}

/// GET_ERROR_LOG of NXP's group 0xE: the errors before the last reset.
struct NXPGetErrorLog: EmptyCommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xE), 0x02)
}

/// SE_BIND of NXP's group 0xF: the chip and its secure element agree on a key.
struct NXPBind: EmptyCommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xF), 0x31)
  // Binding cannot be repeated.
  static let isIdempotent = false
}

/// SE_BINDING_CHECK of NXP's group 0xF: whether the chip and its secure element are bound.
struct NXPCheckBinding: EmptyCommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xF), 0x32)
}

/// READ_MODULE_MAKER_ID of NXP's group 0xA.
struct NXPReadModuleID: EmptyCommand, Hashable {
  typealias Response = NXPModuleIDResponse
  static let opcode = Opcode(GroupID(rawValue: 0xA), 0x04)
}

/// READ_MODULE_MAKER_ID_RSP of NXP's group 0xA.
struct NXPModuleIDResponse: UCIResponse, Hashable {
  var status = Status.ok
  /// The maker of the module; missing in error responses.
  var id: UInt16?

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("module_id", &id)
  }
}
