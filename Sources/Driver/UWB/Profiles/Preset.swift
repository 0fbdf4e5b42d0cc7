// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Sessions that other programs and devices use, as starting points.
public enum Preset: String, Sendable, CaseIterable {
  /// FiRa's defaults with a static STS.
  case firaStatic = "fira-static"
  /// The session of the Python tool of Qorvo's kits (run_fira_twr).
  case qorvoKit = "qorvo-kit"
  /// Android's session with one controlee (androidx CONFIG_UNICAST_DS_TWR).
  case android = "android"
  /// Android's session of one controller and several controlees (CONFIG_MULTICAST_DS_TWR).
  case androidMulticast = "android-multicast"
  /// Android's unicast session without angles, which has longer rounds.
  case androidWithoutAngles = "android-no-angles"
  /// Android's unicast session with a provisioned key (CONFIG_PROVISIONED_UNICAST_DS_TWR).
  case androidProvisioned = "android-provisioned"
  /// Android's multicast session with a provisioned key (CONFIG_PROVISIONED_MULTICAST_DS_TWR).
  case androidProvisionedMulticast = "android-provisioned-multicast"
  /// Android's multicast session with a key for each controlee
  /// (CONFIG_PROVISIONED_INDIVIDUAL_MULTICAST_DS_TWR).
  case androidProvisionedIndividualMulticast = "android-provisioned-individual-multicast"
  /// Android's unicast session with a provisioned key and without angles.
  case androidProvisionedWithoutAngles = "android-provisioned-no-angles"
  /// Android's unicast session with a provisioned key and an interval of 96 ms
  /// (PROVISIONED_UNICAST_DS_TWR_VERY_FAST of its out-of-band protocol).
  case androidProvisionedFast = "android-provisioned-fast"
  /// The session that an iPhone requests from an accessory, without the values that differ each
  /// time.
  case nearbyInteraction = "nearby-interaction"

  /// The update rate that an Android app requests. It determines the interval.
  public enum UpdateRate: String, Sendable, CaseIterable {
    /// The shortest interval, 96 or 120 ms.
    case frequent
    /// The interval for apps that request no update rate, 200 or 240 ms.
    case automatic
    /// The longest interval, 600 ms.
    case infrequent
  }

  /// The configuration in Android's table; nil for other presets.
  package var androidConfiguration: AndroidConfiguration? {
    switch self {
    case .android: .unicast
    case .androidMulticast: .multicast
    case .androidWithoutAngles: .unicastWithoutAngles
    case .androidProvisioned: .provisionedUnicast
    case .androidProvisionedMulticast: .provisionedMulticast
    case .androidProvisionedIndividualMulticast: .provisionedIndividualMulticast
    case .androidProvisionedWithoutAngles: .provisionedUnicastWithoutAngles
    case .androidProvisionedFast: .provisionedUnicastVeryFast
    case .firaStatic, .qorvoKit, .nearbyInteraction: nil
    }
  }

  /// The source of the values, and the values to change.
  package var remarks: [String] {
    switch self {
    case .firaStatic:
      ["FiRa's defaults with a static STS. The vendor id and IV are from public samples."]
    case .qorvoKit:
      ["The session of run_fira_twr in Qorvo's QM33 SDK, without options."]
    case .nearbyInteraction:
      [
        "The request of an iPhone: DS-TWR deferred, SP3, vendor id 0x004C in the order 4C 00.",
        "Session id, preamble, channel, slots, interval, IV and the phone's address change with",
        "each session in its shareable configuration data; the values here are from one capture.",
      ]
    default: androidConfiguration.map(Self.remarks) ?? []
    }
  }

  private static func remarks(_ configuration: AndroidConfiguration) -> [String] {
    let ids = [
      configuration.androidxID.map { "id \($0) of androidx.core.uwb" },
      configuration.outOfBandID.map { "id \($0) of the out-of-band protocol" },
    ].compactMap { $0 }.joined(separator: ", ")
    let key =
      configuration.stsConfig == 0
      ? "The eight bytes of the STS" : "The SESSION_KEY here is a placeholder: it"
    var remarks = [
      "Android's configuration with \(ids).",
      "Source: AOSP's packages/modules/Uwb. No phone has been seen with all of these values.",
      "\(key), session id, preamble and addresses come from the phone's app.",
    ]
    if configuration.stsConfig == 4 {
      remarks.append(
        "A controller adds its controlees with their keys; a file has no place for them.")
    }
    return remarks
  }

