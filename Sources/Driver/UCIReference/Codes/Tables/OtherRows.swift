// SPDX-License-Identifier: Apache-2.0

import UCI

// Source of names and numbers: FiRa UCI as published in AOSP's packet definitions; NXP's
// device states in AOSP hardware/nxp/uwb and nxp-uwb/sr250-uwbiot-zephyr.
extension DeviceState {
  static let table = CodeTable([
    .init(
      0x00, "INIT", "The chip has booted and waits for its vendor's command.",
      causes: ["an NXP chip before NXP_CORE_DEVICE_INIT"], try: ["Open it as a chip of NXP's."],
      vendors: [.nxp]), .init(0x01, "READY", "The chip takes commands; no session is ranging."),
    .init(0x02, "ACTIVE", "At least one session is ranging."),
    .init(
      0xFC, "HPD_WAKEUP",
      "The chip woke up from deep power-down; a command that was under way is lost.",
      try: ["Send the command again."], vendors: [.nxp]),
    .init(
      0xFE, "UNKNOWN", "The chip does not know its own state.", try: ["Reset the chip."],
      vendors: [.nxp]),
    .init(
      0xFF, "ERROR", "The chip has lost everything, sessions included.",
      causes: ["a crash of the firmware", "a command before the first reset on some simulators"],
      try: ["Reset the chip and set the sessions up again."]),
  ])
}

extension DataTransferStatus {
  static let table = CodeTable([
    .init(0, "REPETITION_OK", "One of several repetitions was sent; more follow."),
    .init(1, "OK", "The data was sent for good."),
    .init(
      2, "ERROR_DATA_TRANSFER", "The transfer failed.",
      causes: ["a peer that did not receive it", "ranging that stopped meanwhile"],
      try: ["Send it again while ranging works; raise DATA_REPETITION_COUNT."]),
    .init(
      3, "ERROR_NO_CREDIT_AVAILABLE", "The host sent without credit.",
      try: ["Wait for SESSION_DATA_CREDIT_NTF before each segment."]),
    .init(
      4, "ERROR_REJECTED", "The session does not take data now.",
      causes: ["a session that is not ranging", "a session handle that does not exist"],
      try: ["Start the session first."]),
    .init(
      5, "SESSION_TYPE_NOT_SUPPORTED", "Sessions of this type carry no data.",
      try: ["Create the session as ranging with in-band data (1)."]),
    .init(
      6, "ERROR_DATA_TRANSFER_IS_ONGOING", "Another transfer is going on.",
      try: ["Wait for its status."]),
    .init(
      7, "INVALID_FORMAT", "The data message was malformed.",
      causes: ["a length that does not fit the packet: some chips read it from one byte only"],
      try: ["Send at most 255 bytes a packet on Qorvo chips."]),
  ])
}

extension MulticastStatus {
  static let table = CodeTable([
    .init(0, "OK", "The controlee was added or removed as asked."),
    .init(
      1, "ERROR_MULTICAST_LIST_FULL", "The list has no room.",
      causes: ["more controlees than the chip can follow, usually 8"],
      try: ["Remove a controlee first."]),
    .init(
      2, "ERROR_KEY_FETCH_FAIL", "A key could not be fetched from the secure element.",
      try: ["Give the sub-session key in the command."]),
    .init(
      3, "ERROR_SUB_SESSION_ID_NOT_FOUND", "The sub-session id is missing.",
      try: ["Give each controlee the sub-session id that it has itself."]),
    .init(
      4, "ERROR_SUB_SESSION_KEY_NOT_FOUND", "The sub-session key is missing.",
      try: ["Give the sub-session key in the command."]),
    .init(
      5, "ERROR_SUB_SESSION_KEY_NOT_APPLICABLE", "This STS configuration has no sub-session keys.",
      try: ["Leave the key out, or use STS_CONFIG 4."]),
    .init(
      6, "ERROR_SESSION_KEY_NOT_FOUND", "The session key is missing.",
      try: ["Set SESSION_KEY before adding controlees."]),
    .init(
      7, "ERROR_ADDRESS_NOT_FOUND", "The address is not in the list.",
      causes: ["an address with its bytes in the other order"],
      try: ["Addresses travel low byte first: 0x0001 is 01 00."]),
    .init(
      8, "ERROR_ADDRESS_ALREADY_PRESENT", "The address is in the list already.",
      try: ["Remove it first, or leave it as it is."]),
  ])
}
