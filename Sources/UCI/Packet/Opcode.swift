// SPDX-License-Identifier: Apache-2.0

/// A group of control messages: the lower four bits of the first byte (GID).
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
  /// CORE_DEVICE_RESET.
  public static let coreDeviceReset = Opcode(.core, 0x00)
  /// CORE_DEVICE_STATUS, notification only.
  public static let coreDeviceStatus = Opcode(.core, 0x01)
  /// CORE_GET_DEVICE_INFO.
  public static let coreGetDeviceInfo = Opcode(.core, 0x02)
  /// CORE_GET_CAPS_INFO.
  public static let coreGetCapsInfo = Opcode(.core, 0x03)
  /// CORE_SET_CONFIG.
  public static let coreSetConfig = Opcode(.core, 0x04)
  /// CORE_GET_CONFIG.
  public static let coreGetConfig = Opcode(.core, 0x05)
  /// CORE_DEVICE_SUSPEND; reserved since FiRa 2.0.
  public static let coreDeviceSuspend = Opcode(.core, 0x06)
  /// CORE_GENERIC_ERROR, notification only.
  public static let coreGenericError = Opcode(.core, 0x07)
  /// CORE_QUERY_UWBS_TIMESTAMP, since FiRa 2.0.
  public static let coreQueryUWBSTimestamp = Opcode(.core, 0x08)

  // GID 1, session configuration group.
  /// SESSION_INIT.
  public static let sessionInit = Opcode(.sessionConfig, 0x00)
  /// SESSION_DEINIT.
  public static let sessionDeinit = Opcode(.sessionConfig, 0x01)
  /// SESSION_STATUS, notification only.
  public static let sessionStatus = Opcode(.sessionConfig, 0x02)
  /// SESSION_SET_APP_CONFIG.
  public static let sessionSetAppConfig = Opcode(.sessionConfig, 0x03)
  /// SESSION_GET_APP_CONFIG.
  public static let sessionGetAppConfig = Opcode(.sessionConfig, 0x04)
  /// SESSION_GET_COUNT.
  public static let sessionGetCount = Opcode(.sessionConfig, 0x05)
  /// SESSION_GET_STATE.
  public static let sessionGetState = Opcode(.sessionConfig, 0x06)
  /// SESSION_UPDATE_CONTROLLER_MULTICAST_LIST.
  public static let sessionUpdateMulticastList = Opcode(.sessionConfig, 0x07)
  /// SESSION_UPDATE_DT_ANCHOR_RANGING_ROUNDS, since FiRa 2.0.
  public static let sessionUpdateDTAnchorRounds = Opcode(.sessionConfig, 0x08)
  /// SESSION_UPDATE_DT_TAG_RANGING_ROUNDS, since FiRa 2.0.
  public static let sessionUpdateDTTagRounds = Opcode(.sessionConfig, 0x09)
  /// SESSION_QUERY_DATA_SIZE_IN_RANGING, since FiRa 2.0.
  public static let sessionQueryDataSize = Opcode(.sessionConfig, 0x0B)
  /// SESSION_SET_HUS_CONTROLLER_CONFIG, since FiRa 2.0.
  public static let sessionSetHUSControllerConfig = Opcode(.sessionConfig, 0x0C)
  /// SESSION_SET_HUS_CONTROLEE_CONFIG, since FiRa 2.0.
  public static let sessionSetHUSControleeConfig = Opcode(.sessionConfig, 0x0D)
  /// SESSION_DATA_TRANSFER_PHASE_CONFIGURATION, since FiRa 2.0.
  public static let sessionDataTransferPhaseConfig = Opcode(.sessionConfig, 0x0E)

  // GID 2, session control group. OID 0 is START as a command and response, INFO as a notification.
  /// SESSION_START as command and response.
  public static let sessionStart = Opcode(.sessionControl, 0x00)
  /// SESSION_INFO as notification.
  public static let sessionInfo = Opcode(.sessionControl, 0x00)
  /// SESSION_STOP.
  public static let sessionStop = Opcode(.sessionControl, 0x01)
  /// SESSION_GET_RANGING_COUNT.
  public static let sessionGetRangingCount = Opcode(.sessionControl, 0x03)
  /// SESSION_DATA_CREDIT, notification only.
  public static let sessionDataCredit = Opcode(.sessionControl, 0x04)
  /// SESSION_DATA_TRANSFER_STATUS, notification only.
  public static let sessionDataTransferStatus = Opcode(.sessionControl, 0x05)
  /// SESSION_ROLE_CHANGE, notification only, FiRa 3.0.
  public static let sessionRoleChange = Opcode(.sessionControl, 0x06)
}
