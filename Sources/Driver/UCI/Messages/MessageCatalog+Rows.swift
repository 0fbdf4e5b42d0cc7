// SPDX-License-Identifier: Apache-2.0

// Each message with a layout is a row; only the names of the others are known. Keys of names are
// the group in the high byte and the opcode in the low one.
//
// Sources: FiRa UCI as published in AOSP (packages/modules/Uwb, uci_packets.pdl); Qorvo's from
// DW3_QM33_SDK 1.1.0 and UWB Qorvo Tools 1.1.1 and 13.1.0; NXP's from AOSP hardware/nxp/uwb and
// nxp-uwb/sr250-uwbiot-zephyr.
extension MessageCatalog {
  static let standard = Table(
    [
      .command("CORE_DEVICE_RESET", DeviceReset.self),
      .command("CORE_GET_DEVICE_INFO", GetDeviceInfo.self),
      .command("CORE_GET_CAPS_INFO", GetCapabilities.self),
      .command("CORE_SET_CONFIG", SetConfig.self),
      .command("CORE_GET_CONFIG", GetConfig.self),
      .command("CORE_QUERY_UWBS_TIMESTAMP", QueryTimestamp.self),
      .command("SESSION_INIT", SessionInit.self),
      .command("SESSION_DEINIT", SessionDeinit.self),
      .command("SESSION_SET_APP_CONFIG", SetAppConfig.self),
      .command("SESSION_GET_APP_CONFIG", GetAppConfig.self),
      .command("SESSION_GET_COUNT", GetSessionCount.self),
      .command("SESSION_GET_STATE", GetSessionState.self),
      .command("SESSION_UPDATE_CONTROLLER_MULTICAST_LIST", UpdateMulticastList.self),
      .command("SESSION_UPDATE_DT_ANCHOR_RANGING_ROUNDS", UpdateDTAnchorRounds.self),
      .command("SESSION_UPDATE_DT_TAG_RANGING_ROUNDS", UpdateDTTagRounds.self),
      .command("SESSION_QUERY_DATA_SIZE_IN_RANGING", QueryDataSize.self),
      .command("SESSION_SET_HUS_CONTROLLER_CONFIG", SetHUSControllerConfig.self),
      .command("SESSION_SET_HUS_CONTROLEE_CONFIG", SetHUSControleeConfig.self),
      .command("SESSION_DATA_TRANSFER_PHASE_CONFIGURATION", ConfigureDataTransferPhase.self),
      .command("SESSION_START", SessionStart.self),
      .command("SESSION_STOP", SessionStop.self),
      .command("SESSION_GET_RANGING_COUNT", GetRangingCount.self),
      .command("LOGICAL_LINK_CREATE", LogicalLinkCreate.self),
      .command("LOGICAL_LINK_CLOSE", LogicalLinkClose.self),
      .command("LOGICAL_LINK_GET_PARAM", LogicalLinkGetParam.self),
      .command("TEST_CONFIG_SET", TestConfigSet.self),
      .command("TEST_CONFIG_GET", TestConfigGet.self),
      .command("TEST_PERIODIC_TX", TestPeriodicTX.self),
      .command("TEST_PER_RX", TestPERRX.self),
      .command("TEST_RX", TestRX.self),
      .command("TEST_LOOPBACK", TestLoopback.self),
      .command("TEST_STOP_SESSION", TestStopSession.self),
      .command("TEST_SS_TWR", TestSSTWR.self),
      .command("TEST_SR_RX", TestSRRX.self),
      .notification("CORE_DEVICE_STATUS", DeviceStatusNotification.self),
      .notification("CORE_GENERIC_ERROR", GenericErrorNotification.self),
      .notification("SESSION_STATUS", SessionStatusNotification.self),
      .notification("SESSION_UPDATE_CONTROLLER_MULTICAST_LIST", MulticastListNotification.self),
      .notification("SESSION_INFO", SessionInfo.self),
      .notification("SESSION_DATA_CREDIT", DataCreditNotification.self),
      .notification("SESSION_DATA_TRANSFER_STATUS", DataTransferStatusNotification.self),
      .notification("SESSION_ROLE_CHANGE", RoleChangeNotification.self),
      .notification("LOGICAL_LINK_CREATE", LogicalLinkCreateNotification.self),
      .notification("LOGICAL_LINK_UWBS_CLOSE", LogicalLinkUWBSCloseNotification.self),
      .notification("LOGICAL_LINK_UWBS_CREATE", LogicalLinkUWBSCreateNotification.self),
      .notification(
        "SESSION_DATA_TRANSFER_PHASE_CONFIGURATION", DataTransferPhaseNotification.self),
      .notification("TEST_PERIODIC_TX", TestPeriodicTXNotification.self),
      .notification("TEST_PER_RX", TestPERRXNotification.self),
      .notification("TEST_RX", TestRXNotification.self),
      .notification("TEST_LOOPBACK", TestLoopbackNotification.self),
      .notification("TEST_SS_TWR", TestSSTWRNotification.self),
      .notification("TEST_SR_RX", TestSRRXNotification.self),
      .data("DATA_MESSAGE_SND", DataMessageSend.self),
      .data("DATA_MESSAGE_RCV", DataMessageReceived.self),
      .data("LL_DATA_MESSAGE_SND", LogicalLinkDataSend.self),
      .data("RADAR_DATA_MESSAGE", RadarDataMessage.self),
      .data("LL_DATA_MESSAGE_RCV", LogicalLinkDataReceived.self),
    ],
    names: [0x006: "CORE_DEVICE_SUSPEND", 0x10A: "SESSION_SET_INITIATOR_DT_ANCHOR_RR_RDM_LIST"])

