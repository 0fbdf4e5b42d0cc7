// SPDX-License-Identifier: Apache-2.0

import UCI

// Rules for the required parameters, the ends, and the reports.
extension ConfigurationCheck {
  /// Checks the parameters of the specification without which a session stays in INIT.
  mutating func mandatory() {
    var ids: [AppConfigID] = [
      .deviceType, .deviceRole, .multiNodeMode, .rangingRoundUsage, .deviceMACAddress,
      .scheduleMode,
    ]
    // UL-TDoA and DL-TDoA have no controllers; Android sends a DT-tag no device type.
    if [0, 5].contains(parameters.usage) { ids.removeAll { $0 == .deviceType } }
    if parameters.isTwoWay, parameters.isScheduled { ids.append(.dstMACAddress) }
    for id in ids where !isSet(id) {
      add(
        .preventsRanging, "\(name(id)) is missing, without which a session does not become IDLE.",
        [id])
    }
  }

  /// Checks the parameters that some firmware needs in addition before a session starts. On other
  /// chips, the defaults of these parameters differ between the ends.
  mutating func startSet() {
    guard parameters.isTwoWay else { return }
    let missing = Self.practical.filter { !isSet($0) }
    guard !missing.isEmpty else { return }
    let names = missing.map { name($0) }.joined(separator: ", ")
    if Self.needsPracticalSet.contains(parameters.dialect.vendor) {
      return add(
        .preventsRanging,
        "\(names) \(missing.count == 1 ? "is" : "are") missing: this firmware accepts the session "
          + "and answers its start with ERROR_SESSION_NOT_CONFIGURED.", missing)
    }
    add(
      .advice,
      "\(names) \(missing.count == 1 ? "is" : "are") not set; chips and phones assume different "
        + "values, and some do not start.", missing, try: "Set the same values at both ends.")
  }

  // Source: a DWM3001CDK with QM33SDK 1.1.1, which needed these in addition to start; an SR250
  // starts without some of them.
  private static let practical: [AppConfigID] = [
    .channelNumber, .stsConfig, .rframeConfig, .preambleCodeIndex, .sfdID, .slotDuration,
    .rangingDuration, .slotsPerRR,
  ]
  private static let needsPracticalSet: [Dialect.Vendor] = [.qorvo]

  /// Checks whether role, type and usage belong together.
  mutating func roles() {
    guard let role = number(.deviceRole) else { return }
    let wanted: (roles: ClosedRange<UInt64>, words: String)? =
      switch parameters.usage {
      case 0: (2...4, "UT-sync anchor, UT-anchor or UT-tag")
      case 1...4, 7, 8: (0...1, "initiator or responder")
      case 5: (7...8, "DT-anchor or DT-tag")
      case 6: (5...6, "advertiser or observer")
      default: nil
      }
    if parameters.usage == 5, parameters.dialect.generation == .fira1 {
      add(
        .preventsRanging, "FiRa 1.x has no downlink TDoA.", [.rangingRoundUsage],
        try: "Use a chip with FiRa 2.0 or later; uwbctl info reports the version.")
    }
    guard let wanted, !wanted.roles.contains(role) else { return }
    add(
      .preventsRanging,
      "\(name(.deviceRole)) is \(text(.deviceRole)), which does not take part in "
        + "\(text(.rangingRoundUsage)).", [.deviceRole, .rangingRoundUsage],
      try: "Use \(wanted.words).")
  }

