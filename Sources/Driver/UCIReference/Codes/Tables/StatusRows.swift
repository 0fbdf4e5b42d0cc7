// SPDX-License-Identifier: Apache-2.0

import UCI

// Source of names and numbers: FiRa UCI status codes as published in the packet definitions of AOSP
// and pica. Causes: the flow rules of the specification as published there, and reports of users of
// real chips.
extension Status {
  static let general: [CodeExplanation] = [
    .init(0x00, "OK", "The chip executed the command."),
    .init(
      0x01, "REJECTED", "The command is not allowed in the current state of the chip or session.",
      causes: [
        "a session that is not in the state the command needs", "a chip that was not reset",
      ], try: ["Check the session's state first; reset the chip if the state is wrong."]),
    .init(
      0x02, "FAILED", "The chip tried and failed without saying why.",
      causes: [
        "a parameter that this firmware cannot combine with the others",
        "a state that an earlier program caused",
      ],
      try: [
        "Reset the chip and try again.",
        "Start from a preset, then change one parameter at a time.",
      ]),
    .init(
      0x03, "SYNTAX_ERROR",
      "The command was malformed: this firmware expects another length or layout.",
      causes: [
        "a firmware that follows another version of UCI",
        "a reset command without its payload byte", "bytes lost on the line",
      ],
      try: [
        "Compare the chip's UCI version with the version of the command.",
        "Look for resynchronisations in the statistics: the line may lose bytes.",
      ]),
    .init(
      0x04, "INVALID_PARAM", "A parameter has a value this firmware refuses, or is unknown to it.",
      causes: [
        "a parameter that this UCI version has dropped or does not have yet",
        "a value with the wrong number of bytes",
      ], try: ["Leave out the parameters it names, or give them their defaults."]),
    .init(
      0x05, "INVALID_RANGE", "A parameter is outside its range.",
      causes: ["a value that the specification allows and this chip does not"],
      try: ["Compare the parameters it names with the chip's capabilities."]),
    .init(
      0x06, "INVALID_MESSAGE_SIZE", "The message is longer or shorter than the chip accepts.",
      causes: ["a command longer than the chip's MAX_MESSAGE_SIZE", "bytes lost on the line"],
      try: ["Send the parameters in several commands."]),
    .init(
      0x07, "UNKNOWN_GID", "This firmware does not know the message group.",
      causes: ["a vendor group of another vendor", "a firmware without this feature"],
      try: ["Check the maker of the chip."]),
    .init(
      0x08, "UNKNOWN_OID", "This firmware does not know the message.",
      causes: ["a firmware that follows an older version of UCI"],
      try: ["Compare the chip's UCI version with the version of the command."]),
    .init(
      0x09, "READ_ONLY", "The parameter can be read but not written.",
      try: ["Leave the parameter out."]),
    .init(
      0x0A, "COMMAND_RETRY", "The chip was busy or asleep and wants the same message again.",
      causes: ["deep sleep between commands", "a ranging round under way"],
      try: ["Send it again; the driver does so by itself."]),
    .init(
      0x0B, "UNKNOWN", "The chip reports an unknown error.", try: ["Reset the chip and try again."]),
    .init(
      0x0C, "NOT_APPLICABLE", "The request does not apply to this session or device.",
      causes: ["a command of the controller sent to a controlee, or the other way round"],
      try: ["Check the session's type and the device's role."]),
    .init(
      0x11, "ERROR_SESSION_NOT_EXIST",
      "There is no such session: it was never created, was deinitialised, or was named by its id "
        + "where this chip wants its handle.",
      causes: [
        "the session id used where chips since FiRa 2.0 want the handle from SESSION_INIT_RSP",
        "a reset that removed the session",
      ], try: ["Use the handle that SESSION_INIT_RSP returned."]),
    .init(
      0x12, "ERROR_SESSION_DUPLICATE", "A session with this id exists already.",
      causes: ["a session of an earlier program"],
      try: ["Deinitialise that session, reset the chip, or choose another session id."]),
    .init(
      0x13, "ERROR_SESSION_ACTIVE", "The session is ranging; stop it first.",
      causes: ["a parameter that cannot be changed while ranging"],
      try: [
        "Stop the session, set the parameter, start again.",
        "While ranging only reports, proximity, angle bounds, block stride and suspension change.",
      ]),
    .init(
      0x14, "ERROR_MAX_SESSIONS_EXCEEDED", "The chip has no room for another session.",
      causes: ["sessions of an earlier program"],
      try: ["Deinitialise other sessions, or reset the chip."]),
    .init(
      0x15, "ERROR_SESSION_NOT_CONFIGURED",
      "The session lacks parameters it needs before it can start.",
      causes: [
        "only the formally mandatory parameters set: firmwares want channel, STS, RFRAME, "
          + "preamble, SFD, slot, interval and slots per round as well"
      ], try: ["Set every parameter of the session that two-way ranging needs."]),
    .init(
      0x16, "ERROR_ACTIVE_SESSIONS_ONGOING", "Other sessions are still ranging.",
      try: ["Stop them first."]),
    .init(
      0x17, "ERROR_MULTICAST_LIST_FULL", "The list of controlees is full.",
      causes: ["more controlees than the chip can follow, usually 8"],
      try: ["Remove a controlee first, or use a second session."]),
    .init(
      0x18, "ERROR_ADDRESS_NOT_FOUND", "The address is not in the list of controlees.",
      causes: ["an address with its bytes in the other order"],
      try: ["Addresses travel low byte first: 0x0001 is 01 00."]),
    .init(
      0x19, "ERROR_ADDRESS_ALREADY_PRESENT", "The address is in the list of controlees already.",
      try: ["Remove it first, or leave it as it is."]),
    .init(
      0x1A, "ERROR_UWB_INITIATION_TIME_TOO_OLD", "The start time given lies in the past.",
      causes: ["a time relative to now where FiRa 2.0 wants the chip's own time in microseconds"],
      try: ["Read the chip's time with CORE_QUERY_UWBS_TIMESTAMP and add to it, or send 0."],
      since: .fira2),
    .init(
      0x1B, "OK_NEGATIVE_DISTANCE_REPORT",
      "Measured, but the distance came out negative: the chip subtracts longer antenna delays than "
        + "the boards have. Usual with uncalibrated boards side by side.",
      causes: ["boards within a few decimetres", "antenna delays that are not calibrated"],
      try: [
        "Place the boards two metres apart: the distance should be positive, and off by the same "
          + "decimetres.",
        "Calibrate the antenna delays: uwblab calibrate delay.",
      ]),
    .init(
      0x28, "ERROR_ROUND_INDEX_NOT_ACTIVATED", "The ranging round is not activated.",
      causes: ["a DL-TDoA device whose active rounds were not set"],
      try: ["Set the active rounds before starting."]),
    .init(
      0x29, "ERROR_NUMBER_OF_ACTIVE_RANGING_ROUNDS_EXCEEDED",
      "More ranging rounds were activated than the chip can follow.",
      try: [
        "Activate as many rounds as the capabilities DT_ANCHOR_MAX_ACTIVE_RR or "
          + "DT_TAG_MAX_ACTIVE_RR say, or fewer."
      ]),
    .init(
      0x30, "DATA_MAX_TX_PSDU_SIZE_EXCEEDED", "The data is longer than a frame can carry.",
      try: ["Send the data in smaller pieces."]),
    .init(
      0x31, "DATA_RX_CRC_ERROR", "Data arrived damaged.",
      causes: ["a weak signal", "a different MAC_FCS_TYPE at the two ends"],
      try: ["Compare MAC_FCS_TYPE; let the data be repeated."]),
  ]

