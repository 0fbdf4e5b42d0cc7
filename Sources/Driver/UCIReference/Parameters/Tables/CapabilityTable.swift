// SPDX-License-Identifier: Apache-2.0

import UCI

/// The descriptions of capabilities: their numbers and the formats of their values.
///
/// Sources: FiRa's, CCC's and Android's as published in AOSP's packet definitions and capability
/// parameters; NXP's in nxp-uwb/sr250-uwbiot-zephyr and its UWBIoT API Reference Guide; all as real
/// chips send them.
enum CapabilityTable {
  /// A capability with its numbers.
  struct Row: Sendable {
    var parameter: CapabilityParameter
    /// The number in FiRa UCI 1.x; nil if the capability does not exist there.
    var fira1: UInt8?
    /// The number in FiRa UCI 2.0 and later; nil if the capability does not exist there.
    var fira2: UInt8?
    /// The numbers of two bytes in older firmware of NXP.
    var older: Key?

    func number(in numbering: CapabilityID.Numbering) -> UInt8? {
      numbering == .fira1 ? fira1 : fira2
    }
  }

  /// A number on the wire.
  struct Key: Hashable, Sendable {
    var number: UInt8
    var subID: UInt8?
  }

  static let rows: [Row] = fira + others
  private static let byID = Dictionary(rows.map { ($0.parameter.id, $0) }) { first, _ in first }
  static let numbers: [CapabilityID.Numbering: [Key: CapabilityID]] = [
    .fira1: numbers(in: .fira1), .fira2: numbers(in: .fira2),
  ]

  static func row(of id: CapabilityID) -> Row? { byID[id] }

  private static func numbers(in numbering: CapabilityID.Numbering) -> [Key: CapabilityID] {
    var table: [Key: CapabilityID] = [:]
    for row in rows {
      if let number = row.number(in: numbering) {
        table[Key(number: number, subID: nil)] = row.parameter.id
      }
      if let older = row.older { table[older] = row.parameter.id }
    }
    return table
  }

  static func row(
    _ id: CapabilityID, _ fira1: UInt8?, _ fira2: UInt8?, _ lengths: [Int],
    format: ParameterFormat = .number, unit: String? = nil, values: [UInt64: String] = [:],
    vendors: [Dialect.Vendor] = [], older: Key? = nil, summary: String = ""
  ) -> Row {
    Row(
      parameter: CapabilityParameter(
        id, id.rawValue, lengths, format: format, unit: unit, values: values, readOnly: true,
        vendors: vendors, summary: summary), fira1: fira1, fira2: fira2, older: older)
  }

  /// The meanings of a flag of one byte.
  static let yesNo: [UInt64: String] = [0: "no", 1: "yes"]
  /// Returns the bits of a mask, from the lowest on.
  static func bits(_ names: String...) -> [UInt64: String] {
    Dictionary(uniqueKeysWithValues: names.enumerated().map { (UInt64($0.offset), $0.element) })
  }
  /// Returns names for bits, with `first` for bit 0, and so on.
  static func counted(from first: Int, _ count: Int) -> [UInt64: String] {
    Dictionary(uniqueKeysWithValues: (0..<count).map { (UInt64($0), String(first + $0)) })
  }
}

