// SPDX-License-Identifier: Apache-2.0

import UCI

// Reasons of vendors. Sources: AOSP's FiraParams; DW3_QM33_SDK 1.1.0 and UWB Qorvo Tools;
// nxp-uwb/sr250-uwbiot-zephyr.
extension StateChangeReason {
  static let vendors: [CodeExplanation] = [
    .init(
      0x4B, "KEY_ROTATION_WITH_INVALID_STS_CONFIG",
      "Key rotation is on with an STS configuration that has no keys to rotate.",
      try: ["Set KEY_ROTATION to 0."], vendors: [.nxp]),
    .init(
      0x80, "INVALID_CHANNEL_WITH_AOA", "Angles of arrival cannot be measured on this channel.",
      causes: ["antennas and calibration made for another channel"],
      try: ["Use channel 9, or set AOA_RESULT_REQ to 0."], vendors: [.qorvo, .android]),
    .init(
      0x80, "NO_RANGING_DATA_SET", "The secure element has no ranging data set for this session.",
      try: ["Use a static or provisioned STS."], vendors: [.nxp]),
    .init(
      0x81, "STOPPED_DUE_TO_OTHER_SESSION_CONFLICT",
      "A session of higher priority needed the radio.",
      try: ["End the other session, or raise SESSION_PRIORITY."], vendors: [.qorvo, .android]),
    .init(
      0x81, "KEY_FETCH_ERROR", "A key could not be fetched from the secure element.",
      try: ["Use a static or provisioned STS."], vendors: [.nxp]),
    .init(
      0x82, "REGULATION_UWB_OFF", "UWB is not allowed in the country that is set.",
      try: ["Set the code of the country the device is in."], vendors: [.qorvo, .android]),
    .init(
      0x82, "DYNAMIC_STS_NOT_SUPPORTED", "This chip has no dynamic STS.",
      try: ["Use a static or provisioned STS."], vendors: [.nxp]),
    .init(
      0xA2, "STS_INDEX_REACHED_MAXIMUM", "The STS index has been used up.",
      try: ["Start a new session with a new key."], vendors: [.android]),
    .init(
      0xF2, "MAX_STS_REACHED", "The STS index has been used up.",
      try: ["Start a new session with a new key."], vendors: [.qorvo]),
    .init(
      0xF3, "RADAR_TIME_REACHED", "The radar session has run for the time asked for.",
      vendors: [.qorvo]),
    .init(
      0xF4, "INVALID_DEVICE_ROLE", "The device role does not fit the session.",
      try: ["Use initiator for the controller, responder for the controlee."], vendors: [.qorvo]),
    .init(
      0xF5, "NO_MEMORY", "The firmware has no memory left.",
      try: ["Reset the chip; use fewer sessions, controlees or diagnostics."], vendors: [.qorvo]),
    .init(
      0xF7, "DRIVER_DOWN", "The firmware's driver of the radio is not running.",
      try: ["Reset the board."], vendors: [.qorvo]),
    .init(
      0xF8, "INVALID_PROXIMITY_RANGE", "The proximity range is not usable.",
      causes: ["NEAR_PROXIMITY beyond FAR_PROXIMITY"], try: ["Make NEAR_PROXIMITY the smaller."],
      vendors: [.qorvo]),
    .init(
      0xF9, "INVALID_FRAME_INTERVAL", "The inter-frame interval is not usable.",
      try: ["Lengthen INTER_FRAME_INTERVAL."], vendors: [.qorvo]),
    .init(
      0xFA, "INVALID_CAP_SIZE_RANGE", "The contention access period is not usable.",
      causes: ["CAP_SIZE_RANGE beyond SLOTS_PER_RR"],
      try: ["Make its maximum less than SLOTS_PER_RR, its minimum 5 or more."], vendors: [.qorvo]),
    .init(
      0xFB, "INVALID_SCHEDULE_MODE", "The schedule mode does not fit the ranging round usage.",
      try: ["Use time scheduled (1) for two-way ranging."], vendors: [.qorvo]),
    .init(
      0xFC, "INVALID_PRF_MODE", "The PRF mode is not usable.", try: ["Use BPRF (0)."],
      vendors: [.qorvo]),
    .init(
      0xFE, "START_CONFIG_ERROR", "The firmware could not set up the radio for this session.",
      try: ["Start from the preset qorvo-kit, then change one parameter at a time."],
      vendors: [.qorvo]),
    .init(0xFF, "RDS_BUSY", "The secure element is busy.", try: ["Try again."], vendors: [.qorvo]),
  ]
}
