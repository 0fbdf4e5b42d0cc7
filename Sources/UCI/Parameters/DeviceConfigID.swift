// SPDX-License-Identifier: Apache-2.0

/// Names a parameter of the chip (CORE_SET_CONFIG, CORE_GET_CONFIG).
public struct DeviceConfigID: Hashable, Sendable {
  /// The byte on the wire, or the first of two.
  public let number: UInt8
  /// Second byte of the identifier, for parameters that have two (NXP's 0xE4 and 0xE5).
  public let subID: UInt8?

  /// Any bytes.
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

/// A parameter of the chip (CORE_SET_CONFIG, CORE_GET_CONFIG).
public typealias DeviceConfigParameter = Parameter<DeviceConfigID>

extension DeviceConfigParameter {
  /// Every row that is known. An identifier that vendors use for different things has several;
  /// `DeviceConfigID.parameter(in:)` chooses one.
  public static var all: [DeviceConfigParameter] { DeviceConfigTable.rows }
}

extension DeviceConfigID {
  /// What is known of the parameter as a chip of this dialect means it; nil where nothing is.
  public func parameter(in dialect: Dialect) -> DeviceConfigParameter? {
    DeviceConfigParameter.best(of: DeviceConfigTable.index[self], in: dialect)
  }

  /// The name of the parameter; `DEVICE_CONFIG_0xNN` where there is none.
  public func name(in dialect: Dialect) -> String {
    parameter(in: dialect)?.name
      ?? (["DEVICE_CONFIG", hex(number)] + (subID.map { [hex($0)] } ?? [])).joined(separator: "_")
  }
}

extension TLV {
  /// A parameter of the chip with its value as it goes on the wire.
  public init(_ id: DeviceConfigID, _ value: [UInt8]) {
    self.init(id.number, value, subID: id.subID)
  }
}