extension CapabilityTable {
  // The numbers in FiRa UCI 1.x and in 2.0.
  static let fira: [Row] = [
    row(.maxMessageSize, 0x12, 0x00, [2], unit: "bytes", summary: "Longest control message."),
    row(
      .maxDataPacketPayloadSize, 0x13, 0x01, [2], unit: "bytes",
      summary: "Longest payload of a data packet."),
    row(
      "FIRA_PHY_VERSION_RANGE", 0x00, 0x02, [4], format: .versionRange,
      summary: "Versions of the PHY."),
    row(
      "FIRA_MAC_VERSION_RANGE", 0x01, 0x03, [4], format: .versionRange,
      summary: "Versions of the MAC."),
    row(
      .deviceType, nil, 0x04, [1], format: .mask, values: bits("controller", "controlee"),
      summary: "The device types in a session; NXP uses further bits."),
    row(
      .deviceRoles, 0x02, 0x05, [1, 2], format: .mask,
      values: bits(
        "responder", "initiator", "UT-sync anchor", "UT-anchor", "UT-tag", "advertiser", "observer",
        "DT-anchor", "DT-tag"), summary: "The roles of the device in a round."),
    row(
      .rangingMethod, 0x03, 0x06, [1, 2], format: .mask,
      values: bits(
        "UL-TDoA", "SS-TWR deferred", "DS-TWR deferred", "SS-TWR non-deferred",
        "DS-TWR non-deferred", "DL-TDoA", "OWR AoA", "eSS-TWR", "aDS-TWR"),
      summary: "How rounds measure."),
    row(
      .rangingMethod, 0x03, 0x06, [1, 2], format: .mask,
      values: bits(
        "UL-TDoA", "SS-TWR deferred", "DS-TWR deferred", "SS-TWR non-deferred",
        "DS-TWR non-deferred", "DL-TDoA", "OWR AoA", "eSS-TWR", "aDS-TWR", "data transfer",
        "bit 10", "Aliro"), vendors: [.nxp], summary: "How rounds measure."),
    row(
      .stsConfig, 0x04, 0x07, [1], format: .mask,
      values: bits(
        "static", "dynamic", "dynamic with controlee key", "provisioned",
        "provisioned with controlee key"),
      summary: "Where the scrambled timestamp sequence can come from."),
    row(
      .multiNodeMode, 0x05, 0x08, [1], format: .mask,
      values: bits("unicast", "one to many", "many to many"),
      summary: "How many peers can take part."),
    row(
      .rangingTimeStruct, 0x06, 0x09, [1], format: .mask,
      values: bits("interval based", "block based"), summary: "How time can be divided."),
    row(
      .scheduleMode, 0x07, 0x0A, [1], format: .mask,
      values: bits("contention based", "time scheduled", "hybrid"),
      summary: "The supported scheduling of transmissions."),
    row(
      .hoppingMode, 0x08, 0x0B, [1], values: yesNo,
      summary: "Whether rounds can hop within a block."),
    row(.blockStriding, 0x09, 0x0C, [1], values: yesNo, summary: "Whether blocks can be skipped."),
    row(
      .uwbInitiationTime, 0x0A, 0x0D, [1], values: yesNo,
      summary: "Whether a session can start at a given time."),
    row(
      .channels, 0x0B, 0x0E, [1], format: .mask,
      values: bits("5", "6", "8", "9", "10", "12", "13", "14"), summary: "UWB channels."),
    row(
      .rframeConfig, 0x0C, 0x0F, [1], format: .mask, values: bits("SP0", "SP1", "SP2", "SP3"),
      summary: "Where frames can have their STS."),
    row(
      "CC_CONSTRAINT_LENGTH", 0x0D, 0x10, [1], format: .mask, values: bits("K=3", "K=7"),
      summary: "Constraint lengths of the convolutional code."),
    row(
      "BPRF_PARAMETER_SETS", 0x0E, 0x11, [1], format: .mask, values: counted(from: 1, 8),
      summary: "Sets of parameters with the base pulse repetition frequency."),
    row(
      "HPRF_PARAMETER_SETS", 0x0F, 0x12, [5], format: .mask, values: counted(from: 1, 40),
      summary: "Sets of parameters with the higher pulse repetition frequency."),
    row(
      .aoaSupport, 0x10, 0x13, [1], format: .mask,
      values: bits("azimuth ±90°", "azimuth ±180°", "elevation", "figure of merit"),
      summary: "Angles the chip can measure."),
    row(
      .extendedMACAddress, 0x11, 0x14, [1], values: yesNo,
      summary: "Whether addresses can have eight bytes."),
    row(
      "SUSPEND_RANGING", nil, 0x15, [1], values: yesNo, summary: "Whether ranging can be suspended."
    ),
    row(
      .sessionKeyLength, nil, 0x16, [1], format: .mask,
      values: bits("256 bits for dynamic STS", "256 bits for provisioned STS"),
      summary: "Keys longer than 128 bits."),
    row(
      "DT_ANCHOR_MAX_ACTIVE_RR", nil, 0x17, [1], unit: "rounds",
      summary: "DL-TDoA: active rounds of an anchor."),
    row(
      "DT_TAG_MAX_ACTIVE_RR", nil, 0x18, [1], unit: "rounds",
      summary: "DL-TDoA: active rounds of a tag."),
    row(
      "DT_TAG_BLOCK_SKIPPING", nil, 0x19, [1], values: yesNo,
      summary: "DL-TDoA: whether tags can skip blocks."),
    row(
      "PSDU_LENGTH_SUPPORT", nil, 0x1A, [1], values: [0: "no", 1: "2047 bytes"],
      summary: "Whether frames can be longer than 127 bytes (meaning not confirmed)."),
    row(
      "LINK_LAYER", nil, 0x1B, [2],
      summary:
        "Bit 0 logical links, 1 aggregated, 2 secure, 3 non-secure; bits 11…8 links at most, 15…12 links of a session."
    ),
    row(
      "BYPASS_MODE", nil, 0x1C, [1], values: yesNo,
      summary: "Whether data can go past the link layer."),
    row(.minSlotDuration, nil, 0x1D, [2], unit: "RSTU", summary: "Shortest slot."),
  ]

