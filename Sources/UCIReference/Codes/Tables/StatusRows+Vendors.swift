// SPDX-License-Identifier: Apache-2.0

import UCI

// Codes of vendors, and codes whose meaning changed between releases.
//
// Sources: AOSP's packet definitions and FiraParams; DW3_QM33_SDK 1.1.0; AOSP hardware/nxp/uwb
// and nxp-uwb/sr250-uwbiot-zephyr.
extension Status {
  static let vendors: [CodeExplanation] = [
    .init(
      0x12, "INVALID_PHASE_PARTICIPATION",
      "This device cannot take part in a phase of the hybrid schedule in that way.",
      vendors: [.qorvo], generations: .fira3...(.fira3)),
    .init(
      0x18, "INVALID_HUS_SLOT_ALLOCATION",
      "The hybrid schedule allots its slots in an unusable way.", vendors: [.nxp],
      generations: .fira3...(.fira3)),
    .init(
      0x19, "INVALID_SLOT_DURATION", "The slot duration is not usable.", vendors: [.nxp],
      generations: .fira3...(.fira3)),
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
