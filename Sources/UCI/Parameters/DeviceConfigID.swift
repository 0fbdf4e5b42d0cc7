// SPDX-License-Identifier: Apache-2.0

/// Names a parameter of the chip (CORE_SET_CONFIG, CORE_GET_CONFIG).
public struct DeviceConfigID: Hashable, Sendable {
  /// The byte on the wire, or the first of two.
  public let number: UInt8
  /// Second byte of the identifier, for parameters that have two (NXP's 0xE4 and 0xE5).
  public let subID: UInt8?

  /// Creates an identifier from its bytes.
  public init(_ number: UInt8, _ subID: UInt8? = nil) {
    self.number = number
    self.subID = subID
  }

  /// The parameter of a list on the wire.
  public init(_ parameter: TLV) { self.init(parameter.id, parameter.subID) }

  /// DEVICE_STATE, one byte, read only.
  public static let deviceState = DeviceConfigID(0x00)
  /// LOW_POWER_MODE, one byte: 0 off, 1 on (default).
  public static let lowPowerMode = DeviceConfigID(0x01)
}

extension TLV {
  /// A parameter of the chip with its value as it goes on the wire.
  public init(_ id: DeviceConfigID, _ value: [UInt8]) {
    self.init(id.number, value, subID: id.subID)
  }
}
