// SPDX-License-Identifier: Apache-2.0

import UCI

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
  // CCC, Aliro, Android and NXP.
  case cccChapsPerSlot = "CCC_CHAPS_PER_SLOT"
  case cccSyncCodes = "CCC_SYNC_CODES"
  case cccHoppingModes = "CCC_HOPPING_CONFIG_MODES"
  case cccChannels = "CCC_CHANNELS"
  case cccVersions = "CCC_VERSIONS"
  case cccUWBConfigs = "CCC_UWB_CONFIGS"
  case cccPulseShapeCombos = "CCC_PULSE_SHAPE_COMBOS"
  case cccRANMultiplier = "CCC_RAN_MULTIPLIER"
  case cccMaxSessions = "CCC_MAX_SESSIONS"
  case cccMinInitiationTime = "CCC_MIN_INITIATION_TIME"
  case cccPrioritizedChannels = "CCC_PRIORITIZED_CHANNELS"
  case uwbsMaxPPM = "UWBS_MAX_PPM"
  case aliroMACModes = "ALIRO_MAC_MODES"
  case radarSupport = "RADAR_SUPPORT"
  case nxpMaxUCIPayload = "NXP_MAX_UCI_PAYLOAD"
  case nxpInBandBlockSize = "NXP_IN_BAND_BLOCK_SIZE"
  case nxpInBandMaxBlocks = "NXP_IN_BAND_MAX_BLOCKS"
  case powerStatsQuery = "POWER_STATS_QUERY"
  case aoaInterleaving = "AOA_INTERLEAVING"
  case minRangingInterval = "MIN_RANGING_INTERVAL"
  case rangeDataNotificationConfig = "RANGE_DATA_NTF_CONFIG"
  case rssiReporting = "RSSI_REPORTING"
  case diagnostics = "DIAGNOSTICS"
  case androidMinSlotDuration = "MIN_SLOT_DURATION_RSTU"
  case maxSessions = "MAX_SESSIONS"
  case antennaModes = "ANTENNA_MODES"

  /// Which numbers capabilities have.
  package enum Numbering: Sendable {
    /// FiRa UCI 1.x, and pica whatever version it says.
    case fira1
    /// FiRa UCI 2.0 and later.
    case fira2
  }

  /// Its number; nil where it does not exist in this numbering.
  package func number(in numbering: Numbering) -> UInt8? {
    CapabilityTable.row(of: self)?.number(in: numbering)
  }

  /// The capability with this number; nil where there is none.
  ///
  /// - Parameter subID: second byte of the number, where it has one (older firmware of NXP).
  package init?(number: UInt8, subID: UInt8? = nil, in numbering: Numbering) {
    let key = CapabilityTable.Key(number: number, subID: subID)
    guard let id = CapabilityTable.numbers[numbering]?[key] else { return nil }
    self = id
  }

  /// The name of a capability; `CAPABILITY_0xNN` where there is none.
  package static func name(of number: UInt8, subID: UInt8? = nil, in numbering: Numbering) -> String
  {
    CapabilityID(number: number, subID: subID, in: numbering)?.rawValue
      ?? unknownParameter("CAPABILITY", number, subID)
  }
}

/// A capability of a chip; its value says what the chip can do.
package typealias CapabilityParameter = Parameter<CapabilityID>

extension CapabilityID: TabulatedID {
  package static let table = ParameterTable(CapabilityTable.rows.map(\.parameter))
  package var unknownName: String { rawValue }
}