  mutating func controlees() {
    guard parameters.isTwoWay, let bytes = parameters[.dstMACAddress] else { return }
    guard bytes.count > 0, bytes.count % parameters.addressLength == 0 else {
      return add(
        .refusedByChip,
        "DST_MAC_ADDRESS has \(counted(bytes.count, "byte")), which is not a multiple of "
          + "\(parameters.addressLength).", [.dstMACAddress, .macAddressMode])
    }
    let peers = parameters.destinations
    switch parameters.isController {
    case false?:
      if peers.count != 1 {
        add(
          .preventsRanging,
          "A controlee has one controller, and DST_MAC_ADDRESS names \(peers.count).",
          [.dstMACAddress])
      }
    default:
      let count = number(.numberOfControlees) ?? 1
      if count != UInt64(peers.count) {
        add(
          .preventsRanging,
          "NUMBER_OF_CONTROLEES is \(text(.numberOfControlees)), and DST_MAC_ADDRESS names "
            + "\(peers.count).", [.numberOfControlees, .dstMACAddress],
          try: "Make NUMBER_OF_CONTROLEES \(peers.count).")
      }
      if peers.count > 1, number(.multiNodeMode) == 0 {
        add(
          .preventsRanging, "MULTI_NODE_MODE is unicast, and there are \(peers.count) controlees.",
          [.multiNodeMode], try: "Use one to many (1), at the controlees too.")
      }
    }
  }

  mutating func addresses() {
    if number(.macAddressMode) == 1 {
      add(
        .refusedByChip,
        "MAC_ADDRESS_MODE 1, extended addresses with short ones in the header, is on no known chip.",
        [.macAddressMode], try: "Use short addresses (0) or extended ones (2).")
    }
    if let own = parameters[.deviceMACAddress], [2, 8].contains(own.count),
      own.count != parameters.addressLength
    {
      add(
        .refusedByChip,
        "DEVICE_MAC_ADDRESS has \(own.count) bytes, and MAC_ADDRESS_MODE is "
          + "\(text(.macAddressMode)).", [.deviceMACAddress, .macAddressMode],
        try: "Use addresses of one length everywhere.")
    }
    let peers = parameters.destinations
    if let own = parameters.address, peers.contains(own) {
      add(
        .preventsRanging, "The device is its own peer: \(own) is in DST_MAC_ADDRESS.",
        [.dstMACAddress, .deviceMACAddress],
        try: "Put the other end's address into DST_MAC_ADDRESS.")
    }
    if Set(peers).count != peers.count {
      add(.preventsRanging, "A peer is named twice in DST_MAC_ADDRESS.", [.dstMACAddress])
    }
  }

  mutating func reports() {
    if let control = given(.rangingRoundControl) {
      if control & 0b10 == 0 {
        add(
          .refusedByChip,
          "RANGING_ROUND_CONTROL is without the control message, which has to be there.",
          [.rangingRoundControl], try: "Set bit 1: use 3.")
      } else if let taken = Self.roundControls[parameters.dialect.vendor], !taken.contains(control)
      {
        let list = taken.map { hex(UInt8($0)) }.joined(separator: ", ")
        add(
          .refusedByChip,
          "RANGING_ROUND_CONTROL is \(hex(UInt8(truncatingIfNeeded: control))); this firmware "
            + "takes \(list).", [.rangingRoundControl])
      }
      if control & 1 == 0, (1...2).contains(parameters.usage) {
        add(
          .advice,
          "RANGING_ROUND_CONTROL is without the result report: the end that lacks the last "
            + "timestamps gets no distance (65535).", [.rangingRoundControl],
          try: "Set bit 0 at both ends.")
      }
    }
    if let report = given(.resultReportConfig), report & 1 == 0,
      parameters.isTwoWay
    {
      add(
        .advice,
        "RESULT_REPORT_CONFIG is without the time of flight: the other end may get no distance.",
        [.resultReportConfig], try: "Set bit 0 at both ends.")
    }
    if number(.sessionInfoNotificationConfig) == 0 {
      add(
        .advice, "SESSION_INFO_NTF_CONFIG is off: this chip will report no measurements.",
        [.sessionInfoNotificationConfig])
    }
    if let near = number(.nearProximity), let far = number(.farProximity), near > far {
      add(
        .refusedByChip, "NEAR_PROXIMITY is beyond FAR_PROXIMITY.", [.nearProximity, .farProximity])
    }
  }

  // Source: DW3_QM33_SDK 1.1.0.
  private static let roundControls: [Dialect.Vendor: [UInt64]] = [.qorvo: [2, 3, 6, 7]]
}
