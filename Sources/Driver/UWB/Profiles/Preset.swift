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
  /// Android's session of one controller and several controlees (CONFIG_MULTICAST_DS_TWR).
  case androidMulticast = "android-multicast"
  /// Android's unicast without angles (androidx id 3), which has longer rounds.
  case androidWithoutAngles = "android-no-angles"
  /// Android's unicast with a provisioned key (CONFIG_PROVISIONED_UNICAST_DS_TWR).
  case androidProvisioned = "android-provisioned"
  /// Android's multicast with a provisioned key (CONFIG_PROVISIONED_MULTICAST_DS_TWR).
  case androidProvisionedMulticast = "android-provisioned-multicast"
  /// Android's unicast with a provisioned key and rounds each 96 ms
  /// (PROVISIONED_UNICAST_DS_TWR_VERY_FAST of its out-of-band protocol).
  case androidProvisionedFast = "android-provisioned-fast"
  /// The session that an iPhone requests from an accessory, apart from the values of each session.
  case nearbyInteraction = "nearby-interaction"

  /// The source of the values, and the values to change.
  package var remarks: [String] {
    switch self {
    case .firaStatic:
      ["FiRa's defaults with a static STS. The vendor id and IV are from public samples."]
    case .qorvoKit:
      ["The session of run_fira_twr in Qorvo's QM33 SDK, without options."]
    case .android, .androidMulticast, .androidWithoutAngles, .androidProvisioned,
      .androidProvisionedMulticast, .androidProvisionedFast:
      androidRemarks
    case .nearbyInteraction:
      [
        "The request of an iPhone: DS-TWR deferred, SP3, vendor id 0x004C in the order 4C 00.",
        "Session id, preamble, channel, slots, interval, IV and the phone's address change with",
        "each session in its shareable configuration data; the values here are from one capture.",
      ]
    }
  }

  private var androidRemarks: [String] {
    let name =
      switch self {
      case .androidMulticast: "CONFIG_MULTICAST_DS_TWR with frequent updates"
      case .androidWithoutAngles: "unicast without angles, with frequent updates"
      case .androidProvisioned: "CONFIG_PROVISIONED_UNICAST_DS_TWR with frequent updates"
      case .androidProvisionedMulticast:
        "CONFIG_PROVISIONED_MULTICAST_DS_TWR with frequent updates"
      case .androidProvisionedFast: "PROVISIONED_UNICAST_DS_TWR_VERY_FAST"
      default: "CONFIG_UNICAST_DS_TWR with frequent updates"
      }
    let source =
      self == .android
      ? "Source: the published settings of github.com/sasodoma/uwb-ranging."
      : "Source: AOSP's packages/modules/Uwb. No phone has been seen with these values yet."
    let key =
      isProvisioned ? "The SESSION_KEY here is a placeholder: it" : "The eight bytes of the STS"
    return [
      "The session of Android for \(name).", source,
      "\(key), session id and addresses come from the phone's app.",
    ]
  }

  private var isProvisioned: Bool {
    [.androidProvisioned, .androidProvisionedMulticast, .androidProvisionedFast].contains(self)
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
    if isProvisioned {
      // A provisioned STS comes from its key.
      let unused = [AppConfigID.vendorID, .staticSTSIV].map(\.rawValue)
      parameters.removeAll { unused.contains($0.id) }
    }
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
    case .android: Self.android(slots: 6, interval: 120)
    case .androidMulticast:
      Self.android(slots: 20, interval: 120) + [TLV(.multiNodeMode, [1])]
    case .androidWithoutAngles: Self.android(slots: 20, interval: 120, angles: false)
    case .androidProvisioned: Self.android(slots: 6, interval: 120) + Self.provisioned
    case .androidProvisionedMulticast:
      Self.android(slots: 20, interval: 120) + [TLV(.multiNodeMode, [1])] + Self.provisioned
    case .androidProvisionedFast: Self.android(slots: 6, interval: 96) + Self.provisioned
    case .nearbyInteraction:
      [
        TLV(.preambleCodeIndex, [11]), TLV(.slotsPerRR, [6]), TLV(.slotDuration, [0x10, 0x0E]),
        TLV(.rangingDuration, [198, 0, 0, 0]), TLV(.vendorID, [0x4C, 0x00]),
        TLV(.staticSTSIV, [0x39, 0x7B, 0x28, 0xD4, 0xB8, 0xD7]), TLV(.rangingRoundControl, [3]),
        TLV(.resultReportConfig, [1]), TLV(.maxRRRetry, [0, 0]),
      ]
    }
  }

  /// Returns the values of Android's sessions that differ from the common ones.
  private static func android(slots: UInt8, interval: UInt8, angles: Bool = true) -> [TLV] {
    [
      TLV(.preambleCodeIndex, [9]), TLV(.slotsPerRR, [slots]),
      TLV(.rangingDuration, [interval, 0, 0, 0]), TLV(.hoppingMode, [1]),
      TLV(.aoaResultRequest, [angles ? 1 : 0]), TLV(.resultReportConfig, [angles ? 0x0B : 1]),
      TLV(.rssiReporting, [1]),
    ]
  }

  private static let provisioned: [TLV] = [
    TLV(.stsConfig, [3]), TLV(.sessionKey, [UInt8](0..<16)), TLV(.keyRotation, [1]),
    TLV(.keyRotationRate, [0]),
  ]
}
