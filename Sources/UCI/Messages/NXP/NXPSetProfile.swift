// SPDX-License-Identifier: Apache-2.0

/// SET_PROFILE of NXP's group 0xA: the chip makes a session from what a phone sent.
///
/// What a phone sends holds the initialisation vector of the static STS, so it is described as
/// secret. Source: NXP's UWBIoT API Reference Guide, SET_PROFILE.
public struct NXPSetProfile: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = SessionInitResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xA), 0x05)

  /// Apple's profile.
  public static let apple: UInt8 = 0x0B

  /// Whose profile: `apple`.
  public var profile: UInt8
  /// 0 controlee, 1 controller.
  public var deviceType: UInt8
  /// The address of this device.
  public var address: UInt16
  /// Like the parameter DEVICE_ROLE.
  public var role: UInt8
  /// What the phone sent, unchanged.
  public var data: [UInt8]

  /// From its fields.
  public init(profile: UInt8, deviceType: UInt8, address: UInt16, role: UInt8, data: [UInt8]) {
    self.profile = profile
    self.deviceType = deviceType
    self.address = address
    self.role = role
    self.data = data
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    profile = try reader.u8("profile")
    deviceType = try reader.u8("device type")
    address = try reader.u16("address")
    role = try reader.u8("role")
    data = reader.rest()
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(profile)
    writer.u8(deviceType)
    writer.u16(address)
    writer.u8(role)
    writer.bytes(data)
  }
}
