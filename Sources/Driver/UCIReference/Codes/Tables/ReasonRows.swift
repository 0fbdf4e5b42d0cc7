// SPDX-License-Identifier: Apache-2.0

import UCI

// The reasons of a session's change of state. Source of names and numbers: FiRa UCI session state
// change reasons as published in AOSP's packet definitions and FiraParams, and in Qorvo's tools.
extension StateChangeReason {
  static let general: [CodeExplanation] = [
    .init(0x00, "MANAGEMENT_COMMAND", "A session command changed the state."),
    .init(
      0x01, "MAX_RANGING_ROUND_RETRY_COUNT_REACHED", "Too many ranging rounds in a row failed.",
      causes: ["a peer that was never there, or went away"],
      try: [
        "Look at the status of the failed rounds.", "Raise MAX_RR_RETRY, or set it to 0 for never.",
      ]),
    .init(
      0x02, "MAX_NUMBER_OF_MEASUREMENTS_REACHED",
      "The number of measurements asked for was reached.",
      try: ["Set MAX_NUMBER_OF_MEASUREMENTS to 0 for no end."]),
    .init(0x03, "SUSPENDED_BY_INBAND_SIGNAL", "The controller suspended the session."),
    .init(0x04, "RESUMED_BY_INBAND_SIGNAL", "The controller resumed the session."),
    .init(
      0x05, "STOPPED_BY_INBAND_SIGNAL",
      "The controller ended the session or removed this device from it.",
      try: ["Start again when the controller does."]),
    .init(
      0x2A, "SESSION_KEY_NOT_FOUND", "The session key is missing.",
      causes: [
        "a dynamic or provisioned STS without SESSION_KEY",
        "no secure element that could give the key",
      ], try: ["Set SESSION_KEY and STS_CONFIG=provisioned, or use a static STS."]),
    .init(
      0x2B, "SUB_SESSION_KEY_NOT_FOUND", "The sub-session key is missing.",
      causes: ["an STS with keys of their own for controlees, without SUB_SESSION_KEY"],
      try: ["Set SUB_SESSION_ID and SUB_SESSION_KEY, or use one key for all controlees."]),
    .init(
      0x3B, "RDS_FETCH_FAILURE",
      "The ranging data set could not be fetched from the secure element.",
      causes: ["a dynamic STS on a board without a secure element"],
      try: ["Use a static or provisioned STS."]),
    .init(
      0x3C, "REF_UWB_SESSION_DOES_NOT_EXIST", "The reference session does not exist.",
      try: ["Name the handle of a session on this chip in SESSION_TIME_BASE."]),
    .init(
      0x3D, "REF_UWB_SESSION_RANGING_DURATION_MISMATCH",
      "The reference session has another ranging interval.",
      try: ["Give both sessions the same RANGING_DURATION, or a multiple."]),
    .init(
      0x3E, "REF_UWB_SESSION_INVALID_OFFSET_TIME",
      "The offset to the reference session is not usable.",
      try: ["Choose an offset within the interval of the reference session."]),
    .init(
      0x3F, "REF_UWB_SESSION_LOST", "The reference session was lost.",
      causes: ["the reference session was stopped"],
      try: ["Set the bit of SESSION_TIME_BASE that lets this session continue without it."]),
    .init(
      0x40, "DT_ANCHOR_RANGING_ROUNDS_NOT_CONFIGURED",
      "The ranging rounds of the DT-anchor are not configured.",
      try: ["Send SESSION_UPDATE_DT_ANCHOR_RANGING_ROUNDS before starting."]),
    .init(
      0x41, "DT_TAG_RANGING_ROUNDS_NOT_CONFIGURED",
      "The ranging rounds of the DT-tag are not configured.",
      try: ["Send SESSION_UPDATE_DT_TAG_RANGING_ROUNDS before starting."]),
    .init(
      0x42, "UWB_INITIATION_TIME_EXPIRED", "The start time had passed.",
      causes: ["a start time too close to the command"],
      try: ["Start a few hundred milliseconds later, or set UWB_INITIATION_TIME to 0."]),
  ]

