// SPDX-License-Identifier: Apache-2.0

import UCI

// Source of names and numbers: FiRa UCI as published in AOSP's packet definitions; NXP's
// device states in AOSP hardware/nxp/uwb and nxp-uwb/sr250-uwbiot-zephyr.
extension DeviceState {
  static let table = CodeTable([
    CodeExplanation(
      0x00, "INIT", "The chip has booted and waits for its vendor's command.",
      causes: ["an NXP chip before CORE_DEVICE_INIT"],
      toTry: ["Open it as a chip of NXP's."], vendors: [.nxp]),
    CodeExplanation(0x01, "READY", "The chip takes commands; no session is ranging."),
    CodeExplanation(0x02, "ACTIVE", "At least one session is ranging."),
    CodeExplanation(
      0xFC, "HPD_WAKEUP",
      "The chip woke up from deep power-down; a command that was under way is lost.",
      toTry: ["Send the command again."], vendors: [.nxp]),
    CodeExplanation(
      0xFE, "UNKNOWN", "The chip does not know its own state.", toTry: ["Reset the chip."],
      vendors: [.nxp]),
    CodeExplanation(
      0xFF, "ERROR", "The chip has lost everything, sessions included.",
      causes: ["a crash of the firmware", "a command before the first reset on some simulators"],
      toTry: ["Reset the chip and set the sessions up again."]),
  ])
}

extension DataTransferStatus {
  static let table = CodeTable([
    CodeExplanation(
      0, "REPETITION_OK", "One of several repetitions was sent; more follow."),
    CodeExplanation(1, "OK", "The data was sent for good."),
    CodeExplanation(
      2, "ERROR_DATA_TRANSFER", "The transfer failed.",
      causes: ["a peer that did not hear it", "ranging that stopped meanwhile"],
      toTry: ["Send it again while ranging works; raise DATA_REPETITION_COUNT."]),
    CodeExplanation(
      3, "ERROR_NO_CREDIT_AVAILABLE", "The host sent without credit.",
      toTry: ["Wait for SESSION_DATA_CREDIT_NTF before each segment."]),
    CodeExplanation(
      4, "ERROR_REJECTED", "The session does not take data now.",
      causes: ["a session that is not ranging", "a session handle that does not exist"],
      toTry: ["Start the session first."]),
    CodeExplanation(
      5, "SESSION_TYPE_NOT_SUPPORTED", "Sessions of this type carry no data.",
      toTry: ["Create the session as ranging with in-band data (1)."]),
    CodeExplanation(
      6, "ERROR_DATA_TRANSFER_IS_ONGOING", "Another transfer is going on.",
      toTry: ["Wait for its status."]),
    CodeExplanation(
      7, "INVALID_FORMAT", "The data message was malformed.",
      causes: ["a length that does not fit the packet: some chips read it from one byte only"],
      toTry: ["Send at most 255 bytes a packet on Qorvo chips."]),
  ])
}

extension MulticastStatus {
  static let table = CodeTable([
    CodeExplanation(0, "OK", "The controlee was added or removed as asked."),
    CodeExplanation(
      1, "ERROR_MULTICAST_LIST_FULL", "The list has no room.",
      causes: ["more controlees than the chip can follow, usually 8"],
      toTry: ["Remove a controlee first."]),
    CodeExplanation(
      2, "ERROR_KEY_FETCH_FAIL", "A key could not be fetched from the secure element.",
      toTry: ["Give the sub-session key in the command."]),
    CodeExplanation(
      3, "ERROR_SUB_SESSION_ID_NOT_FOUND", "The sub-session id is missing.",
      toTry: ["Give each controlee the sub-session id that it has itself."]),
    CodeExplanation(
      4, "ERROR_SUB_SESSION_KEY_NOT_FOUND", "The sub-session key is missing.",
      toTry: ["Give the sub-session key in the command."]),
    CodeExplanation(
      5, "ERROR_SUB_SESSION_KEY_NOT_APPLICABLE",
      "This STS configuration has no sub-session keys.",
      toTry: ["Leave the key out, or use STS_CONFIG 4."]),
    CodeExplanation(
      6, "ERROR_SESSION_KEY_NOT_FOUND", "The session key is missing.",
      toTry: ["Set SESSION_KEY before adding controlees."]),
    CodeExplanation(
      7, "ERROR_ADDRESS_NOT_FOUND", "The address is not in the list.",
      causes: ["an address with its bytes in the other order"],
      toTry: ["Addresses travel low byte first: 0x0001 is 01 00."]),
    CodeExplanation(
      8, "ERROR_ADDRESS_ALREADY_PRESENT", "The address is in the list already.",
      toTry: ["Remove it first, or leave it as it is."]),
  ])
}
