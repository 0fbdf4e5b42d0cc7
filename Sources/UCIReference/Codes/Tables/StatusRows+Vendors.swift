// SPDX-License-Identifier: Apache-2.0

import UCI

// Codes of vendors, and codes whose meaning changed between releases.
//
// Sources: AOSP's packet definitions and FiraParams; DW3_QM33_SDK 1.1.0; AOSP hardware/nxp/uwb
// and nxp-uwb/sr250-uwbiot-zephyr.
extension Status {
  static let vendors: [CodeExplanation] = [
    CodeExplanation(
      0x12, "INVALID_PHASE_PARTICIPATION",
      "This device cannot take part in a phase of the hybrid schedule in that way.",
      vendors: [.qorvo], generations: .fira3...(.fira3)),
    CodeExplanation(
      0x18, "INVALID_HUS_SLOT_ALLOCATION",
      "The hybrid schedule allots its slots in an unusable way.",
      vendors: [.nxp], generations: .fira3...(.fira3)),
    CodeExplanation(
      0x19, "INVALID_SLOT_DURATION", "The slot duration is not usable.",
      vendors: [.nxp], generations: .fira3...(.fira3)),
    CodeExplanation(
      0x2A, "ROUND_INDEX_NOT_SET_AS_INITIATOR",
      "The ranging round is not one in which this DT-anchor initiates; older releases of Qorvo and "
        + "Android mean that an address is not in the list of reply times.",
      vendors: [.qorvo, .android]),
    CodeExplanation(
      0x2B, "DL_TDOA_ADDRESS_NOT_MATCHING",
      "The address is not in the list of reply times of the DL-TDoA round.",
      vendors: [.qorvo, .android]),
    CodeExplanation(
      0x50, "ERROR_CCC_SE_BUSY", "The secure element is busy.",
      toTry: ["Try again."], vendors: [.qorvo, .android]),
    CodeExplanation(
      0x51, "ERROR_CCC_LIFECYCLE", "The secure element is not in the state of life this needs.",
      causes: ["a chip that was never bound to its secure element"],
      vendors: [.qorvo, .android]),
    CodeExplanation(
      0x52, "STOPPED_DUE_TO_OTHER_SESSION_CONFLICT",
      "A session of higher priority needed the radio.",
      toTry: ["End the other session, or raise SESSION_PRIORITY."], vendors: [.android]),
    CodeExplanation(
      0x53, "REGULATION_UWB_OFF", "UWB is not allowed in the country that is set.",
      causes: ["a country code for which UWB is switched off, or 00"],
      toTry: ["Set the code of the country the device is in."], vendors: [.android]),
    CodeExplanation(
      0x50, "BINDING_SUCCESS", "The chip was bound to its secure element.", vendors: [.nxp]),
    CodeExplanation(
      0x51, "BINDING_FAILURE", "The chip could not be bound to its secure element.",
      vendors: [.nxp]),
    CodeExplanation(
      0x52, "BINDING_LIMIT_REACHED", "The chip has been bound as often as it can be.",
      vendors: [.nxp]),
    CodeExplanation(
      0x53, "CALIBRATION_IN_PROGRESS", "A calibration is under way.",
      toTry: ["Wait for its notification, then try again."], vendors: [.nxp]),
    CodeExplanation(
      0x54, "THERMAL_RUNAWAY", "The chip is too hot and has stopped.",
      causes: ["continuous transmission", "poor cooling"],
      toTry: ["Let it cool, then lengthen the ranging interval."], vendors: [.nxp]),
    CodeExplanation(
      0x55, "FEATURE_NOT_SUPPORTED", "This chip does not have the feature.", vendors: [.nxp]),
    CodeExplanation(
      0x56, "COUNTRY_CODE_BLOCKED_CHANNEL",
      "The channel is not allowed in the country that is set.",
      toTry: ["Choose the other channel, or set the code of the country the device is in."],
      vendors: [.nxp]),
    CodeExplanation(
      0x57, "CALIBRATION_NOT_CONFIGURED", "A calibration value that this needs is not set.",
      toTry: ["Write the board's calibration first."], vendors: [.nxp]),
    CodeExplanation(
      0x58, "BUFFER_UNDERFLOW", "The chip lost a part of the message on its host interface.",
      toTry: ["Send it again; lower the speed of the interface if it stays."], vendors: [.nxp]),
    CodeExplanation(
      0x59, "LOW_VBAT", "The supply voltage is too low to transmit.",
      causes: ["an empty battery", "a USB port that cannot supply the peak current"],
      toTry: ["Use another supply."], vendors: [.nxp]),
    CodeExplanation(
      0x70, "SE_NONE", "There is no secure element.",
      toTry: ["Use a static or provisioned STS."], vendors: [.nxp]),
    CodeExplanation(
      0x71, "SE_TIMEOUT", "The secure element did not answer.", toTry: ["Reset the board."],
      vendors: [.nxp]),
    CodeExplanation(
      0x72, "SE_RECOVERY_FAILURE", "The secure element could not be brought back.",
      toTry: ["Power the board off and on."], vendors: [.nxp]),
    CodeExplanation(
      0x73, "SE_RECOVERY_SUCCESS", "The secure element was brought back: no failure.",
      vendors: [.nxp]),
    CodeExplanation(
      0x74, "SE_APDU_FAILURE", "The secure element refused a command of the chip.",
      vendors: [.nxp]),
    CodeExplanation(
      0x75, "SE_AUTHENTICATION_FAILURE", "The chip and the secure element do not trust each other.",
      causes: ["a secure element that is bound to another chip"], vendors: [.nxp]),
    CodeExplanation(
      0x8B, "RX_PROCESSING_TIME_ERROR", "The chip was too slow with a received frame.",
      toTry: ["Use longer slots, or ask for fewer diagnostics."], vendors: [.nxp]),
    CodeExplanation(
      0x90, "DATA_TRANSFER_ERROR", "The data could not be delivered.", vendors: [.nxp]),
    CodeExplanation(
      0xFE, "HARDWARE_RESET", "The HAL reports that the chip reset itself.",
      toTry: ["Set the sessions up again."], vendors: [.nxp]),
  ]
}
