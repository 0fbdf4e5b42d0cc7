// SPDX-License-Identifier: Apache-2.0

import UCI

// Parameters that the chip found unusable when the session was to start. Source: as for the other
// reasons; the rules behind them as published in AOSP's FiraParams.
extension StateChangeReason {
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
      causes: ["DST_MAC_ADDRESS missing, or of another length than the address mode says"],
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
}