  static let android = Table(
    [
      .command("ANDROID_GET_POWER_STATS", AndroidGetPowerStats.self),
      .command("ANDROID_SET_COUNTRY_CODE", AndroidSetCountryCode.self),
      .command("ANDROID_RADAR_SET_APP_CONFIG", AndroidRadarSetAppConfig.self),
      .command("ANDROID_RADAR_GET_APP_CONFIG", AndroidRadarGetAppConfig.self),
      .notification("ANDROID_FIRA_RANGE_DIAGNOSTICS", RangeDiagnosticsNotification.self),
    ],
    names: [0xC03: "ANDROID_TIMESTAMP_ANCHOR"])

  static let nxp = Table(
    [
      .command("NXP_CORE_DEVICE_INIT", NXPDeviceInit.self),
      .command("NXP_SET_CALIBRATION", NXPSetCalibration.self),
      .command("NXP_GET_CALIBRATION", NXPGetCalibration.self),
      .command("NXP_GET_TRNG", NXPGetRandom.self),
      .command("NXP_READ_OTP_CALIBRATION", NXPReadOTPCalibration.self),
      .command("NXP_READ_MODULE_ID", NXPReadModuleID.self),
      .command("NXP_SET_PROFILE", NXPSetProfile.self),
      .command("NXP_ERROR_LOG", NXPGetErrorLog.self),
      .command("NXP_SET_VENDOR_APP_CONFIG", NXPSetAppConfig.self),
      .command("NXP_GET_VENDOR_APP_CONFIG", NXPGetAppConfig.self),
      .command("NXP_URSK_DELETE", NXPDeleteURSK.self),
      .command("NXP_GET_ALL_SESSIONS", NXPGetAllSessions.self),
      .command("NXP_SE_BIND", NXPBind.self),
      .command("NXP_SE_BINDING_CHECK", NXPCheckBinding.self),
      .command("NXP_RANGE_RESUME", NXPRangeResume.self),
      .notification("NXP_SE_BINDING_STATUS", NXPBindingStatusNotification.self),
      .notification("NXP_RADAR", NXPRadarNotification.self),
      .notification("NXP_READ_OTP_CALIBRATION", NXPReadOTPCalibrationNotification.self),
      .notification("NXP_RFRAME_LOG", NXPRFrameLogNotification.self),
      .notification("NXP_SCHEDULER_STATUS", NXPSchedulerStatusNotification.self),
      .notification("NXP_URSK_DELETE", NXPDeleteURSKNotification.self),
      .notification("NXP_CIR_LOG", NXPCIRLogNotification.self),
      // SR04x has other opcodes for these two. Source: nxp-uwb/sr250-uwbiot-zephyr (uci_defs.h).
      .notification(
        "SESSION_DATA_CREDIT", DataCreditNotification.self, Opcode(.sessionControl, 0x0B)),
      .notification(
        "SESSION_DATA_TRANSFER_STATUS", DataTransferStatusNotification.self,
        Opcode(.sessionControl, 0x0C)),
    ],
    names: [
      0x120: "NXP_GET_POSSIBLE_RAN_MULTIPLIER", 0x220: "NXP_RANGE_CCC_DATA",
      0xA00: "NXP_WRITE_OTP_CALIBRATION", 0xA03: "NXP_WRITE_MODULE_ID",
      0xA12: "NXP_LOCALISATION_ZONE", 0xB03: "NXP_RANGING_TIMESTAMP",
      0xB04: "NXP_COMMAND_TIMESTAMP", 0xB24: "NXP_CIR_PULL", 0xB33: "NXP_DPD_INFO",
      0xE01: "NXP_DATA_LOGGER", 0xE03: "NXP_SE_BINDING_COUNT", 0xE04: "NXP_SE_TEST_LOOP",
      0xE05: "NXP_SE_COMM_ERROR", 0xE08: "NXP_KDF", 0xE09: "NXP_WIFI_COEX", 0xE0A: "NXP_WIFI_COEX",
      0xE0B: "NXP_QUERY_TEMPERATURE", 0xE0E: "NXP_GENERATE_TAG", 0xE0F: "NXP_VERIFY_CALIBRATION",
      0xE10: "NXP_CONFIGURE_AUTH_TAG_OPTIONS", 0xE11: "NXP_CONFIGURE_AUTH_TAG_VERSION",
      0xE12: "NXP_CALIBRATION_INTEGRITY_PROTECTION", 0xE13: "NXP_WIFI_COEX",
      0xE18: "NXP_GENERIC_DEBUG", 0xE19: "NXP_HW_SECURITY_ERROR", 0xE1A: "NXP_GPIO",
      0xE1B: "NXP_GPIO", 0xE1C: "NXP_NOISE_POWER", 0xE1E: "NXP_SESSION_ID_LIST",
      // NCJ29D5. Source: published hosts for Ranger4 (R4UciCmd.h); 0x26 also in
      // forthink-xyz/python-uwbzero.
      0xE20: "NXP_TEST_START", 0xE21: "NXP_TEST_STOP", 0xE25: "NXP_TEST_LOOPBACK",
      0xE26: "NXP_SET_TRIM_VALUE", 0xE28: "NXP_GET_TRIM_VALUES",
      0xE2B: "NXP_SET_RDS", 0xF20: "NXP_DO_CALIBRATION", 0xF23: "NXP_SECURE_CALIBRATION",
      0xF30: "NXP_SE_CONNECTIVITY", 0xF33: "NXP_PSDU_LOG", 0xF39: "NXP_WLAN", 0xF3A: "NXP_WLAN",
      0xF3B: "NXP_WLAN",
    ])