  // Parameters that the chip found unusable when the session was started. Source: as for the other
  // reasons; the rules as published in AOSP's FiraParams.
  static let configuration: [CodeExplanation] = [
    .init(
      0x1D, "INVALID_UL_TDOA_RANDOM_WINDOW", "The UL-TDoA random window is not usable.",
      causes: ["UL_TDOA_RANDOM_WINDOW longer than UL_TDOA_TX_INTERVAL"],
      try: ["Shorten the window, or lengthen the interval."]),
    .init(
      0x1E, "MIN_RFRAMES_PER_RR_NOT_SUPPORTED",
      "The number of frames per ranging round is not supported.", try: ["Lower MIN_FRAMES_PER_RR."]),
    .init(
      0x1F, "INTER_FRAME_INTERVAL_NOT_SUPPORTED", "The inter-frame interval is not supported.",
      try: ["Lengthen INTER_FRAME_INTERVAL."]),
    .init(
      0x20, "SLOT_LENGTH_NOT_SUPPORTED", "The slot duration is not supported.",
      causes: ["slots shorter than the frames and the chip need"],
      try: ["Use 2400 RSTU (2 ms), which every chip takes; 1200 is the least for many."]),
    .init(
      0x21, "INSUFFICIENT_SLOTS_PER_RR",
      "There are too few slots in a ranging round for this many devices.",
      try: [
        "Raise SLOTS_PER_RR: deferred double-sided ranging with one controlee takes 6, each "
          + "further controlee at least one more."
      ]),
    .init(
      0x22, "MAC_ADDRESS_MODE_NOT_SUPPORTED", "The address mode is not supported.",
      try: ["Use short addresses (MAC_ADDRESS_MODE 0)."]),
    .init(
      0x23, "INVALID_RANGING_DURATION",
      "The ranging interval is not usable, usually too short for its slots.",
      try: ["Lengthen RANGING_DURATION, or use shorter slots or fewer of them."]),
    .init(
      0x24, "INVALID_STS_CONFIG", "The STS configuration is not usable.",
      causes: [
        "a static STS without VENDOR_ID and STATIC_STS_IV", "a mode that this chip does not have",
        "key rotation with keys of their own for controlees",
      ], try: ["Compare STS_CONFIG with the chip's capabilities."]),
    .init(
      0x25, "INVALID_RFRAME_CONFIG", "The RFRAME configuration is not usable.",
      causes: ["SP0 for ranging with an STS", "a value that this chip does not have"],
      try: ["Use SP3, the default, or SP1."]),
    .init(
      0x26, "HUS_NOT_ENOUGH_SLOTS", "The hybrid schedule has too few slots.",
      try: ["Raise SLOTS_PER_RR, or shorten the phases."]),
    .init(
      0x27, "HUS_CFP_TOO_SHORT", "The contention-free phase is too short.",
      try: ["Give this phase more slots."]),
    .init(
      0x28, "HUS_CAP_TOO_SHORT", "The contention-access phase is too short.",
      try: ["Give this phase more slots; see CAP_SIZE_RANGE."]),
    .init(
      0x29, "HUS_OTHERS", "The hybrid schedule is not usable.",
      try: ["Configure the phases of the schedule before starting."]),
    .init(
      0x2C, "INVALID_PREAMBLE_CODE_INDEX", "The preamble code does not fit the PRF mode.",
      try: ["Use 9…12 with BPRF, 25…32 with HPRF."]),
    .init(
      0x2D, "INVALID_SFD_ID", "The SFD id does not fit the PRF mode.",
      try: ["Use 0 or 2 with BPRF, 1…4 with HPRF."]),
    .init(
      0x2E, "INVALID_PSDU_DATA_RATE", "The PSDU data rate is not usable.",
      try: ["Use 6.81 Mbit/s (0) with BPRF."]),
    .init(
      0x2F, "INVALID_PHR_DATA_RATE", "The PHR data rate is not usable.",
      try: ["Leave BPRF_PHR_DATA_RATE out, or use 850 kbit/s (0)."]),
    .init(
      0x30, "INVALID_PREAMBLE_DURATION", "The preamble duration is not usable.",
      try: ["Use 64 symbols (1); 32 symbols exist with HPRF only."]),
    .init(
      0x31, "INVALID_STS_LENGTH", "The STS length is not usable.", try: ["Use 64 symbols (1)."]),
    .init(
      0x32, "INVALID_NUM_OF_STS_SEGMENTS",
      "The number of STS segments does not fit the RFRAME configuration.",
      try: ["Use 1 with SP1 and SP3, 0 with SP0, up to 4 with HPRF."]),
    .init(
      0x33, "INVALID_NUM_OF_CONTROLEES",
      "The number of controlees is not usable, or the list became empty.",
      try: ["Make NUMBER_OF_CONTROLEES the number of addresses in DST_MAC_ADDRESS."]),
    .init(
      0x34, "MAX_RANGING_REPLY_TIME_EXCEEDED", "A reply came too late.",
      try: ["Use fewer controlees or shorter slots."]),
    .init(
      0x35, "INVALID_DST_ADDRESS_LIST",
      "The destination addresses do not fit the number of controlees.",
      causes: ["DST_MAC_ADDRESS missing, or of another length than the address mode requires"],
      try: ["Make NUMBER_OF_CONTROLEES the number of addresses in DST_MAC_ADDRESS."]),
    .init(
      0x36, "INVALID_OR_NOT_FOUND_SUB_SESSION_ID", "The sub-session id is missing or wrong.",
      try: ["Set SUB_SESSION_ID at the controlee, the same as in the controller's list."]),
    .init(
      0x37, "INVALID_RESULT_REPORT_CONFIG", "The result report configuration is not usable.",
      causes: ["angles asked for that this chip does not measure"],
      try: ["Set RESULT_REPORT_CONFIG to 1."]),
    .init(
      0x38, "INVALID_RANGING_ROUND_CONTROL_CONFIG", "The ranging round control is not usable.",
      try: ["Leave RANGING_ROUND_CONTROL at 3; the bit of the control message has to be set."]),
    .init(
      0x39, "INVALID_RANGING_ROUND_USAGE", "The ranging round usage is not supported.",
      try: ["Use 2, deferred double-sided ranging, which every chip has."]),
    .init(
      0x3A, "INVALID_MULTI_NODE_MODE", "The multi-node mode is not usable.",
      causes: ["several controlees with unicast", "many-to-many, which FiRa 2.0 dropped"],
      try: ["Use 0 for one controlee, 1 for several, the same at both ends."]),
  ]

  // Reasons of vendors. Sources: AOSP's FiraParams; DW3_QM33_SDK 1.1.0 and UWB Qorvo Tools;
  // nxp-uwb/sr250-uwbiot-zephyr.
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
