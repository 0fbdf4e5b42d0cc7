// SPDX-License-Identifier: Apache-2.0

import UCI

// Where the scrambled timestamp sequence comes from. No value is ever in a sentence.
extension ConfigurationCheck {
  private var config: UInt64 { number(.stsConfig) ?? 0 }

  func stsKeys() -> [ConfigurationProblem] {
    var problems: [ConfigurationProblem] = []
    let isControlee = parameters.isController == false
    switch config {
    case 0:
      let missing = [AppConfigID.vendorID, .staticSTSIV].filter { !isSet($0) }
      if !missing.isEmpty {
        problems.add(
          .advice,
          "A static STS without \(missing.map(\.name).joined(separator: " and ")): chips fill in "
            + "their own, which differ.", missing, try: "Set both at both ends.")
      }
    case 3, 4:
      if !isSet(.sessionKey) {
        problems.add(
          .advice,
          "A provisioned STS without SESSION_KEY: a chip without a secure element that holds the "
            + "key ends with SESSION_KEY_NOT_FOUND.", [.sessionKey], try: "Set SESSION_KEY.")
      }
    default: break
    }
    if [2, 4].contains(config), isControlee, !isSet(.subSessionID) {
      problems.add(
        .preventsRanging, "A controlee with a key of its own lacks SUB_SESSION_ID.",
        [.subSessionID], try: "Set the one that the controller has for this controlee.")
    }
    if config == 4, isControlee, !isSet(.subSessionKey) {
      problems.add(
        .preventsRanging, "A controlee with a provisioned key of its own lacks SUB_SESSION_KEY.",
        [.subSessionKey])
    }
    if number(.keyRotation) == 1 {
      if config == 4 {
        problems.add(
          .refusedByChip,
          "Key rotation has to be off with provisioned keys of their own for controlees.",
          [.keyRotation, .stsConfig])
      } else if config == 0 {
        problems.add(
          .advice, "Key rotation is on, and a static STS has no key to rotate.",
          [.keyRotation, .stsConfig], try: "Turn it off: some chips refuse it.")
      }
    }
    let longKey = [AppConfigID.sessionKey, .subSessionKey].filter { parameters[$0]?.count == 32 }
    if !longKey.isEmpty, let said = capabilities?[.sessionKeyLength]?.first {
      if said & (config >= 3 ? 0b10 : 0b01) == 0 {
        problems.add(.refusedByChip, "This chip takes session keys of 16 bytes only.", longKey)
      }
    }
    return problems
  }

  func stsUnused() -> [ConfigurationProblem] {
    let unused: [AppConfigID] =
      switch config {
      case 0: [.sessionKey, .subSessionKey, .subSessionID]
      case 1, 3: [.vendorID, .staticSTSIV, .subSessionKey, .subSessionID]
      case 2: [.vendorID, .staticSTSIV, .subSessionKey]
      case 4: [.vendorID, .staticSTSIV]
      default: []
      }
    let given = unused.filter { isSet($0) }
    guard !given.isEmpty else { return [] }
    return [
      .init(
        .advice,
        "\(given.map(\.name).joined(separator: ", ")) \(given.count == 1 ? "has" : "have") no effect "
          + "with STS_CONFIG \(text(.stsConfig)).", given)
    ]
  }
}
