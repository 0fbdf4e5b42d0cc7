// SPDX-License-Identifier: Apache-2.0

/// A group of control messages: the lower four bits of the first octet (GID).
public struct GroupID: RawRepresentable, Hashable, Sendable {
  /// 0…15.
  public let rawValue: UInt8

  /// Keeps the lower four bits of `rawValue`.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue & 15 }

  /// Reset, device information, capabilities, device configuration.
  public static let core = GroupID(rawValue: 0x0)
  /// Sessions: creation, configuration, state.
  public static let sessionConfig = GroupID(rawValue: 0x1)
  /// Sessions: start, stop, ranging results.
  public static let sessionControl = GroupID(rawValue: 0x2)
  /// Data control of early drafts; reserved in practice.
  public static let dataControl = GroupID(rawValue: 0x3)
  /// Android's vendor group since 2022.
  public static let android = GroupID(rawValue: 0xC)
  /// Radio tests.
  public static let test = GroupID(rawValue: 0xD)

  /// Whether what a message of this group means depends on who made the chip.
  public var isVendor: Bool { [0x9, 0xA, 0xB, 0xC, 0xE, 0xF].contains(rawValue) }
}

/// Names a control message: group and opcode identifier (GID and OID).
///
/// Commands, responses and notifications share the space; the message type tells them apart.
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
}

extension Opcode {
  // GID 0, FiRa UCI core group.
  public static let coreDeviceReset = Opcode(.core, 0x00)
  public static let coreDeviceStatus = Opcode(.core, 0x01)
  public static let coreGetDeviceInfo = Opcode(.core, 0x02)
  public static let coreGetCapsInfo = Opcode(.core, 0x03)
  public static let coreSetConfig = Opcode(.core, 0x04)
  public static let coreGetConfig = Opcode(.core, 0x05)
  public static let coreDeviceSuspend = Opcode(.core, 0x06)
  public static let coreGenericError = Opcode(.core, 0x07)
  public static let coreQueryUWBSTimestamp = Opcode(.core, 0x08)

  // GID 1, session configuration group.
  public static let sessionInit = Opcode(.sessionConfig, 0x00)
  public static let sessionDeinit = Opcode(.sessionConfig, 0x01)
  public static let sessionStatus = Opcode(.sessionConfig, 0x02)
  public static let sessionSetAppConfig = Opcode(.sessionConfig, 0x03)
  public static let sessionGetAppConfig = Opcode(.sessionConfig, 0x04)
  public static let sessionGetCount = Opcode(.sessionConfig, 0x05)
  public static let sessionGetState = Opcode(.sessionConfig, 0x06)
  public static let sessionUpdateMulticastList = Opcode(.sessionConfig, 0x07)
  public static let sessionUpdateDTAnchorRounds = Opcode(.sessionConfig, 0x08)
  public static let sessionUpdateDTTagRounds = Opcode(.sessionConfig, 0x09)
  public static let sessionQueryDataSize = Opcode(.sessionConfig, 0x0B)
  public static let sessionSetHUSControllerConfig = Opcode(.sessionConfig, 0x0C)
  public static let sessionSetHUSControleeConfig = Opcode(.sessionConfig, 0x0D)
  public static let sessionDataTransferPhaseConfig = Opcode(.sessionConfig, 0x0E)

  // GID 2, session control group. OID 0 is START as a command and response, INFO as a notification.
  public static let sessionStart = Opcode(.sessionControl, 0x00)
  public static let sessionInfo = Opcode(.sessionControl, 0x00)
  public static let sessionStop = Opcode(.sessionControl, 0x01)
  public static let sessionGetRangingCount = Opcode(.sessionControl, 0x03)
  public static let sessionDataCredit = Opcode(.sessionControl, 0x04)
  public static let sessionDataTransferStatus = Opcode(.sessionControl, 0x05)
  public static let sessionRoleChange = Opcode(.sessionControl, 0x06)
}