  // The reasons of failed ranging rounds. Source of names and numbers: as for the other status
  // codes.
  static let ranging: [CodeExplanation] = [
    .init(
      0x20, "RANGING_TX_FAILED", "The frame could not be sent.",
      causes: [
        "slots too short for the frame", "another session that had the radio",
        "a channel that regulation or calibration does not allow here",
      ], try: ["Use longer slots; end other sessions."]),
    .init(
      0x21, "RANGING_RX_TIMEOUT",
      "No answer was received in time: the peer is off, out of range, or set up differently.",
      causes: [
        "a peer that is not started",
        "a different session id: it enters the key derivation, so nothing else shows the mistake",
        "addresses that are not crossed", "both ends controllers, or both controlees",
        "one of several controlees that is set to unicast instead of one to many",
        "a different channel, preamble code, SFD or STS",
        "different slots, slots per round, interval or hopping",
        "a phone's defaults: preamble 9, 6 slots, 120 or 240 ms, hopping on",
      ],
      try: [
        "Compare the parameters of the two ends.",
        "With several controlees, set MULTI_NODE_MODE to one to many at all ends (--one-to-many).",
        "Give each of several controlees an address of its own (--address).",
        "Bring the boards to one metre of each other, antennas upright.",
      ]),
    .init(
      0x22, "RANGING_RX_PHY_DEC_FAILED",
      "A frame was received but its header could not be decoded: interference, or a different "
        + "preamble, SFD or PRF.",
      causes: [
        "a different SFD, PRF mode, PHR data rate or RFRAME configuration",
        "another UWB network on the same channel and preamble code", "a weak signal",
      ],
      try: [
        "Compare SFD_ID, PRF_MODE, RFRAME_CONFIG and BPRF_PHR_DATA_RATE of both ends.",
        "Choose another preamble code at both ends.",
      ]),
    .init(
      0x23, "RANGING_RX_PHY_TOA_FAILED",
      "A frame was received but its time of arrival could not be found: weak or blocked signal.",
      causes: ["a body, metal or a wall between the antennas", "a long distance"],
      try: ["Bring the boards into line of sight.", "Turn the antennas towards each other."]),
    .init(
      0x24, "RANGING_RX_PHY_STS_FAILED",
      "The scrambled timestamp sequence did not match: a different key, vendor id, IV or STS index.",
      causes: [
        "VENDOR_ID or STATIC_STS_IV with its bytes in another order",
        "a different session id, key, STS index, STS length or number of STS segments",
      ],
      try: [
        "Compare VENDOR_ID and STATIC_STS_IV byte by byte in the order of the wire: the number "
          + "0x0708 is 08 07 there.", "Compare the parameters of the two ends.",
      ]),
    .init(
      0x25, "RANGING_RX_MAC_DEC_FAILED",
      "A frame was received but its content could not be decoded: a different session id, key or "
        + "FCS type.",
      causes: [
        "a different session id or key", "a different MAC_FCS_TYPE or MAC_ADDRESS_MODE",
        "a frame of another network",
      ], try: ["Compare session id, keys, MAC_FCS_TYPE and MAC_ADDRESS_MODE of both ends."]),
    .init(
      0x26, "RANGING_RX_MAC_IE_DEC_FAILED",
      "An information element in the frame could not be decoded.",
      causes: ["ends that follow different versions of the specification"],
      try: ["Compare the MAC versions of the two chips."]),
    .init(
      0x27, "RANGING_RX_MAC_IE_MISSING",
      "The frame lacks an information element that ranging needs.",
      causes: [
        "a different RANGING_ROUND_USAGE, RANGING_ROUND_CONTROL or RESULT_REPORT_CONFIG",
        "ends that follow different versions of the specification",
      ], try: ["Compare these parameters of both ends."]),
  ]

