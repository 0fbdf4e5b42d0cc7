// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Sessions of other programs and devices, as starting points.
public enum Preset: String, Sendable, CaseIterable {
  /// FiRa's defaults with a static STS.
  case firaStatic = "fira-static"
  /// The session of the Python tool of Qorvo's kits (run_fira_twr).
  case qorvoKit = "qorvo-kit"
  /// The session of Android phones for unicast (androidx CONFIG_UNICAST_DS_TWR).
  case android = "android"
  /// The session that an iPhone requests from an accessory, apart from the values of each session.
  case nearbyInteraction = "nearby-interaction"

  /// The source of the values, and the values to change.
  package var remarks: [String] {
    switch self {
    case .firaStatic:
      ["FiRa's defaults with a static STS. The vendor id and IV are from public samples."]
    case .qorvoKit:
      ["The session of run_fira_twr in Qorvo's QM33 SDK, without options."]
    case .android:
      [
        "The session of androidx.core.uwb for CONFIG_UNICAST_DS_TWR with frequent updates.",
        "Source: the published settings of github.com/sasodoma/uwb-ranging.",
        "Session id, addresses and the eight bytes of the STS come from the phone's app.",
      ]
    case .nearbyInteraction:
      [
        "The request of an iPhone: DS-TWR deferred, SP3, vendor id 0x004C in the order 4C 00.",
        "Session id, preamble, channel, slots, interval, IV and the phone's address change with",
        "each session in its shareable configuration data; the values here are from one capture.",
      ]
    }
  }

  /// Returns the profile for one end; without a role, for the end that a board usually is. The
  /// addresses of the two ends fit together.
  public func profile(_ role: SessionConfiguration.Role? = nil) -> SessionProfile {
    let role = role ?? (self == .nearbyInteraction ? .controlee : .controller)
    if role.isOneWay { return oneWayProfile(role) }
    let own: UInt8 = role == .controller ? 0 : 1
    let end: UInt8 = role == .controller ? 1 : 0
    let ends = [
      TLV(.deviceType, [end]), TLV(.deviceRole, [end]), TLV(.deviceMACAddress, [own, 0]),
      TLV(.dstMACAddress, [1 - own, 0]), TLV(.numberOfControlees, [1]),
    ]
    var parameters = Self.common.filter { tlv in !values.contains { $0.id == tlv.id } }
    parameters += ends + values
    return SessionProfile(
      sessionID: self == .nearbyInteraction ? 24_488 : 42, parameters: parameters)
  }

  /// Returns the profile of an end of one-way ranging. Its values are FiRa's, except for Android's
  /// tag.
  private func oneWayProfile(_ role: SessionConfiguration.Role) -> SessionProfile {
    let address: UInt16 =
      switch role {
      case .downlinkAnchor(let anchor): anchor.isInitiator ? 0 : 1
      case .uplinkSyncAnchor: 0
      default: 0x100
      }
    var session = SessionConfiguration(role: role, sessionID: 42, address: MACAddress(address))
    session.slotsPerRound = 10
    if self == .android {
      // Source: androidx.core.uwb, its values for CONFIG_DL_TDOA_DT_TAG.
      session.slotsPerRound = 20
      session.hopping = true
      session.preambleCode = 11
    }
    return SessionProfile(session)
  }

  // The common part: every parameter that firmware needs before it starts.
  private static let common: [TLV] = [
    TLV(.multiNodeMode, [0]), TLV(.rangingRoundUsage, [2]), TLV(.scheduleMode, [1]),
    TLV(.macAddressMode, [0]), TLV(.channelNumber, [9]), TLV(.preambleCodeIndex, [10]),
    TLV(.sfdID, [2]), TLV(.rframeConfig, [3]), TLV(.slotDuration, [0x60, 0x09]),
    TLV(.slotsPerRR, [25]), TLV(.rangingDuration, [200, 0, 0, 0]), TLV(.stsConfig, [0]),
    TLV(.vendorID, [0x08, 0x07]), TLV(.staticSTSIV, [1, 2, 3, 4, 5, 6]), TLV(.stsLength, [1]),
    TLV(.hoppingMode, [0]),
  ]

  // Sources: for qorvo-kit the packets of the tool; for android see `remarks`; for
  // nearby-interaction published captures of accessories and AOSP's constants for them.
  private var values: [TLV] {
    switch self {
    case .firaStatic: [TLV(.aoaResultRequest, [1]), TLV(.resultReportConfig, [1])]
    case .qorvoKit:
      [
        TLV(.aoaResultRequest, [1]), TLV(.resultReportConfig, [0x0B]),
        TLV(.uwbInitiationTime, [UInt8](repeating: 0, count: 8)),
        TLV(.maxNumberOfMeasurements, [0, 0]), TLV(.rssiReporting, [0]),
        TLV(.blockStrideLength, [0]), TLV(.keyRotationRate, [0]),
      ]
    case .android:
      [
        TLV(.preambleCodeIndex, [9]), TLV(.slotsPerRR, [6]), TLV(.rangingDuration, [120, 0, 0, 0]),
        TLV(.hoppingMode, [1]), TLV(.aoaResultRequest, [1]), TLV(.resultReportConfig, [0x0B]),
        TLV(.rssiReporting, [1]),
      ]
    case .nearbyInteraction:
      [
        TLV(.preambleCodeIndex, [11]), TLV(.slotsPerRR, [6]), TLV(.slotDuration, [0x10, 0x0E]),
        TLV(.rangingDuration, [198, 0, 0, 0]), TLV(.vendorID, [0x4C, 0x00]),
        TLV(.staticSTSIV, [0x39, 0x7B, 0x28, 0xD4, 0xB8, 0xD7]), TLV(.rangingRoundControl, [3]),
        TLV(.resultReportConfig, [1]), TLV(.maxRRRetry, [0, 0]),
      ]
    }
  }
}
