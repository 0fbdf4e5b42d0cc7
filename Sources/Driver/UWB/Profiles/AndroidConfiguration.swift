// SPDX-License-Identifier: Apache-2.0
package import UCI

/// A ranging configuration of Android. Both ends have a table of them, and a phone sends only the
/// config id.
///
/// There are two numberings, which differ for 3 to 6: one of the out-of-band protocol of Android's
/// ranging module, and one of androidx.core.uwb.
///
/// Sources: AOSP's packages/modules/Uwb, `ranging/uwb_backend` and `androidx_backend`, and
/// `RangingParameters.kt` of androidx.core.uwb.
package enum AndroidConfiguration: Sendable, CaseIterable {
  /// CONFIG_UNICAST_DS_TWR.
  case unicast
  /// CONFIG_MULTICAST_DS_TWR: one controller and several controlees.
  case multicast
  /// Unicast without angles, whose rounds are longer.
  case unicastWithoutAngles
  /// CONFIG_PROVISIONED_UNICAST_DS_TWR.
  case provisionedUnicast
  /// CONFIG_PROVISIONED_MULTICAST_DS_TWR.
  case provisionedMulticast
  /// CONFIG_PROVISIONED_INDIVIDUAL_MULTICAST_DS_TWR: each controlee has a key of its own.
  case provisionedIndividualMulticast
  /// Unicast with a key and without angles.
  case provisionedUnicastWithoutAngles
  /// PROVISIONED_UNICAST_DS_TWR_VERY_FAST.
  case provisionedUnicastVeryFast

  /// The update rate that an app requests. Each configuration has an interval for each rate.
  package typealias UpdateRate = Preset.UpdateRate

  /// The config id in the out-of-band protocol; nil for configurations that only androidx has.
  package var outOfBandID: UInt8? { row.outOfBandID }
  /// The config id in androidx.core.uwb; nil for a configuration that it does not publish.
  package var androidxID: UInt8? { row.androidxID }
  /// STS_CONFIG: 0 static, 3 provisioned, 4 provisioned with keys of the controlees.
  package var stsConfig: UInt8 { row.stsConfig }
  /// Whether one controller ranges with several controlees (MULTI_NODE_MODE).
  package var isOneToMany: Bool { row.isOneToMany }
  /// SLOTS_PER_RR.
  package var slotsPerRound: UInt8 { row.isOneToMany || !measuresAngles ? 20 : 6 }
  /// Whether phones measure angles in this configuration, unless the app wants none.
  package var measuresAngles: Bool { row.measuresAngles }
  /// The accepted lengths of keys in bytes. A key of 8 bytes consists of VENDOR_ID and
  /// STATIC_STS_IV.
  package var keyLengths: [Int] {
    switch stsConfig {
    case 0: [8]
    case 4: [16]
    default: [16, 32]
    }
  }

  /// Returns the configuration of a config id of the out-of-band protocol, or nil for an unknown
  /// id.
  package init?(outOfBandID: UInt8) {
    guard let found = Self.allCases.first(where: { $0.outOfBandID == outOfBandID }) else {
      return nil
    }
    self = found
  }

  /// Returns the milliseconds from one round to the next (RANGING_DURATION).
  package func interval(_ rate: UpdateRate) -> UInt16 {
    switch rate {
    case .frequent: self == .provisionedUnicastVeryFast ? 96 : 120
    case .automatic: slotsPerRound == 20 ? 200 : 240
    case .infrequent: 600
    }
  }

  /// The parameters that the configuration determines, equal at both ends.
  package var parameters: [TLV] {
    Self.common + [
      TLV(.multiNodeMode, [isOneToMany ? 1 : 0]), TLV(.slotsPerRR, [slotsPerRound]),
      TLV(.stsConfig, [stsConfig]), TLV(.keyRotation, [stsConfig == 3 ? 1 : 0]),
      TLV(.keyRotationRate, [0]),
    ]
  }

  // Source: the defaults of AOSP's FiraOpenSessionParams, and its FiraEncoder.
  private static let common: [TLV] = [
    TLV(.rangingRoundUsage, [2]), TLV(.scheduleMode, [1]), TLV(.macAddressMode, [0]),
    TLV(.rframeConfig, [3]), TLV(.sfdID, [2]), TLV(.stsLength, [1]), TLV(.hoppingMode, [1]),
    TLV(.rangingRoundControl, [3]), TLV(.resultReportConfig, [1]), TLV(.sessionPriority, [50]),
    TLV(.inBandTerminationAttemptCount, [3]),
  ]

  private struct Row {
    var outOfBandID: UInt8?
    var androidxID: UInt8?
    var stsConfig: UInt8 = 0
    var isOneToMany = false
    var measuresAngles = true
  }

  private var row: Row {
    switch self {
    case .unicast: Row(outOfBandID: 1, androidxID: 1)
    case .multicast: Row(outOfBandID: 2, androidxID: 2, isOneToMany: true)
    case .unicastWithoutAngles: Row(androidxID: 3, measuresAngles: false)
    case .provisionedUnicast: Row(outOfBandID: 3, androidxID: 4, stsConfig: 3)
    case .provisionedMulticast:
      Row(outOfBandID: 4, androidxID: 5, stsConfig: 3, isOneToMany: true)
    case .provisionedIndividualMulticast:
      Row(outOfBandID: 5, androidxID: 7, stsConfig: 4, isOneToMany: true)
    case .provisionedUnicastWithoutAngles:
      Row(androidxID: 6, stsConfig: 3, measuresAngles: false)
    case .provisionedUnicastVeryFast: Row(outOfBandID: 6, stsConfig: 3)
    }
  }
}
