// SPDX-License-Identifier: Apache-2.0

import UCI

// Capabilities of CCC, Aliro, Android and NXP. Numbers above 0x9F are the same in both numberings.
// Some of CCC's values have their bytes in another order on NXP's chips: NXP's HAL turns them
// round before Android sees them, and they come here as the chip sends them.
extension CapabilityTable {
  static let others: [Row] = [
    both(
      .cccChapsPerSlot, 0xA0, [1], format: .mask, values: bits("3", "4", "6", "8", "9", "12", "24")),
    both(
      .cccSyncCodes, 0xA1, [4], format: .maskBigEndian, values: counted(from: 1, 32),
      summary: "Preamble codes."),
    both(
      .cccSyncCodes, 0xA1, [4], format: .mask, values: counted(from: 1, 32), vendors: [.nxp],
      summary: "Preamble codes."),
    both(.cccHoppingModes, 0xA2, [1], format: .mask, summary: "Hopping modes and sequences."),
    both(.cccChannels, 0xA3, [1], format: .mask, values: bits("5", "9"), summary: "UWB channels."),
    both(
      .cccVersions, 0xA4, [], format: .numbers(bytes: 1),
      summary: "Versions: major and minor, again and again."),
    both(
      .cccVersions, 0xA4, [], format: .numbers(bytes: 1), vendors: [.nxp],
      summary: "Versions: minor and major, again and again."),
    both(
      .cccUWBConfigs, 0xA5, [], format: .numbers(bytes: 1),
      summary: "Configurations of the physical layer."),
    both(
      .cccUWBConfigs, 0xA5, [], format: .numbers(bytes: 2), vendors: [.nxp],
      summary: "Configurations of the physical layer."),
    both(
      .cccPulseShapeCombos, 0xA6, [], format: .numbers(bytes: 1),
      summary: "Pulse shapes: high nibble sending, low nibble receiving."),
    both(.cccRANMultiplier, 0xA7, [1, 4], summary: "Multiplier of the ranging interval."),
    both(.cccMaxSessions, 0xA8, [4], unit: "sessions", summary: "CCC sessions at a time."),
    both(.cccMinInitiationTime, 0xA9, [4], unit: "ms", summary: "Shortest time before a start."),
    both(
      .cccPrioritizedChannels, 0xAA, [], format: .numbers(bytes: 1),
      summary: "UWB channels, best first."),
    both(.uwbsMaxPPM, 0xAB, [2], unit: "ppm", summary: "Clock error at most."),
    both(.aliroMACModes, 0xAC, [], format: .bytes, summary: "Aliro: modes of the MAC."),
    both(
      .radarSupport, 0xB0, [1], format: .mask, values: bits("sweep samples"),
      summary: "What radar reports."),
    both(
      .nxpMaxUCIPayload, 0xB1, [2], unit: "bytes", vendors: [.nxp],
      older: Key(number: 0xE3, subID: 0x00), summary: "Longest payload of a message."),
    both(
      .nxpInBandBlockSize, 0xB2, [1], unit: "bytes", vendors: [.nxp],
      older: Key(number: 0xE3, subID: 0x01), summary: "Block of in-band data."),
    both(
      .nxpInBandMaxBlocks, 0xB3, [1], unit: "blocks", vendors: [.nxp],
      older: Key(number: 0xE3, subID: 0x02), summary: "Blocks of in-band data at most."),
    both(
      .powerStatsQuery, 0xC0, [1], values: yesNo,
      summary: "Whether power statistics can be asked for."),
    both(
      .aoaInterleaving, 0xE3, [1], values: yesNo,
      summary: "Whether measurements of distance and angles can alternate."),
    both(.minRangingInterval, 0xE4, [4], unit: "ms", summary: "Shortest ranging interval."),
    // Bits 0 and 1 are swapped against the values of the parameter.
    both(
      .rangeDataNotificationConfig, 0xE5, [4], format: .mask,
      values: bits(
        "on", "off", "within proximity", "within angles", "within both", "crossing proximity",
        "crossing angles", "crossing both"), summary: "When SESSION_INFO_NTF can be sent."),
    both(.rssiReporting, 0xE6, [1], values: yesNo, summary: "Whether measurements can carry RSSI."),
    both(.diagnostics, 0xE7, [1], values: yesNo, summary: "Whether there are range diagnostics."),
    both(.androidMinSlotDuration, 0xE8, [4], unit: "RSTU", summary: "Shortest slot."),
    both(.maxSessions, 0xE9, [4], unit: "sessions", summary: "FiRa sessions at a time."),
    both(.antennaModes, 0xEA, [1, 2], summary: "Meaning differs from one release to the next."),
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