  /// Returns the profile for one end; without a role, for the usual end of a board. The profiles of
  /// both ends name each other's address.
  ///
  /// - Parameters:
  ///   - role: the role of the end.
  ///   - updateRate: determines the interval of Android's presets; other presets have one interval.
  public func profile(
    _ role: SessionConfiguration.Role? = nil, updateRate: UpdateRate = .frequent
  ) -> SessionProfile {
    let role = role ?? (self == .nearbyInteraction ? .controlee : .controller)
    if role.isOneWay { return oneWayProfile(role) }
    let own: UInt8 = role == .controller ? 0 : 1
    let end: UInt8 = role == .controller ? 1 : 0
    var special = [
      TLV(.deviceType, [end]), TLV(.deviceRole, [end]), TLV(.deviceMACAddress, [own, 0]),
      TLV(.dstMACAddress, [1 - own, 0]), TLV(.numberOfControlees, [1]),
    ]
    special += androidConfiguration.map { Self.values($0, role, updateRate) } ?? values
    let ids = Set(special.map(\.id))
    // A provisioned STS comes from the session key, so the vendor ID and the IV of a static STS are
    // left out.
    let unused: [AppConfigID] =
      androidConfiguration?.stsConfig ?? 0 == 0 ? [] : [.vendorID, .staticSTSIV]
    let shared = Self.common.filter { tlv in
      !ids.contains(tlv.id) && !unused.contains { $0.rawValue == tlv.id }
    }
    return SessionProfile(
      sessionID: self == .nearbyInteraction ? 24_488 : 42, parameters: shared + special)
  }

  /// Returns the profile of an end of one-way ranging. The values are FiRa's; the values of a
  /// downlink tag are Android's.
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
      // The source of these values is androidx.core.uwb, CONFIG_DL_TDOA_DT_TAG.
      session.slotsPerRound = 20
      session.hopping = true
      session.preambleCode = 11
    }
    return SessionProfile(session)
  }

  // The parameters of all presets. Firmware needs each of them before it starts.
  private static let common: [TLV] = [
    TLV(.multiNodeMode, [0]), TLV(.rangingRoundUsage, [2]), TLV(.scheduleMode, [1]),
    TLV(.macAddressMode, [0]), TLV(.channelNumber, [9]), TLV(.preambleCodeIndex, [10]),
    TLV(.sfdID, [2]), TLV(.rframeConfig, [3]), TLV(.slotDuration, [0x60, 0x09]),
    TLV(.slotsPerRR, [25]), TLV(.rangingDuration, [200, 0, 0, 0]), TLV(.stsConfig, [0]),
    TLV(.vendorID, [0x08, 0x07]), TLV(.staticSTSIV, [1, 2, 3, 4, 5, 6]), TLV(.stsLength, [1]),
    TLV(.hoppingMode, [0]),
  ]

  // Sources: for qorvo-kit, the packets of the tool; for nearby-interaction, published captures of
  // accessories and constants in AOSP.
  private var values: [TLV] {
    switch self {
    case .qorvoKit:
      [
        TLV(.aoaResultRequest, [1]), TLV(.resultReportConfig, [0x0B]),
        TLV(.uwbInitiationTime, [UInt8](repeating: 0, count: 8)),
        TLV(.maxNumberOfMeasurements, [0, 0]), TLV(.rssiReporting, [0]),
        TLV(.blockStrideLength, [0]), TLV(.keyRotationRate, [0]),
      ]
    case .nearbyInteraction:
      [
        TLV(.preambleCodeIndex, [11]), TLV(.slotsPerRR, [6]), TLV(.slotDuration, [0x10, 0x0E]),
        TLV(.rangingDuration, [198, 0, 0, 0]), TLV(.vendorID, [0x4C, 0x00]),
        TLV(.staticSTSIV, [0x39, 0x7B, 0x28, 0xD4, 0xB8, 0xD7]), TLV(.rangingRoundControl, [3]),
        TLV(.resultReportConfig, [1]), TLV(.maxRRRetry, [0, 0]),
      ]
    default: [TLV(.aoaResultRequest, [1]), TLV(.resultReportConfig, [1])]
    }
  }

  /// Returns the values of Android's configuration for one end, with a placeholder as the key.
  private static func values(
    _ configuration: AndroidConfiguration, _ role: SessionConfiguration.Role, _ rate: UpdateRate
  ) -> [TLV] {
    var list =
      configuration.parameters + [
        TLV(.preambleCodeIndex, [9]), TLV(.rssiReporting, [1]),
        TLV(.aoaResultRequest, [configuration.measuresAngles ? 1 : 0]),
        TLV(.rangingDuration, UInt32(configuration.interval(rate)).littleEndianBytes),
      ]
    if configuration.stsConfig != 0 { list.append(TLV(.sessionKey, [UInt8](0..<16))) }
    if configuration.stsConfig == 4, role == .controlee {
      list += [TLV(.subSessionID, [1, 0, 0, 0]), TLV(.subSessionKey, [UInt8](16..<32))]
    }
    return list
  }
}
