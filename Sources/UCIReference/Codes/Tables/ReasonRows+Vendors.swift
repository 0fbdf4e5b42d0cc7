// SPDX-License-Identifier: Apache-2.0

import UCI

// Reasons of vendors. Sources: AOSP's FiraParams; DW3_QM33_SDK 1.1.0 and UWB Qorvo Tools;
// nxp-uwb/sr250-uwbiot-zephyr.
extension StateChangeReason {
  static let vendors: [CodeExplanation] = [
    CodeExplanation(
      0x4B, "KEY_ROTATION_WITH_INVALID_STS_CONFIG",
      "Key rotation is on with an STS configuration that has no keys to rotate.",
      toTry: ["Set KEY_ROTATION to 0."], vendors: [.nxp]),
    CodeExplanation(
      0x80, "INVALID_CHANNEL_WITH_AOA", "Angles of arrival cannot be measured on this channel.",
      causes: ["antennas and calibration made for another channel"],
      toTry: ["Use channel 9, or set AOA_RESULT_REQ to 0."], vendors: [.qorvo, .android]),
    CodeExplanation(
      0x80, "NO_RANGING_DATA_SET", "The secure element has no ranging data set for this session.",
      toTry: ["Use a static or provisioned STS."], vendors: [.nxp]),
    CodeExplanation(
      0x81, "STOPPED_DUE_TO_OTHER_SESSION_CONFLICT",
      "A session of higher priority needed the radio.",
      toTry: ["End the other session, or raise SESSION_PRIORITY."], vendors: [.qorvo, .android]),
    CodeExplanation(
      0x81, "KEY_FETCH_ERROR", "A key could not be fetched from the secure element.",
      toTry: ["Use a static or provisioned STS."], vendors: [.nxp]),
    CodeExplanation(
      0x82, "REGULATION_UWB_OFF", "UWB is not allowed in the country that is set.",
      toTry: ["Set the code of the country the device is in."], vendors: [.qorvo, .android]),
    CodeExplanation(
      0x82, "DYNAMIC_STS_NOT_SUPPORTED", "This chip has no dynamic STS.",
      toTry: ["Use a static or provisioned STS."], vendors: [.nxp]),
    CodeExplanation(
      0xA2, "STS_INDEX_REACHED_MAXIMUM", "The STS index has been used up.",
      toTry: ["Start a new session with a new key."], vendors: [.android]),
    CodeExplanation(
      0xF2, "MAX_STS_REACHED", "The STS index has been used up.",
      toTry: ["Start a new session with a new key."], vendors: [.qorvo]),
    CodeExplanation(
      0xF3, "RADAR_TIME_REACHED", "The radar session has run for the time asked for.",
      vendors: [.qorvo]),
    CodeExplanation(
      0xF4, "INVALID_DEVICE_ROLE", "The device role does not fit the session.",
      toTry: ["Use initiator for the controller, responder for the controlee."],
      vendors: [.qorvo]),
    CodeExplanation(
      0xF5, "NO_MEMORY", "The firmware has no memory left.",
      toTry: ["Reset the chip; use fewer sessions, controlees or diagnostics."],
      vendors: [.qorvo]),
    CodeExplanation(
      0xF7, "DRIVER_DOWN", "The firmware's driver of the radio is not running.",
      toTry: ["Reset the board."], vendors: [.qorvo]),
    CodeExplanation(
      0xF8, "INVALID_PROXIMITY_RANGE", "The proximity range is not usable.",
      causes: ["NEAR_PROXIMITY beyond FAR_PROXIMITY"], toTry: ["Make NEAR_PROXIMITY the smaller."],
      vendors: [.qorvo]),
    CodeExplanation(
      0xF9, "INVALID_FRAME_INTERVAL", "The inter-frame interval is not usable.",
      toTry: ["Lengthen INTER_FRAME_INTERVAL."], vendors: [.qorvo]),
    CodeExplanation(
      0xFA, "INVALID_CAP_SIZE_RANGE", "The contention access period is not usable.",
      causes: ["CAP_SIZE_RANGE beyond SLOTS_PER_RR"],
      toTry: ["Make its maximum less than SLOTS_PER_RR, its minimum 5 or more."],
      vendors: [.qorvo]),
    CodeExplanation(
      0xFB, "INVALID_SCHEDULE_MODE", "The schedule mode does not fit the ranging round usage.",
      toTry: ["Use time scheduled (1) for two-way ranging."], vendors: [.qorvo]),
    CodeExplanation(
      0xFC, "INVALID_PRF_MODE", "The PRF mode is not usable.", toTry: ["Use BPRF (0)."],
      vendors: [.qorvo]),
    CodeExplanation(
      0xFE, "START_CONFIG_ERROR", "The firmware could not set up the radio for this session.",
      toTry: ["Start from the preset qorvo-kit, then change one parameter at a time."],
      vendors: [.qorvo]),
    CodeExplanation(
      0xFF, "RDS_BUSY", "The secure element is busy.", toTry: ["Try again."], vendors: [.qorvo]),
  ]
}
