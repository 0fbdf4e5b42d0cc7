// SPDX-License-Identifier: Apache-2.0

/// A group of control messages: the lower four bits of the first byte (GID).
public struct GroupID: RawRepresentable, Hashable, Sendable {
  /// 0…15.
  public let rawValue: UInt8

  /// Keeps the lower four bits of `rawValue`.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue & 15 }

  /// Reset, device information, capabilities, device configuration.
  @inlinable package static var core: Self { Self(rawValue: 0x0) }
  /// Sessions: creation, configuration, state.
  @inlinable package static var sessionConfig: Self { Self(rawValue: 0x1) }
  /// Sessions: start, stop, ranging results.
  @inlinable package static var sessionControl: Self { Self(rawValue: 0x2) }
  /// Android's vendor group since 2022.
  @inlinable package static var android: Self { Self(rawValue: 0xC) }
  @inlinable package static var test: Self { Self(rawValue: 0xD) }

  /// Whether the meaning of a message of this group depends on the vendor of the chip.
  package var isVendor: Bool { [0x9, 0xA, 0xB, 0xC, 0xE, 0xF].contains(rawValue) }
}

/// Names a control message: group and opcode identifier (GID and OID).
///
/// Commands, responses and notifications share the numbers; the message type distinguishes them.
public struct Opcode: Hashable, Sendable {
  /// The group.
  public let group: GroupID
  /// 0…63.
  public let oid: UInt8

  /// Keeps the lower six bits of `oid`.
  @inlinable public init(_ group: GroupID, _ oid: UInt8) {
    self.group = group
    self.oid = oid & 0x3F
  }

  package static let coreDeviceReset = Opcode(.core, 0x00)
  package static let coreDeviceStatus = Opcode(.core, 0x01)
  package static let coreGetDeviceInfo = Opcode(.core, 0x02)
  package static let coreGetCapsInfo = Opcode(.core, 0x03)
  package static let coreSetConfig = Opcode(.core, 0x04)
  package static let coreGetConfig = Opcode(.core, 0x05)
  package static let coreGenericError = Opcode(.core, 0x07)
  package static let coreQueryUWBSTimestamp = Opcode(.core, 0x08)

  package static let sessionInit = Opcode(.sessionConfig, 0x00)
  package static let sessionDeinit = Opcode(.sessionConfig, 0x01)
  package static let sessionStatus = Opcode(.sessionConfig, 0x02)
  package static let sessionSetAppConfig = Opcode(.sessionConfig, 0x03)
  package static let sessionGetAppConfig = Opcode(.sessionConfig, 0x04)
  package static let sessionGetCount = Opcode(.sessionConfig, 0x05)
  package static let sessionGetState = Opcode(.sessionConfig, 0x06)
  package static let sessionUpdateMulticastList = Opcode(.sessionConfig, 0x07)
  package static let sessionQueryDataSize = Opcode(.sessionConfig, 0x0B)

  // A number can have another meaning as a notification.
  package static let sessionStart = Opcode(.sessionControl, 0x00)
  @inlinable package static var sessionInfo: Self { Self(.sessionControl, 0x00) }
  package static let sessionStop = Opcode(.sessionControl, 0x01)
  package static let sessionGetRangingCount = Opcode(.sessionControl, 0x03)
  package static let sessionDataCredit = Opcode(.sessionControl, 0x04)
  package static let sessionDataTransferStatus = Opcode(.sessionControl, 0x05)
}
