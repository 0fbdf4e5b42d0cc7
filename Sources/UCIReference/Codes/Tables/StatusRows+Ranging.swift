// SPDX-License-Identifier: Apache-2.0

import UCI

// Why a ranging round failed. Source of names and numbers: as for the other status codes.
extension Status {
  static let ranging: [CodeExplanation] = [
    .init(
      0x20, "RANGING_TX_FAILED", "The frame could not be sent.",
      causes: [
        "slots too short for the frame", "another session that had the radio",
        "a channel that regulation or calibration does not allow here",
      ], try: ["Use longer slots; end other sessions."]),
    .init(
      0x21, "RANGING_RX_TIMEOUT",
      "No answer was heard in time: the peer is off, out of range, or set up differently.",
      causes: [
        "a peer that is not started",
        "a different session id: it enters the key derivation, so nothing else shows the mistake",
        "addresses that are not crossed", "both ends controllers, or both controlees",
        "a different channel, preamble code, SFD or STS",
        "different slots, slots per round, interval or hopping",
        "a phone's defaults: preamble 9, 6 slots, 120 or 240 ms, hopping on",
      ],
      try: [
        "Compare the parameters of the two ends.",
        "Bring the boards to one metre of each other, antennas upright.",
      ]),
    .init(
      0x22, "RANGING_RX_PHY_DEC_FAILED",
      "A frame was heard but its header could not be decoded: interference, or a different "
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
      "A frame was heard but its time of arrival could not be found: weak or blocked signal.",
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
      "A frame was heard but its content could not be decoded: a different session id, key or FCS "
        + "type.",
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
}
