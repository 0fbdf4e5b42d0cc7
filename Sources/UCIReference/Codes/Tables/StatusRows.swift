// SPDX-License-Identifier: Apache-2.0

import UCI

// Source of names and numbers: FiRa UCI status codes as published in the packet definitions of AOSP
// and pica. Causes: the flow rules of the specification as published there, and what users of real
// chips reported.
extension Status {
  static let general: [CodeExplanation] = [
    .init(0x00, "OK", "The chip did what it was asked."),
    .init(
      0x01, "REJECTED", "The command is not allowed in the current state of the chip or session.",
      causes: [
        "a session that is not in the state the command needs", "a chip that was not reset",
      ], try: ["Look at the session's state first; reset the chip if it is not what it should be."]),
    .init(
      0x02, "FAILED", "The chip tried and failed without saying why.",
      causes: [
        "a parameter that this firmware cannot combine with the others",
        "a state left behind by an earlier program",
      ],
      try: [
        "Reset the chip and try again.",
        "Start from a preset, then change one parameter at a time.",
      ]),
    .init(
      0x03, "SYNTAX_ERROR",
      "The command was malformed: its length or layout is not what this firmware expects.",
      causes: [
        "a firmware that follows another version of UCI",
        "a reset command without its payload byte", "bytes lost on the line",
      ],
      try: [
        "Compare the chip's UCI version with that of the command.",
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
      try: ["Check who made the chip."]),
    .init(
      0x08, "UNKNOWN_OID", "This firmware does not know the message.",
      causes: ["a firmware that follows an older version of UCI"],
      try: ["Compare the chip's UCI version with that of the command."]),
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
      causes: ["a session that an earlier program left behind"],
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
      causes: ["sessions that an earlier program left behind"],
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
      generations: .fira2...(.fira3)),
    .init(
      0x1B, "OK_NEGATIVE_DISTANCE_REPORT",
      "Measured, but the distance came out negative: the boards are very close or their antenna "
        + "delays are not calibrated.",
      causes: ["boards within a few decimetres", "antenna delays that are not calibrated"],
      try: ["Move the boards apart, or calibrate the antenna delays."]),
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
}
