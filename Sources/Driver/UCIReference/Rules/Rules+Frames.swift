// SPDX-License-Identifier: Apache-2.0

import UCI

// Rules for the combinations of preamble, SFD, PRF and RFRAME that the host sets. Also rules for
// the source of the scrambled timestamp sequence, whose sentences contain no values.
extension ConfigurationCheck {
  private var isHPRF: Bool { (number(.prfMode) ?? 0) > 0 }
  private var prf: String { isHPRF ? "HPRF" : "BPRF" }

  mutating func physical() {
    if let code = given(.preambleCodeIndex) {
      let codes: ClosedRange<UInt64> = isHPRF ? 25...32 : 9...12
      if !codes.contains(code) {
        add(
          .preventsRanging, "Preamble code \(code) does not belong to \(prf).",
          [.preambleCodeIndex, .prfMode],
          try: (25...32).contains(code) && !isHPRF
            ? "Use 9…12, or set PRF_MODE to HPRF at both ends."
            : "Use \(codes.lowerBound)…\(codes.upperBound).")
      }
    }
    if let sfd = given(.sfdID) {
      if isHPRF ? !(1...4).contains(sfd) : ![0, 2].contains(sfd) {
        add(
          .preventsRanging, "SFD \(sfd) does not belong to \(prf).", [.sfdID, .prfMode],
          try: isHPRF ? "Use 1…4." : "Use 2, or 0.")
      }
    }
    if given(.preambleDuration) == 0, !isHPRF {
      add(
        .refusedByChip, "A preamble of 32 symbols exists with HPRF only.",
        [.preambleDuration, .prfMode], try: "Use 64 symbols (1).")
    }
    if let rate = given(.psduDataRate), (1...3).contains(rate), !isHPRF {
      add(
        .refusedByChip, "A PSDU at \(text(.psduDataRate)) exists with HPRF only.",
        [.psduDataRate, .prfMode], try: "Use 6.81 Mbit/s (0).")
    }
  }

  mutating func frames() {
    let frame = number(.rframeConfig) ?? 3
    if let segments = given(.numberOfSTSSegments) {
      let allowed: ClosedRange<UInt64> = frame == 0 ? 0...0 : isHPRF ? 1...4 : 1...1
      if !allowed.contains(segments) {
        add(
          .refusedByChip,
          "\(segments) STS segments do not go with \(text(.rframeConfig)) and \(prf).",
          [.numberOfSTSSegments, .rframeConfig],
          try: "Use \(allowed.lowerBound)" + (allowed.count > 1 ? "…\(allowed.upperBound)." : "."))
      }
    }
    if given(.rframeConfig) == 3, [0, 5, 6].contains(parameters.usage) {
      add(
        .preventsRanging,
        "SP3 frames have no payload, which \(text(.rangingRoundUsage)) needs for its messages.",
        [.rframeConfig], try: "Use SP1 (1) at all ends.")
    }
    if frame == 0, parameters.isTwoWay {
      add(
        .advice, "SP0 frames carry no STS; two-way ranging is done with SP1 or SP3.",
        [.rframeConfig], try: "Use SP3 (3) unless the other end has SP0 too.")
    }
  }

  private var config: UInt64 { number(.stsConfig) ?? 0 }

  mutating func stsKeys() {
    let isControlee = parameters.isController == false
    switch config {
    case 0:
      let missing = [AppConfigID.vendorID, .staticSTSIV].filter { !isSet($0) }
      if !missing.isEmpty {
        add(
          .advice,
          "A static STS without \(missing.map(\.name).joined(separator: " and ")): chips fill in "
            + "their own, which differ.", missing, try: "Set both at both ends.")
      }
    case 3, 4:
      if !isSet(.sessionKey) {
        add(
          .advice,
          "A provisioned STS without SESSION_KEY: a chip without a secure element that holds the "
            + "key ends with SESSION_KEY_NOT_FOUND.", [.sessionKey], try: "Set SESSION_KEY.")
      }
    default: break
    }
    if [2, 4].contains(config), isControlee, !isSet(.subSessionID) {
      add(
        .preventsRanging, "A controlee with a key of its own lacks SUB_SESSION_ID.",
        [.subSessionID], try: "Set the id that the controller has for this controlee.")
    }
    if config == 4, isControlee, !isSet(.subSessionKey) {
      add(
        .preventsRanging, "A controlee with a provisioned key of its own lacks SUB_SESSION_KEY.",
        [.subSessionKey])
    }
    if number(.keyRotation) == 1 {
      if config == 4 {
        add(
          .refusedByChip,
          "Key rotation has to be off with provisioned keys of their own for controlees.",
          [.keyRotation, .stsConfig])
      } else if config == 0 {
        add(
          .advice, "Key rotation is on, and a static STS has no key to rotate.",
          [.keyRotation, .stsConfig], try: "Turn it off: some chips refuse it.")
      }
    }
    let longKey = [AppConfigID.sessionKey, .subSessionKey].filter { parameters[$0]?.count == 32 }
    if !longKey.isEmpty, let said = capabilities?[.sessionKeyLength]?.first {
      if said & (config >= 3 ? 0b10 : 0b01) == 0 {
        add(
          .warning, "This chip lists session keys of 16 bytes only.", longKey,
          try: "If the chip refuses it, use a key of 16 bytes at both ends.")
      }
    }
  }

  mutating func stsUnused() {
    let unused: [AppConfigID] =
      switch config {
      case 0: [.sessionKey, .subSessionKey, .subSessionID]
      case 1, 3: [.vendorID, .staticSTSIV, .subSessionKey, .subSessionID]
      case 2: [.vendorID, .staticSTSIV, .subSessionKey]
      case 4: [.vendorID, .staticSTSIV]
      default: []
      }
    let given = unused.filter { isSet($0) }
    guard !given.isEmpty else { return }
    add(
      .advice,
      "\(given.map(\.name).joined(separator: ", ")) \(given.count == 1 ? "has" : "have") no effect "
        + "with STS_CONFIG \(text(.stsConfig)).", given)
  }
}
