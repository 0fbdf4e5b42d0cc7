// SPDX-License-Identifier: Apache-2.0

public import UCI

extension MessageCatalog {
  /// The name of a message: `CORE_GET_CAPS_INFO_RSP`, `SESSION_INFO_NTF`, `DATA_MESSAGE_SND`.
  ///
  /// Messages without a name are named by their numbers: `VENDOR_0xE_0x00_CMD`,
  /// `GROUP_0x4_0x05_RSP`. Vendors' messages have names only where the dialect says whose they are.
  public static func name(
    type: MessageType, opcode: Opcode, dialect: Dialect = .assumed
  ) -> String {
    let oid = opcode.oid
    let group = "0x\(String(opcode.group.rawValue, radix: 16, uppercase: true))"
    switch type {
    case .data: return dataNames[opcode.group.rawValue] ?? "DATA_\(group)"
    case .command, .response, .notification: break
    default: return "RESERVED_\(type.rawValue)_\(group)_\(hex(oid))"
    }
    let isNotification = type == .notification
    let suffix = isNotification ? "_NTF" : type == .command ? "_CMD" : "_RSP"
    let key = Int(opcode.group.rawValue) << 8 | Int(oid)
    if isNotification, let name = vendorNotificationNames[dialect.vendor]?[key] {
      return name + suffix
    }
    if let name = isNotification ? notificationNames[key] : nil { return name + suffix }
    if let name = names[key] ?? vendorNames[dialect.vendor]?[key] { return name + suffix }
    guard opcode.group.isVendor else { return "GROUP_\(group)_\(hex(oid))" + suffix }
    if let name = androidNames[key] { return name + suffix }
    return "VENDOR_\(group)_\(hex(oid))" + suffix
  }

  // Keys are the group in the high byte and the opcode in the low one.
  private static let names: [Int: String] = [
    0x000: "CORE_DEVICE_RESET", 0x001: "CORE_DEVICE_STATUS", 0x002: "CORE_GET_DEVICE_INFO",
    0x003: "CORE_GET_CAPS_INFO", 0x004: "CORE_SET_CONFIG", 0x005: "CORE_GET_CONFIG",
    0x006: "CORE_DEVICE_SUSPEND", 0x007: "CORE_GENERIC_ERROR",
    0x008: "CORE_QUERY_UWBS_TIMESTAMP",
    0x100: "SESSION_INIT", 0x101: "SESSION_DEINIT", 0x102: "SESSION_STATUS",
    0x103: "SESSION_SET_APP_CONFIG", 0x104: "SESSION_GET_APP_CONFIG", 0x105: "SESSION_GET_COUNT",
    0x106: "SESSION_GET_STATE", 0x107: "SESSION_UPDATE_CONTROLLER_MULTICAST_LIST",
    0x108: "SESSION_UPDATE_DT_ANCHOR_RANGING_ROUNDS",
    0x109: "SESSION_UPDATE_DT_TAG_RANGING_ROUNDS",
    0x10A: "SESSION_SET_INITIATOR_DT_ANCHOR_RR_RDM_LIST",
    0x10B: "SESSION_QUERY_DATA_SIZE_IN_RANGING", 0x10C: "SESSION_SET_HUS_CONTROLLER_CONFIG",
    0x10D: "SESSION_SET_HUS_CONTROLEE_CONFIG",
    0x10E: "SESSION_DATA_TRANSFER_PHASE_CONFIGURATION",
    0x200: "SESSION_START", 0x201: "SESSION_STOP", 0x203: "SESSION_GET_RANGING_COUNT",
    0x204: "SESSION_DATA_CREDIT", 0x205: "SESSION_DATA_TRANSFER_STATUS",
    0x206: "SESSION_ROLE_CHANGE", 0x207: "LOGICAL_LINK_CREATE", 0x208: "LOGICAL_LINK_CLOSE",
    0x209: "LOGICAL_LINK_UWBS_CLOSE", 0x20A: "LOGICAL_LINK_UWBS_CREATE",
    0x20B: "LOGICAL_LINK_GET_PARAM",
    0xD00: "TEST_CONFIG_SET", 0xD01: "TEST_CONFIG_GET", 0xD02: "TEST_PERIODIC_TX",
    0xD03: "TEST_PER_RX", 0xD05: "TEST_RX", 0xD06: "TEST_LOOPBACK", 0xD07: "TEST_STOP_SESSION",
    0xD08: "TEST_SS_TWR", 0xD09: "TEST_SR_RX",
  ]

  // Where the notification is another message than the command.
  private static let notificationNames: [Int: String] = [0x200: "SESSION_INFO"]

