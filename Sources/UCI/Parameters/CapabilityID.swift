// SPDX-License-Identifier: Apache-2.0

/// A capability in CORE_GET_CAPS_INFO_RSP, whatever its number is: FiRa 2.0 renumbered them.
public enum CapabilityID: String, Sendable, CaseIterable {
  case maxMessageSize = "MAX_MESSAGE_SIZE"
  case maxDataPacketPayloadSize = "MAX_DATA_PACKET_PAYLOAD_SIZE"
  case firaPHYVersionRange = "FIRA_PHY_VERSION_RANGE"
  case firaMACVersionRange = "FIRA_MAC_VERSION_RANGE"
  case deviceType = "DEVICE_TYPE"
  case deviceRoles = "DEVICE_ROLES"
  case rangingMethod = "RANGING_METHOD"
  case stsConfig = "STS_CONFIG"
  case multiNodeMode = "MULTI_NODE_MODE"
  case rangingTimeStruct = "RANGING_TIME_STRUCT"
  case scheduleMode = "SCHEDULE_MODE"
  case hoppingMode = "HOPPING_MODE"
  case blockStriding = "BLOCK_STRIDING"
  case uwbInitiationTime = "UWB_INITIATION_TIME"
  case channels = "CHANNELS"
  case rframeConfig = "RFRAME_CONFIG"
  case ccConstraintLength = "CC_CONSTRAINT_LENGTH"
  case bprfParameterSets = "BPRF_PARAMETER_SETS"
  case hprfParameterSets = "HPRF_PARAMETER_SETS"
  case aoaSupport = "AOA_SUPPORT"
  case extendedMACAddress = "EXTENDED_MAC_ADDRESS"
  case suspendRanging = "SUSPEND_RANGING"
  case sessionKeyLength = "SESSION_KEY_LENGTH"
  case dtAnchorMaxActiveRounds = "DT_ANCHOR_MAX_ACTIVE_RR"
  case dtTagMaxActiveRounds = "DT_TAG_MAX_ACTIVE_RR"
  case dtTagBlockSkipping = "DT_TAG_BLOCK_SKIPPING"
  case psduLengthSupport = "PSDU_LENGTH_SUPPORT"
  case linkLayer = "LINK_LAYER"
  case bypassMode = "BYPASS_MODE"
  case minSlotDuration = "MIN_SLOT_DURATION"

  /// Which numbers capabilities have.
  public enum Numbering: Sendable {
    /// FiRa UCI 1.x, and pica whatever version it says.
    case fira1
    /// FiRa UCI 2.0 and later.
    case fira2
  }

  /// Its number; nil where it does not exist in this numbering.
  public func number(in numbering: Numbering) -> UInt8? {
    switch numbering {
    case .fira2: Self.allCases.firstIndex(of: self).map { UInt8($0) }
    case .fira1: Self.fira1.firstIndex(of: self).map { UInt8($0) }
    }
  }

  /// The capability with this number; nil where there is none.
  public init?(number: UInt8, in numbering: Numbering) {
    let table = numbering == .fira1 ? Self.fira1 : Self.allCases
    guard number < table.count else { return nil }
    self = table[Int(number)]
  }

  /// The name of a capability, also of those of CCC, Android and vendors; `CAPABILITY_0xNN` where
  /// there is none.
  public static func name(of number: UInt8, in numbering: Numbering) -> String {
    CapabilityID(number: number, in: numbering)?.rawValue ?? others[number]
      ?? "CAPABILITY_\(hex(number))"
  }

  // The order of the cases above is that of the numbers in FiRa 2.0; these are those of 1.x.
  private static let fira1: [CapabilityID] = [
    .firaPHYVersionRange, .firaMACVersionRange, .deviceRoles, .rangingMethod, .stsConfig,
    .multiNodeMode, .rangingTimeStruct, .scheduleMode, .hoppingMode, .blockStriding,
    .uwbInitiationTime, .channels, .rframeConfig, .ccConstraintLength, .bprfParameterSets,
    .hprfParameterSets, .aoaSupport, .extendedMACAddress, .maxMessageSize,
    .maxDataPacketPayloadSize,
  ]

  // Source: AOSP's capability parameters and NXP's published host code.
  private static let others: [UInt8: String] = [
    0xA0: "CCC_CHAPS_PER_SLOT", 0xA1: "CCC_SYNC_CODES", 0xA2: "CCC_HOPPING_CONFIG_MODES",
    0xA3: "CCC_CHANNELS", 0xA4: "CCC_VERSIONS", 0xA5: "CCC_UWB_CONFIGS",
    0xA6: "CCC_PULSE_SHAPE_COMBOS", 0xA7: "CCC_RAN_MULTIPLIER", 0xA8: "CCC_MAX_SESSIONS",
    0xA9: "CCC_MIN_INITIATION_TIME", 0xAA: "CCC_PRIORITIZED_CHANNELS", 0xAB: "UWBS_MAX_PPM",
    0xAC: "ALIRO_MAC_MODES", 0xB0: "RADAR_SUPPORT", 0xB1: "NXP_MAX_UCI_PAYLOAD",
    0xB2: "NXP_IN_BAND_BLOCK_SIZE", 0xB3: "NXP_IN_BAND_MAX_BLOCKS", 0xC0: "POWER_STATS_QUERY",
    0xE3: "AOA_INTERLEAVING", 0xE4: "MIN_RANGING_INTERVAL", 0xE5: "RANGE_DATA_NTF_CONFIG",
    0xE6: "RSSI_REPORTING", 0xE7: "DIAGNOSTICS", 0xE8: "MIN_SLOT_DURATION_RSTU",
    0xE9: "MAX_SESSIONS", 0xEA: "ANTENNA_MODES",
  ]
}