  // Codes of vendors, and codes whose meaning changed between releases.
  //
  // Sources: AOSP's packet definitions and FiraParams; DW3_QM33_SDK 1.1.0; AOSP hardware/nxp/uwb
  // and nxp-uwb/sr250-uwbiot-zephyr.
  static let vendors: [CodeExplanation] = [
    .init(
      0x12, "INVALID_PHASE_PARTICIPATION",
      "This device cannot take part in a phase of the hybrid schedule in that way.",
      vendors: [.qorvo], since: .fira3),
    .init(
      0x18, "INVALID_HUS_SLOT_ALLOCATION",
      "The hybrid schedule allots its slots in an unusable way.", vendors: [.nxp],
      since: .fira3),
    .init(
      0x19, "INVALID_SLOT_DURATION", "The slot duration is not usable.", vendors: [.nxp],
      since: .fira3),
    .init(
      0x2A, "ROUND_INDEX_NOT_SET_AS_INITIATOR",
      "The ranging round is not one in which this DT-anchor initiates; older releases of Qorvo and "
        + "Android mean that an address is not in the list of reply times.",
      vendors: [.qorvo, .android]),
    .init(
      0x2B, "DL_TDOA_ADDRESS_NOT_MATCHING",
      "The address is not in the list of reply times of the DL-TDoA round.",
      vendors: [.qorvo, .android]),
    .init(
      0x50, "ERROR_CCC_SE_BUSY", "The secure element is busy.", try: ["Try again."],
      vendors: [.qorvo, .android]),
    .init(
      0x51, "ERROR_CCC_LIFECYCLE", "The secure element is not in the state of life this needs.",
      causes: ["a chip that was never bound to its secure element"], vendors: [.qorvo, .android]),
    .init(
      0x52, "STOPPED_DUE_TO_OTHER_SESSION_CONFLICT",
      "A session of higher priority needed the radio.",
      try: ["End the other session, or raise SESSION_PRIORITY."], vendors: [.android]),
    .init(
      0x53, "REGULATION_UWB_OFF", "UWB is not allowed in the country that is set.",
      causes: ["a country code for which UWB is switched off, or 00"],
      try: ["Set the code of the country the device is in."], vendors: [.android]),
    .init(0x50, "BINDING_SUCCESS", "The chip was bound to its secure element.", vendors: [.nxp]),
    .init(
      0x51, "BINDING_FAILURE", "The chip could not be bound to its secure element.", vendors: [.nxp]
    ),
    .init(
      0x52, "BINDING_LIMIT_REACHED", "The chip has been bound as often as it can be.",
      vendors: [.nxp]),
    .init(
      0x53, "CALIBRATION_IN_PROGRESS", "A calibration is under way.",
      try: ["Wait for its notification, then try again."], vendors: [.nxp]),
    .init(
      0x54, "THERMAL_RUNAWAY", "The chip is too hot and has stopped.",
      causes: ["continuous transmission", "poor cooling"],
      try: ["Let it cool, then lengthen the ranging interval."], vendors: [.nxp]),
    .init(0x55, "FEATURE_NOT_SUPPORTED", "This chip does not have the feature.", vendors: [.nxp]),
    .init(
      0x56, "COUNTRY_CODE_BLOCKED_CHANNEL",
      "The channel is not allowed in the country that is set.",
      try: ["Choose the other channel, or set the code of the country the device is in."],
      vendors: [.nxp]),
    .init(
      0x57, "CALIBRATION_NOT_CONFIGURED", "A calibration value that this needs is not set.",
      try: ["Write the board's calibration first."], vendors: [.nxp]),
    .init(
      0x58, "BUFFER_UNDERFLOW", "The chip lost a part of the message on its host interface.",
      try: ["Send it again; lower the speed of the interface if it stays."], vendors: [.nxp]),
    .init(
      0x59, "LOW_VBAT", "The supply voltage is too low to transmit.",
      causes: ["an empty battery", "a USB port that cannot supply the peak current"],
      try: ["Use another supply."], vendors: [.nxp]),
    .init(
      0x70, "SE_NONE", "There is no secure element.", try: ["Use a static or provisioned STS."],
      vendors: [.nxp]),
    .init(
      0x71, "SE_TIMEOUT", "The secure element did not answer.", try: ["Reset the board."],
      vendors: [.nxp]),
    .init(
      0x72, "SE_RECOVERY_FAILURE", "The secure element could not be brought back.",
      try: ["Power the board off and on."], vendors: [.nxp]),
    .init(
      0x73, "SE_RECOVERY_SUCCESS", "The secure element was brought back: no failure.",
      vendors: [.nxp]),
    .init(
      0x74, "SE_APDU_FAILURE", "The secure element refused a command of the chip.", vendors: [.nxp]),
    .init(
      0x75, "SE_AUTHENTICATION_FAILURE", "The chip and the secure element do not trust each other.",
      causes: ["a secure element that is bound to another chip"], vendors: [.nxp]),
    .init(
      0x8B, "RX_PROCESSING_TIME_ERROR", "The chip was too slow with a received frame.",
      try: ["Use longer slots, or ask for fewer diagnostics."], vendors: [.nxp]),
    .init(0x90, "DATA_TRANSFER_ERROR", "The data could not be delivered.", vendors: [.nxp]),
    .init(
      0xFE, "HARDWARE_RESET", "The HAL reports that the chip reset itself.",
      try: ["Set the sessions up again."], vendors: [.nxp]),
  ]
}