  // Notifications of the standard groups that SR04x numbers differently.
  private static let vendorNotificationNames: [Dialect.Vendor: [Int: String]] = [
    .nxp: [0x20B: "SESSION_DATA_CREDIT", 0x20C: "SESSION_DATA_TRANSFER_STATUS"]
  ]

  private static let dataNames: [UInt8: String] = [
    1: "DATA_MESSAGE_SND", 2: "DATA_MESSAGE_RCV", 3: "LL_DATA_MESSAGE_SND",
    4: "LL_DATA_MESSAGE_RCV", 15: "RADAR_DATA_MESSAGE",
  ]

  private static let androidNames: [Int: String] = [
    0xC00: "ANDROID_GET_POWER_STATS", 0xC01: "ANDROID_SET_COUNTRY_CODE",
    0xC02: "ANDROID_FIRA_RANGE_DIAGNOSTICS",
    0xC03: "ANDROID_TIMESTAMP_ANCHOR", 0xC11: "ANDROID_RADAR_SET_APP_CONFIG",
    0xC12: "ANDROID_RADAR_GET_APP_CONFIG",
  ]

  // Sources: Qorvo's from DW3_QM33_SDK 1.1.0 and UWB Qorvo Tools 1.1.1 and 13.1.0; NXP's from
  // AOSP hardware/nxp/uwb and nxp-uwb/sr250-uwbiot-zephyr.
  private static let vendorNames: [Dialect.Vendor: [Int: String]] = [
    .qorvo: [
      0x916: "QORVO_SE_LOOPBACK", 0x917: "QORVO_SE_CLEAR", 0x918: "QORVO_SE_GET_BINDING",
      0x919: "QORVO_SE_DO_BINDING", 0x922: "QORVO_SE_CPLC", 0x923: "QORVO_SE_MANAGE_TEST_RDS",
      0x924: "QORVO_SE_RDS", 0x925: "QORVO_SE_RDS_SECURE", 0x926: "QORVO_SE_ERASE_RDS",
      0x927: "QORVO_SE_START_SECURE_CHANNEL", 0x928: "QORVO_SE_SECURE_CHANNEL_STATUS",
      0x929: "QORVO_SE_STOP_SECURE_CHANNEL",
      0xB00: "QORVO_TEST_DEBUG", 0xB01: "QORVO_TEST_TX_CW", 0xB02: "QORVO_TEST_PLL_LOCK",
      0xB03: "QORVO_FIRA_RANGE_DIAGNOSTICS", 0xB04: "QORVO_TEST_RTC",
      0xB05: "QORVO_DATA_TRANSFER_STATUS", 0xB07: "QORVO_SESSION_GET",
      0xB08: "QORVO_SET_FIRA_ANTENNA_FLEX", 0xB09: "QORVO_GET_FIRA_ANTENNA_FLEX",
      0xB0A: "QORVO_SET_CCC_ANTENNA_FLEX", 0xB0B: "QORVO_GET_CCC_ANTENNA_FLEX",
      0xB22: "QORVO_PSDU_DUMP", 0xB23: "QORVO_MEMORY_STATS", 0xB24: "QORVO_POWER_STATS",
      0xB25: "QORVO_CPU_STATS", 0xB26: "QORVO_RESET_CPU_STATS", 0xB27: "QORVO_DEVICE_STATS",
      0xB29: "QORVO_READ_REGISTER", 0xB30: "QORVO_ERASE_CERTIFICATES", 0xB31: "QORVO_DEVICE_BOOT",
      0xB32: "QORVO_TEST_TOF",
      0xB35: "QORVO_GPIO_TIME_SYNC", 0xB36: "QORVO_QUERY_GPIO_TIMESTAMP",
      0xB3E: "QORVO_SCHEDULING_INFO",
      0xE00: "QORVO_TEST_MODE_START", 0xE01: "QORVO_TEST_MODE_STOP", 0xE02: "QORVO_TEST_TX",
      0xE03: "QORVO_TEST_TX_DONE", 0xE04: "QORVO_TEST_TX_QUEUE", 0xE05: "QORVO_TEST_RX",
      0xE06: "QORVO_TEST_RX_QUEUE", 0xE07: "QORVO_SCAN", 0xE20: "QORVO_SET_SCHEDULER",
      0xE21: "QORVO_GET_SCHEDULER", 0xE22: "QORVO_SET_SCHEDULER_PARAMS",
      0xE23: "QORVO_GET_SCHEDULER_PARAMS", 0xE24: "QORVO_SET_SCHEDULER_REGIONS",
      0xE25: "QORVO_GET_SCHEDULER_REGIONS", 0xE26: "QORVO_CALL_SCHEDULER",
      0xE27: "QORVO_SET_REGION_PARAMS", 0xE28: "QORVO_GET_REGION_PARAMS",
      0xE29: "QORVO_CALL_REGION", 0xE2A: "QORVO_SET_CALIBRATION",
      0xE2B: "QORVO_GET_CALIBRATION", 0xE2C: "QORVO_LIST_CALIBRATION",
      0xE2D: "QORVO_CLOSE_SCHEDULER", 0xE2E: "QORVO_BEGIN_TRANSACTION",
      0xE2F: "QORVO_END_TRANSACTION", 0xE30: "QORVO_SET_IN_TRANSACTION",
      0xE31: "QORVO_RESET_TO_DEFAULT", 0xE32: "QORVO_LOCK_DEFAULTS",
      0xE33: "QORVO_RESET_VALUE_IN_TRANSACTION", 0xE3F: "QORVO_TEST_MODE",
      0xF00: "QORVO_RESET_CALIBRATION",
    ],
    .nxp: [
      0x120: "NXP_GET_POSSIBLE_RAN_MULTIPLIER", 0x220: "NXP_RANGE_CCC_DATA",
      0x221: "NXP_RANGE_RESUME", 0x90A: "NXP_RADAR", 0xA00: "NXP_WRITE_OTP_CALIBRATION",
      0xA01: "NXP_READ_OTP_CALIBRATION",
      0xA02: "NXP_GET_TRNG", 0xA03: "NXP_WRITE_MODULE_ID", 0xA04: "NXP_READ_MODULE_ID",
      0xA05: "NXP_SET_PROFILE", 0xA12: "NXP_LOCALISATION_ZONE",
      0xB03: "NXP_RANGING_TIMESTAMP", 0xB04: "NXP_COMMAND_TIMESTAMP", 0xB22: "NXP_RFRAME_LOG",
      0xB24: "NXP_CIR_PULL", 0xB33: "NXP_DPD_INFO",
      0xE00: "NXP_CORE_DEVICE_INIT", 0xE01: "NXP_DATA_LOGGER", 0xE02: "NXP_ERROR_LOG",
      0xE03: "NXP_SE_BINDING_COUNT", 0xE04: "NXP_SE_TEST_LOOP", 0xE05: "NXP_SE_COMM_ERROR",
      0xE06: "NXP_SE_BINDING_STATUS", 0xE07: "NXP_SCHEDULER_STATUS", 0xE08: "NXP_KDF",
      0xE09: "NXP_WIFI_COEX", 0xE0A: "NXP_WIFI_COEX",
      0xE0B: "NXP_QUERY_TEMPERATURE", 0xE0E: "NXP_GENERATE_TAG", 0xE0F: "NXP_VERIFY_CALIBRATION",
      0xE10: "NXP_CONFIGURE_AUTH_TAG_OPTIONS", 0xE11: "NXP_CONFIGURE_AUTH_TAG_VERSION",
      0xE12: "NXP_CALIBRATION_INTEGRITY_PROTECTION", 0xE13: "NXP_WIFI_COEX",
      0xE18: "NXP_GENERIC_DEBUG", 0xE19: "NXP_HW_SECURITY_ERROR", 0xE1A: "NXP_GPIO",
      0xE1B: "NXP_GPIO", 0xE1C: "NXP_NOISE_POWER", 0xE1E: "NXP_SESSION_ID_LIST",
      0xE2B: "NXP_SET_RDS",
      0xF00: "NXP_SET_VENDOR_APP_CONFIG", 0xF01: "NXP_URSK_DELETE",
      0xF02: "NXP_GET_ALL_SESSIONS", 0xF03: "NXP_GET_VENDOR_APP_CONFIG",
      0xF20: "NXP_DO_CALIBRATION", 0xF21: "NXP_SET_CALIBRATION", 0xF22: "NXP_GET_CALIBRATION",
      0xF23: "NXP_SECURE_CALIBRATION", 0xF30: "NXP_SE_CONNECTIVITY", 0xF31: "NXP_SE_BIND",
      0xF32: "NXP_SE_BINDING_CHECK", 0xF33: "NXP_PSDU_LOG", 0xF34: "NXP_CIR_LOG",
      0xF39: "NXP_WLAN", 0xF3A: "NXP_WLAN",
      0xF3B: "NXP_WLAN",
    ],
  ]
}

extension Message {
  /// The name of the message, for example `SESSION_INFO_NTF`.
  public func name(dialect: Dialect = .assumed) -> String {
    MessageCatalog.name(type: type, opcode: opcode, dialect: dialect)
  }
}