  // Capabilities of CCC, Aliro, Android and NXP. Numbers above 0x9F are the same in both
  // numberings. Some of CCC's values have their bytes in another order on NXP's chips. NXP's HAL
  // reverses these bytes for Android; here they are in the order of the chip.
  static let others: [Row] = [
    both(
      "CCC_CHAPS_PER_SLOT", 0xA0, [1], format: .mask,
      values: bits("3", "4", "6", "8", "9", "12", "24")),
    both(
      "CCC_SYNC_CODES", 0xA1, [4], format: .maskBigEndian, values: counted(from: 1, 32),
      summary: "Preamble codes."),
    both(
      "CCC_SYNC_CODES", 0xA1, [4], format: .mask, values: counted(from: 1, 32), vendors: [.nxp],
      summary: "Preamble codes."),
    both(
      "CCC_HOPPING_CONFIG_MODES", 0xA2, [1], format: .mask, summary: "Hopping modes and sequences."),
    both(
      "CCC_CHANNELS", 0xA3, [1], format: .mask, values: bits("5", "9"), summary: "UWB channels."),
    both(
      "CCC_VERSIONS", 0xA4, [], format: .numbers(bytes: 1),
      summary: "Versions: major and minor, again and again."),
    both(
      "CCC_VERSIONS", 0xA4, [], format: .numbers(bytes: 1), vendors: [.nxp],
      summary: "Versions: minor and major, again and again."),
    both(
      "CCC_UWB_CONFIGS", 0xA5, [], format: .numbers(bytes: 1),
      summary: "Configurations of the physical layer."),
    both(
      "CCC_UWB_CONFIGS", 0xA5, [], format: .numbers(bytes: 2), vendors: [.nxp],
      summary: "Configurations of the physical layer."),
    both(
      "CCC_PULSE_SHAPE_COMBOS", 0xA6, [], format: .numbers(bytes: 1),
      summary: "Pulse shapes: high nibble sending, low nibble receiving."),
    both("CCC_RAN_MULTIPLIER", 0xA7, [1, 4], summary: "Multiplier of the ranging interval."),
    both("CCC_MAX_SESSIONS", 0xA8, [4], unit: "sessions", summary: "CCC sessions at a time."),
    both(
      "CCC_MIN_INITIATION_TIME", 0xA9, [4], unit: "ms", summary: "Shortest time before a start."),
    both(
      "CCC_PRIORITIZED_CHANNELS", 0xAA, [], format: .numbers(bytes: 1),
      summary: "UWB channels, best first."),
    both("UWBS_MAX_PPM", 0xAB, [2], unit: "ppm", summary: "Clock error at most."),
    both("ALIRO_MAC_MODES", 0xAC, [], format: .bytes, summary: "Aliro: modes of the MAC."),
    both(
      "RADAR_SUPPORT", 0xB0, [1], format: .mask, values: bits("sweep samples"),
      summary: "The contents of radar reports."),
    both(
      "NXP_MAX_UCI_PAYLOAD", 0xB1, [2], unit: "bytes", vendors: [.nxp],
      older: Key(number: 0xE3, subID: 0x00), summary: "Longest payload of a message."),
    both(
      "NXP_IN_BAND_BLOCK_SIZE", 0xB2, [1], unit: "bytes", vendors: [.nxp],
      older: Key(number: 0xE3, subID: 0x01), summary: "Block of in-band data."),
    both(
      "NXP_IN_BAND_MAX_BLOCKS", 0xB3, [1], unit: "blocks", vendors: [.nxp],
      older: Key(number: 0xE3, subID: 0x02), summary: "Blocks of in-band data at most."),
    both(
      "POWER_STATS_QUERY", 0xC0, [1], values: yesNo,
      summary: "Whether power statistics can be asked for."),
    both(
      "AOA_INTERLEAVING", 0xE3, [1], values: yesNo,
      summary: "Whether measurements of distance and angles can alternate."),
    both("MIN_RANGING_INTERVAL", 0xE4, [4], unit: "ms", summary: "Shortest ranging interval."),
    // Bits 0 and 1 are swapped relative to the values of the parameter.
    both(
      "RANGE_DATA_NTF_CONFIG", 0xE5, [4], format: .mask,
      values: bits(
        "on", "off", "within proximity", "within angles", "within both", "crossing proximity",
        "crossing angles", "crossing both"), summary: "When SESSION_INFO_NTF can be sent."),
    both(
      "RSSI_REPORTING", 0xE6, [1], values: yesNo, summary: "Whether measurements can carry RSSI."),
    both("DIAGNOSTICS", 0xE7, [1], values: yesNo, summary: "Whether there are range diagnostics."),
    both(.androidMinSlotDuration, 0xE8, [4], unit: "RSTU", summary: "Shortest slot."),
    both("MAX_SESSIONS", 0xE9, [4], unit: "sessions", summary: "FiRa sessions at a time."),
    both("ANTENNA_MODES", 0xEA, [1, 2], summary: "Meaning differs from one release to the next."),
  ]

  private static func both(
    _ id: CapabilityID, _ number: UInt8, _ lengths: [Int], format: ParameterFormat = .number,
    unit: String? = nil, values: [UInt64: String] = [:], vendors: [Dialect.Vendor] = [],
    older: Key? = nil, summary: String = ""
  ) -> Row {
    row(
      id, number, number, lengths, format: format, unit: unit, values: values, vendors: vendors,
      older: older, summary: summary)
  }
}
