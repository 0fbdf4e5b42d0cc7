// SPDX-License-Identifier: Apache-2.0

/// Why a session changed its state, from SESSION_STATUS_NTF.
///
/// An open type: 0x80…0xFF belong to vendors and are kept as they are.
public struct StateChangeReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The octet on the wire.
  public let rawValue: UInt8
  /// Any octet.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The host asked for it.
  public static let managementCommand = StateChangeReason(rawValue: 0x00)
  /// Too many ranging rounds in a row failed.
  public static let maxRoundRetriesReached = StateChangeReason(rawValue: 0x01)
  /// The number of measurements asked for was reached.
  public static let maxMeasurementsReached = StateChangeReason(rawValue: 0x02)
  /// The controller ended the session or removed this device from it.
  public static let stoppedInBand = StateChangeReason(rawValue: 0x05)
  /// There are too few slots in a ranging round.
  public static let insufficientSlots = StateChangeReason(rawValue: 0x21)
  /// The ranging interval is too short for its slots.
  public static let invalidRangingDuration = StateChangeReason(rawValue: 0x23)
  /// The session key is missing.
  public static let sessionKeyNotFound = StateChangeReason(rawValue: 0x2A)
  /// The list of controlees became empty, or their number is not usable.
  public static let invalidNumberOfControlees = StateChangeReason(rawValue: 0x33)

  /// The name in the specification; `REASON_0xNN` where there is none.
  public var description: String { Self.catalog[rawValue]?.name ?? "REASON_\(hex(rawValue))" }

  /// What it means in plain words; nil for vendors' own reasons.
  public var explanation: String? { Self.catalog[rawValue]?.explanation }

  // Source: FiRa UCI session state change reasons as published in the AOSP packet definitions.
  private static let catalog: [UInt8: (name: String, explanation: String)] = [
    0x00: ("MANAGEMENT_COMMAND", "The host asked for it."),
    0x01: ("MAX_RANGING_ROUND_RETRY_COUNT_REACHED", "Too many ranging rounds in a row failed."),
    0x02: (
      "MAX_NUMBER_OF_MEASUREMENTS_REACHED",
      "The number of measurements asked for was reached."
    ),
    0x03: ("SUSPENDED_BY_INBAND_SIGNAL", "The controller suspended the session."),
    0x04: ("RESUMED_BY_INBAND_SIGNAL", "The controller resumed the session."),
    0x05: (
      "STOPPED_BY_INBAND_SIGNAL",
      "The controller ended the session or removed this device from it."
    ),
    0x1D: ("INVALID_UL_TDOA_RANDOM_WINDOW", "The UL-TDoA random window is not usable."),
    0x1E: (
      "MIN_RFRAMES_PER_RR_NOT_SUPPORTED",
      "The number of frames per ranging round is not supported."
    ),
    0x1F: ("INTER_FRAME_INTERVAL_NOT_SUPPORTED", "The inter-frame interval is not supported."),
    0x20: ("SLOT_LENGTH_NOT_SUPPORTED", "The slot duration is not supported."),
    0x21: (
      "INSUFFICIENT_SLOTS_PER_RR",
      "There are too few slots in a ranging round for this many devices."
    ),
    0x22: ("MAC_ADDRESS_MODE_NOT_SUPPORTED", "The address mode is not supported."),
    0x23: (
      "INVALID_RANGING_DURATION",
      "The ranging interval is not usable, usually too short for its slots."
    ),
    0x24: ("INVALID_STS_CONFIG", "The STS configuration is not usable."),
    0x25: ("INVALID_RFRAME_CONFIG", "The RFRAME configuration is not usable."),
    0x26: ("HUS_NOT_ENOUGH_SLOTS", "The hybrid schedule has too few slots."),
    0x27: ("HUS_CFP_TOO_SHORT", "The contention-free phase is too short."),
    0x28: ("HUS_CAP_TOO_SHORT", "The contention-access phase is too short."),
    0x29: ("HUS_OTHERS", "The hybrid schedule is not usable."),
    0x2A: ("SESSION_KEY_NOT_FOUND", "The session key is missing."),
    0x2B: ("SUB_SESSION_KEY_NOT_FOUND", "The sub-session key is missing."),
    0x2C: ("INVALID_PREAMBLE_CODE_INDEX", "The preamble code does not fit the PRF mode."),
    0x2D: ("INVALID_SFD_ID", "The SFD id does not fit the PRF mode."),
    0x2E: ("INVALID_PSDU_DATA_RATE", "The PSDU data rate is not usable."),
    0x2F: ("INVALID_PHR_DATA_RATE", "The PHR data rate is not usable."),
    0x30: ("INVALID_PREAMBLE_DURATION", "The preamble duration is not usable."),
    0x31: ("INVALID_STS_LENGTH", "The STS length is not usable."),
    0x32: (
      "INVALID_NUM_OF_STS_SEGMENTS",
      "The number of STS segments does not fit the RFRAME configuration."
    ),
    0x33: (
      "INVALID_NUM_OF_CONTROLEES",
      "The number of controlees is not usable, or the list became empty."
    ),
    0x34: ("MAX_RANGING_REPLY_TIME_EXCEEDED", "A reply came too late."),
    0x35: (
      "INVALID_DST_ADDRESS_LIST",
      "The destination addresses do not fit the number of controlees."
    ),
    0x36: ("INVALID_OR_NOT_FOUND_SUB_SESSION_ID", "The sub-session id is missing or wrong."),
    0x37: ("INVALID_RESULT_REPORT_CONFIG", "The result report configuration is not usable."),
    0x38: ("INVALID_RANGING_ROUND_CONTROL_CONFIG", "The ranging round control is not usable."),
    0x39: ("INVALID_RANGING_ROUND_USAGE", "The ranging round usage is not supported."),
    0x3A: ("INVALID_MULTI_NODE_MODE", "The multi-node mode is not usable."),
    0x3B: (
      "RDS_FETCH_FAILURE",
      "The ranging data set could not be fetched from the secure element."
    ),
    0x3C: ("REF_UWB_SESSION_DOES_NOT_EXIST", "The reference session does not exist."),
    0x3D: (
      "REF_UWB_SESSION_RANGING_DURATION_MISMATCH",
      "The reference session has another ranging interval."
    ),
    0x3E: (
      "REF_UWB_SESSION_INVALID_OFFSET_TIME",
      "The offset to the reference session is not usable."
    ),
    0x3F: ("REF_UWB_SESSION_LOST", "The reference session was lost."),
    0x40: (
      "DT_ANCHOR_RANGING_ROUNDS_NOT_CONFIGURED",
      "The ranging rounds of the DT-anchor are not configured."
    ),
    0x41: (
      "DT_TAG_RANGING_ROUNDS_NOT_CONFIGURED",
      "The ranging rounds of the DT-tag are not configured."
    ),
    0x42: ("UWB_INITIATION_TIME_EXPIRED", "The start time had passed."),
  ]
}
