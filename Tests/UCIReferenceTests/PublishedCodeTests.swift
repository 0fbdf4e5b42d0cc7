// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference

private func rows(_ text: String) -> [[String]] {
  text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
}

/// Codes as others publish them.
///
/// Sources: the packet definitions of AOSP and pica, AOSP's FiraParams, DW3_QM33_SDK 1.1.0, UWB
/// Qorvo Tools, AOSP hardware/nxp/uwb, nxp-uwb/sr250-uwbiot-zephyr.
@Suite("Codes as others publish them")
struct PublishedCodeTests {
  private static let statuses = rows(
    """
    00 OK
    01 REJECTED
    02 FAILED
    03 SYNTAX_ERROR
    04 INVALID_PARAM
    05 INVALID_RANGE
    06 INVALID_MESSAGE_SIZE
    07 UNKNOWN_GID
    08 UNKNOWN_OID
    09 READ_ONLY
    0A COMMAND_RETRY
    0B UNKNOWN
    0C NOT_APPLICABLE
    11 ERROR_SESSION_NOT_EXIST
    12 ERROR_SESSION_DUPLICATE
    13 ERROR_SESSION_ACTIVE
    14 ERROR_MAX_SESSIONS_EXCEEDED
    15 ERROR_SESSION_NOT_CONFIGURED
    16 ERROR_ACTIVE_SESSIONS_ONGOING
    17 ERROR_MULTICAST_LIST_FULL
    18 ERROR_ADDRESS_NOT_FOUND
    19 ERROR_ADDRESS_ALREADY_PRESENT
    1A ERROR_UWB_INITIATION_TIME_TOO_OLD
    1B OK_NEGATIVE_DISTANCE_REPORT
    20 RANGING_TX_FAILED
    21 RANGING_RX_TIMEOUT
    22 RANGING_RX_PHY_DEC_FAILED
    23 RANGING_RX_PHY_TOA_FAILED
    24 RANGING_RX_PHY_STS_FAILED
    25 RANGING_RX_MAC_DEC_FAILED
    26 RANGING_RX_MAC_IE_DEC_FAILED
    27 RANGING_RX_MAC_IE_MISSING
    28 ERROR_ROUND_INDEX_NOT_ACTIVATED
    29 ERROR_NUMBER_OF_ACTIVE_RANGING_ROUNDS_EXCEEDED
    30 DATA_MAX_TX_PSDU_SIZE_EXCEEDED
    31 DATA_RX_CRC_ERROR
    """)

  private static let reasons = rows(
    """
    00 MANAGEMENT_COMMAND
    01 MAX_RANGING_ROUND_RETRY_COUNT_REACHED
    02 MAX_NUMBER_OF_MEASUREMENTS_REACHED
    03 SUSPENDED_BY_INBAND_SIGNAL
    04 RESUMED_BY_INBAND_SIGNAL
    05 STOPPED_BY_INBAND_SIGNAL
    1D INVALID_UL_TDOA_RANDOM_WINDOW
    1E MIN_RFRAMES_PER_RR_NOT_SUPPORTED
    1F INTER_FRAME_INTERVAL_NOT_SUPPORTED
    20 SLOT_LENGTH_NOT_SUPPORTED
    21 INSUFFICIENT_SLOTS_PER_RR
    22 MAC_ADDRESS_MODE_NOT_SUPPORTED
    23 INVALID_RANGING_DURATION
    24 INVALID_STS_CONFIG
    25 INVALID_RFRAME_CONFIG
    26 HUS_NOT_ENOUGH_SLOTS
    27 HUS_CFP_TOO_SHORT
    28 HUS_CAP_TOO_SHORT
    29 HUS_OTHERS
    2A SESSION_KEY_NOT_FOUND
    2B SUB_SESSION_KEY_NOT_FOUND
    2C INVALID_PREAMBLE_CODE_INDEX
    2D INVALID_SFD_ID
    2E INVALID_PSDU_DATA_RATE
    2F INVALID_PHR_DATA_RATE
    30 INVALID_PREAMBLE_DURATION
    31 INVALID_STS_LENGTH
    32 INVALID_NUM_OF_STS_SEGMENTS
    33 INVALID_NUM_OF_CONTROLEES
    34 MAX_RANGING_REPLY_TIME_EXCEEDED
    35 INVALID_DST_ADDRESS_LIST
    36 INVALID_OR_NOT_FOUND_SUB_SESSION_ID
    37 INVALID_RESULT_REPORT_CONFIG
    38 INVALID_RANGING_ROUND_CONTROL_CONFIG
    39 INVALID_RANGING_ROUND_USAGE
    3A INVALID_MULTI_NODE_MODE
    3B RDS_FETCH_FAILURE
    3C REF_UWB_SESSION_DOES_NOT_EXIST
    3D REF_UWB_SESSION_RANGING_DURATION_MISMATCH
    3E REF_UWB_SESSION_INVALID_OFFSET_TIME
    3F REF_UWB_SESSION_LOST
    40 DT_ANCHOR_RANGING_ROUNDS_NOT_CONFIGURED
    41 DT_TAG_RANGING_ROUNDS_NOT_CONFIGURED
    42 UWB_INITIATION_TIME_EXPIRED
    """)