  static let qorvo = Table(
    [
      .command("QORVO_SET_CALIBRATION", QorvoSetCalibration.self),
      .command("QORVO_GET_CALIBRATION", QorvoGetCalibration.self),
      .command("QORVO_RESET_CALIBRATION", QorvoResetCalibration.self),
      .command("QORVO_BEGIN_TRANSACTION", QorvoBeginTransaction.self),
      .command("QORVO_END_TRANSACTION", QorvoEndTransaction.self),
      .command("QORVO_TEST_TX_CW", QorvoTestTXCW.self),
      .command("QORVO_TEST_PLL_LOCK", QorvoTestPLLLock.self),
      .command("QORVO_SESSION_GET", QorvoGetSessions.self),
      .command("QORVO_MEMORY_STATS", QorvoGetMemoryStats.self),
      .command("QORVO_POWER_STATS", QorvoGetPowerStats.self),
      .command("QORVO_RESET_CPU_STATS", QorvoResetCPUStats.self),
      .command("QORVO_DEVICE_STATS", QorvoGetDeviceStats.self),
      .notification("QORVO_DEVICE_BOOT", QorvoBootNotification.self),
      .notification("QORVO_TEST_DEBUG", QorvoTestDebugNotification.self),
      .notification("QORVO_TEST_PLL_LOCK", QorvoTestPLLLockNotification.self),
      .notification("QORVO_TEST_RTC", QorvoTestRTCNotification.self),
      .notification("QORVO_PSDU_DUMP", QorvoPSDUDumpNotification.self),
      .notification(
        "QORVO_FIRA_RANGE_DIAGNOSTICS", RangeDiagnosticsNotification.self,
        RangeDiagnosticsNotification.qorvoOpcode),
      // The number of SESSION_DATA_TRANSFER_STATUS_NTF in older firmware.
      .notification(
        "QORVO_DATA_TRANSFER_STATUS", DataTransferStatusNotification.self,
        Opcode(GroupID(rawValue: 0xB), 0x05)),
    ],
    names: [
      0x916: "QORVO_SE_LOOPBACK", 0x917: "QORVO_SE_CLEAR", 0x918: "QORVO_SE_GET_BINDING",
      0x919: "QORVO_SE_DO_BINDING", 0x922: "QORVO_SE_CPLC", 0x923: "QORVO_SE_MANAGE_TEST_RDS",
      0x924: "QORVO_SE_RDS", 0x925: "QORVO_SE_RDS_SECURE", 0x926: "QORVO_SE_ERASE_RDS",
      0x927: "QORVO_SE_START_SECURE_CHANNEL", 0x928: "QORVO_SE_SECURE_CHANNEL_STATUS",
      0x929: "QORVO_SE_STOP_SECURE_CHANNEL", 0xB08: "QORVO_SET_FIRA_ANTENNA_FLEX",
      0xB09: "QORVO_GET_FIRA_ANTENNA_FLEX", 0xB0A: "QORVO_SET_CCC_ANTENNA_FLEX",
      0xB0B: "QORVO_GET_CCC_ANTENNA_FLEX", 0xB25: "QORVO_CPU_STATS", 0xB29: "QORVO_READ_REGISTER",
      0xB30: "QORVO_ERASE_CERTIFICATES", 0xB32: "QORVO_TEST_TOF", 0xB35: "QORVO_GPIO_TIME_SYNC",
      0xB36: "QORVO_QUERY_GPIO_TIMESTAMP", 0xB3E: "QORVO_SCHEDULING_INFO",
      0xE00: "QORVO_TEST_MODE_START", 0xE01: "QORVO_TEST_MODE_STOP", 0xE02: "QORVO_TEST_TX",
      0xE03: "QORVO_TEST_TX_DONE", 0xE04: "QORVO_TEST_TX_QUEUE", 0xE05: "QORVO_TEST_RX",
      0xE06: "QORVO_TEST_RX_QUEUE", 0xE07: "QORVO_SCAN", 0xE20: "QORVO_SET_SCHEDULER",
      0xE21: "QORVO_GET_SCHEDULER", 0xE22: "QORVO_SET_SCHEDULER_PARAMS",
      0xE23: "QORVO_GET_SCHEDULER_PARAMS", 0xE24: "QORVO_SET_SCHEDULER_REGIONS",
      0xE25: "QORVO_GET_SCHEDULER_REGIONS", 0xE26: "QORVO_CALL_SCHEDULER",
      0xE27: "QORVO_SET_REGION_PARAMS", 0xE28: "QORVO_GET_REGION_PARAMS",
      0xE29: "QORVO_CALL_REGION", 0xE2C: "QORVO_LIST_CALIBRATION", 0xE2D: "QORVO_CLOSE_SCHEDULER",
      0xE30: "QORVO_SET_IN_TRANSACTION", 0xE31: "QORVO_RESET_TO_DEFAULT",
      0xE32: "QORVO_LOCK_DEFAULTS", 0xE33: "QORVO_RESET_VALUE_IN_TRANSACTION",
      0xE3F: "QORVO_TEST_MODE",
    ])
}
