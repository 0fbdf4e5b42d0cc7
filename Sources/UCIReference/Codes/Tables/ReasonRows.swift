// SPDX-License-Identifier: Apache-2.0

import UCI

// Why a session changed its state. Source of names and numbers: FiRa UCI session state change
// reasons as published in AOSP's packet definitions and FiraParams, and in Qorvo's tools.
extension StateChangeReason {
  static let general: [CodeExplanation] = [
    .init(0x00, "MANAGEMENT_COMMAND", "The host asked for it."),
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
      try: ["Set the bit of SESSION_TIME_BASE that lets this session go on without it."]),
    .init(
      0x40, "DT_ANCHOR_RANGING_ROUNDS_NOT_CONFIGURED",
      "The ranging rounds of the DT-anchor are not configured.",
      try: ["Send SESSION_UPDATE_ACTIVE_ROUNDS_ANCHOR before starting."]),
    .init(
      0x41, "DT_TAG_RANGING_ROUNDS_NOT_CONFIGURED",
      "The ranging rounds of the DT-tag are not configured.",
      try: ["Send SESSION_UPDATE_ACTIVE_ROUNDS_DT_TAG before starting."]),
    .init(
      0x42, "UWB_INITIATION_TIME_EXPIRED", "The start time had passed.",
      causes: ["a start time too close to the command"],
      try: ["Start a few hundred milliseconds later, or set UWB_INITIATION_TIME to 0."]),
  ]
}
