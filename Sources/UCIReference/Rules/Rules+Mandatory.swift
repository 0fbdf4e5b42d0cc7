// SPDX-License-Identifier: Apache-2.0

import UCI

// What has to be there at all.
extension ConfigurationCheck {
  /// The formal list, without which a session stays in INIT.
  func mandatory() -> [ConfigurationProblem] {
    var ids: [AppConfigID] = [
      .deviceType, .deviceRole, .multiNodeMode, .rangingRoundUsage, .deviceMACAddress,
      .scheduleMode,
    ]
    // UL-TDoA and DL-TDoA have no controllers; Android sends a DT-tag no device type.
    if [0, 5].contains(parameters.usage) { ids.removeAll { $0 == .deviceType } }
    if parameters.isTwoWay, parameters.isScheduled { ids.append(.dstMACAddress) }
    return ids.filter { !isSet($0) }.map {
      .init(
        .preventsRanging, "\(name($0)) is missing, without which a session does not become IDLE.",
        [$0])
    }
  }

  /// What firmwares want beyond the formal list before they start; elsewhere, what the two ends
  /// assume differently when it is not set.
  func startSet() -> [ConfigurationProblem] {
    guard parameters.isTwoWay else { return [] }
    let missing = Self.practical.filter { !isSet($0) }
    guard !missing.isEmpty else { return [] }
    let names = missing.map { name($0) }.joined(separator: ", ")
    if Self.needsPracticalSet.contains(parameters.dialect.vendor) {
      return [
        .init(
          .preventsRanging,
          "\(names) \(missing.count == 1 ? "is" : "are") missing: this firmware accepts the session "
            + "and answers its start with ERROR_SESSION_NOT_CONFIGURED.", missing)
      ]
    }
    return [
      .init(
        .advice,
        "\(names) \(missing.count == 1 ? "is" : "are") not set; chips and phones assume different "
          + "values, and some do not start.", missing, try: "Set the same values at both ends.")
    ]
  }

  // Source: a DWM3001CDK with QM33SDK 1.1.1, which started with these beside the formal list and not
  // without them; an SR250 starts without some of them.
  private static let practical: [AppConfigID] = [
    .channelNumber, .stsConfig, .rframeConfig, .preambleCodeIndex, .sfdID, .slotDuration,
    .rangingDuration, .slotsPerRR,
  ]
  private static let needsPracticalSet: [Dialect.Vendor] = [.qorvo]

  /// Whether role, type and usage belong together.
  func roles() -> [ConfigurationProblem] {
    guard let role = number(.deviceRole) else { return [] }
    let wanted: (roles: ClosedRange<UInt64>, words: String)? =
      switch parameters.usage {
      case 0: (2...4, "UT-sync anchor, UT-anchor or UT-tag")
      case 1...4, 7, 8: (0...1, "initiator or responder")
      case 5: (7...8, "DT-anchor or DT-tag")
      case 6: (5...6, "advertiser or observer")
      default: nil
      }
    guard let wanted, !wanted.roles.contains(role) else { return [] }
    return [
      .init(
        .preventsRanging,
        "\(name(.deviceRole)) is \(text(.deviceRole)), which does not take part in "
          + "\(text(.rangingRoundUsage)).", [.deviceRole, .rangingRoundUsage],
        try: "Use \(wanted.words).")
    ]
  }
}