  @Test("Statuses that all vendors share", arguments: statuses)
  func status(row: [String]) throws {
    let status = Status(rawValue: try #require(UInt8(row[0], radix: 16)))
    #expect(status.description == row[1])
    #expect(status.explanation != nil)
    #expect(explanations(of: row[1]).contains { $0.explanation.code == status.rawValue })
  }

  @Test("Reasons of a change of state that all vendors share", arguments: reasons)
  func reason(row: [String]) throws {
    let reason = StateChangeReason(rawValue: try #require(UInt8(row[0], radix: 16)))
    #expect(reason.description == row[1])
    #expect(reason.explanation != nil)
    #expect(explanations(of: row[1]).contains { $0.explanation.code == reason.rawValue })
  }

  @Test("Reserved codes have neither a name nor a meaning")
  func reserved() {
    let statuses = Set(Self.statuses.compactMap { UInt8($0[0], radix: 16) })
    for code in UInt8.min...0x4F where !statuses.contains(code) {
      #expect(Status(rawValue: code).description.hasPrefix("STATUS_0x"), "\(code)")
      #expect(Status(rawValue: code).explained() == nil, "\(code)")
    }
    let reasons = Set(Self.reasons.compactMap { UInt8($0[0], radix: 16) })
    for code in UInt8.min...0x7F where !reasons.contains(code) {
      #expect(StateChangeReason(rawValue: code).description.hasPrefix("REASON_0x"), "\(code)")
      #expect(StateChangeReason(rawValue: code).explained() == nil, "\(code)")
    }
  }

  // Vendor, kind, code, name.
  private static let vendors = rows(
    """
    qorvo status 50 ERROR_CCC_SE_BUSY
    qorvo status 51 ERROR_CCC_LIFECYCLE
    android status 50 ERROR_CCC_SE_BUSY
    android status 51 ERROR_CCC_LIFECYCLE
    android status 52 STOPPED_DUE_TO_OTHER_SESSION_CONFLICT
    android status 53 REGULATION_UWB_OFF
    android status 2A ROUND_INDEX_NOT_SET_AS_INITIATOR
    android status 2B DL_TDOA_ADDRESS_NOT_MATCHING
    nxp status 50 BINDING_SUCCESS
    nxp status 51 BINDING_FAILURE
    nxp status 52 BINDING_LIMIT_REACHED
    nxp status 53 CALIBRATION_IN_PROGRESS
    nxp status 54 THERMAL_RUNAWAY
    nxp status 55 FEATURE_NOT_SUPPORTED
    nxp status 56 COUNTRY_CODE_BLOCKED_CHANNEL
    nxp status 57 CALIBRATION_NOT_CONFIGURED
    nxp status 58 BUFFER_UNDERFLOW
    nxp status 59 LOW_VBAT
    nxp status 70 SE_NONE
    nxp status 71 SE_TIMEOUT
    nxp status 72 SE_RECOVERY_FAILURE
    nxp status 73 SE_RECOVERY_SUCCESS
    nxp status 74 SE_APDU_FAILURE
    nxp status 75 SE_AUTHENTICATION_FAILURE
    nxp status 8B RX_PROCESSING_TIME_ERROR
    nxp status 90 DATA_TRANSFER_ERROR
    nxp status FE HARDWARE_RESET
    qorvo reason 80 INVALID_CHANNEL_WITH_AOA
    qorvo reason 81 STOPPED_DUE_TO_OTHER_SESSION_CONFLICT
    qorvo reason 82 REGULATION_UWB_OFF
    android reason 80 INVALID_CHANNEL_WITH_AOA
    android reason 81 STOPPED_DUE_TO_OTHER_SESSION_CONFLICT
    android reason 82 REGULATION_UWB_OFF
    android reason A2 STS_INDEX_REACHED_MAXIMUM
    qorvo reason F2 MAX_STS_REACHED
    qorvo reason F3 RADAR_TIME_REACHED
    qorvo reason F4 INVALID_DEVICE_ROLE
    qorvo reason F5 NO_MEMORY
    qorvo reason F7 DRIVER_DOWN
    qorvo reason F8 INVALID_PROXIMITY_RANGE
    qorvo reason F9 INVALID_FRAME_INTERVAL
    qorvo reason FA INVALID_CAP_SIZE_RANGE
    qorvo reason FB INVALID_SCHEDULE_MODE
    qorvo reason FC INVALID_PRF_MODE
    qorvo reason FE START_CONFIG_ERROR
    qorvo reason FF RDS_BUSY
    nxp reason 4B KEY_ROTATION_WITH_INVALID_STS_CONFIG
    nxp reason 80 NO_RANGING_DATA_SET
    nxp reason 81 KEY_FETCH_ERROR
    nxp reason 82 DYNAMIC_STS_NOT_SUPPORTED
    """)

  @Test("Vendors' codes", arguments: vendors)
  func vendor(row: [String]) throws {
    let vendor = try #require(Dialect.Vendor(rawValue: row[0]))
    let dialect = Dialect(vendor: vendor)
    let code = try #require(UInt8(row[2], radix: 16))
    let (explained, words, plain) =
      row[1] == "status"
      ? (
        Status(rawValue: code).explained(in: dialect), Status(rawValue: code).explanation,
        Status(rawValue: code).description
      )
      : (
        StateChangeReason(rawValue: code).explained(in: dialect),
        StateChangeReason(rawValue: code).explanation, StateChangeReason(rawValue: code).description
      )
    #expect(explained?.name == row[3])
    // Without the vendor, the number has no name, and the sentence states the vendor whose meaning
    // it gives.
    #expect(plain.hasSuffix("_0x" + row[2]))
    #expect(words?.contains(vendor.title) == true)
    #expect(words?.contains(try #require(explained?.meaning)) == true)
  }

  @Test("The tables of vendors have no other codes")
  func noOthers() {
    for (family, kind) in [(CodeFamily.status, "status"), (.stateChangeReason, "reason")] {
      let known = Set(Self.vendors.filter { $0[1] == kind }.map { $0[3] })
      let changed: Set = [
        "INVALID_PHASE_PARTICIPATION", "INVALID_HUS_SLOT_ALLOCATION", "INVALID_SLOT_DURATION",
      ]
      let names = family.explanations.filter { !$0.vendors.isEmpty }.map(\.name)
      #expect(Set(names).subtracting(changed) == known)
    }
  }

  // The other kinds of codes: number, name.
  @Test(
    "States of a chip",
    arguments: [
      (0x00, "INIT"), (0x01, "READY"), (0x02, "ACTIVE"), (0xFC, "HPD_WAKEUP"), (0xFE, "UNKNOWN"),
      (0xFF, "ERROR"), (0x03, "DEVICE_STATE_0x03"),
    ] as [(UInt8, String)])
  func deviceState(code: UInt8, name: String) {
    #expect(DeviceState(rawValue: code).description == name)
    #expect((DeviceState(rawValue: code).explanation == nil) == name.contains("0x"))
  }

  @Test(
    "States of a session",
    arguments: [
      (0x00, "INIT"), (0x01, "DEINIT"), (0x02, "ACTIVE"), (0x03, "IDLE"),
      (0x04, "SESSION_STATE_0x04"), (0xFF, "SESSION_STATE_0xFF"),
    ] as [(UInt8, String)])
  func sessionState(code: UInt8, name: String) {
    #expect(SessionState(rawValue: code).description == name)
  }

  @Test(
    "Transfers of data",
    arguments: [
      (0, "REPETITION_OK"), (1, "OK"), (2, "ERROR_DATA_TRANSFER"), (3, "ERROR_NO_CREDIT_AVAILABLE"),
      (4, "ERROR_REJECTED"), (5, "SESSION_TYPE_NOT_SUPPORTED"),
      (6, "ERROR_DATA_TRANSFER_IS_ONGOING"), (7, "INVALID_FORMAT"), (8, "DATA_STATUS_0x08"),
    ] as [(UInt8, String)])
  func dataTransfer(code: UInt8, name: String) {
    #expect(DataTransferStatus(rawValue: code).description == name)
    #expect((DataTransferStatus(rawValue: code).explanation == nil) == name.contains("0x"))
  }

  @Test(
    "The list of controlees",
    arguments: [
      (0, "OK"), (1, "ERROR_MULTICAST_LIST_FULL"), (2, "ERROR_KEY_FETCH_FAIL"),
      (3, "ERROR_SUB_SESSION_ID_NOT_FOUND"), (4, "ERROR_SUB_SESSION_KEY_NOT_FOUND"),
      (5, "ERROR_SUB_SESSION_KEY_NOT_APPLICABLE"), (6, "ERROR_SESSION_KEY_NOT_FOUND"),
      (7, "ERROR_ADDRESS_NOT_FOUND"), (8, "ERROR_ADDRESS_ALREADY_PRESENT"),
      (9, "MULTICAST_STATUS_0x09"),
    ] as [(UInt8, String)])
  func multicast(code: UInt8, name: String) {
    #expect(MulticastStatus(rawValue: code).description == name)
    #expect((MulticastStatus(rawValue: code).explanation == nil) == name.contains("0x"))
  }

  // Every name in a sentence has to exist elsewhere, where users look for it.
  @Test(
    "Each parameter, code and message that an explanation names exists",
    arguments: CodeFamily.allCases)
  func namedElsewhere(family: CodeFamily) {
    let messages = [Dialect.Vendor.qorvo, .nxp].flatMap { vendor in
      MessageCatalog.keys(in: Dialect(vendor: vendor)).flatMap { key in
        let dialect = Dialect(vendor: vendor)
        let name = MessageCatalog.name(type: key.type, opcode: key.opcode, dialect: dialect)
        return [name, String(name.dropLast(4))]
      }
    }
    let known = Set(
      AppConfigParameter.all.map(\.name) + CapabilityParameter.all.map(\.name) + messages
        + CodeFamily.allCases.flatMap { $0.explanations.map(\.name) })
    for row in family.explanations {
      let text = ([row.meaning] + row.causes + row.recoverySuggestions).joined(separator: " ")
      let words = text.split { !($0.isUppercase || $0 == "_" || $0.isNumber) }
      let unknown = words.map(String.init).filter { $0.contains("_") && !known.contains($0) }
      #expect(unknown.isEmpty, "\(row.name)")
    }
  }

  @Test("A setting that a configuration error names can be found by the name of the error")
  func settingOfError() {
    // The name of the error ends with the name of the setting.
    for name in [
      "STS_CONFIG", "RFRAME_CONFIG", "PREAMBLE_CODE_INDEX", "SFD_ID", "PSDU_DATA_RATE",
      "PREAMBLE_DURATION", "STS_LENGTH", "RESULT_REPORT_CONFIG", "RANGING_ROUND_USAGE",
      "MULTI_NODE_MODE", "SCHEDULE_MODE", "PRF_MODE", "CAP_SIZE_RANGE", "DEVICE_ROLE",
    ] {
      let found = explanations(of: "INVALID_" + name)
      #expect(found.count == 1, "\(name)")
      #expect((try? AppConfigID(named: name)) != nil, "\(name)")
    }
  }
}
