// SPDX-License-Identifier: Apache-2.0

import UCI

// What a difference in one parameter leads to, and why.
//
// Sources: FiRa UCI as published in AOSP and pica; public reports of boards that did not range with
// phones (sasodoma/uwb-ranging, dustedrob/multi-platform-uwb).
extension SessionPeerConfiguration {
  typealias Verdict = (effect: SessionDifference.Effect, sentence: String)

  /// Nil where the ends agree.
  func verdict(_ id: AppConfigID, _ other: SessionPeerConfiguration) -> Verdict? {
    let (a, b) = (parameters[id], other.parameters[id])
    if id.isSecret, Self.isBlank(a) || Self.isBlank(b), unused(id, other) == nil {
      return (.notKnown, "Captures have zeros for keys unless they are asked to include them.")
    }
    if let a, let b {
      let (m, n) = (parameters.number(id), other.parameters.number(id))
      guard a != b, m == nil || m != n else { return nil }
      return disagreement(id, other) ?? swapped(id, other) ?? (.preventsRanging, Self.why(id))
    }
    let (known, missing) = a == nil ? (other, self) : (self, other)
    if missing.isReadBack {
      guard isAgreed(id), unused(id, other) == nil else { return disagreement(id, other) }
      return (.notKnown, "The chip does not tell it.")
    }
    if let number = missing.parameters.defaultNumber(id) {
      guard known.parameters.number(id) != number else { return nil }
      return disagreement(id, other) ?? (.preventsRanging, Self.why(id))
    }
    if let verdict = disagreement(id, other) { return verdict }
    return [.vendorID, .staticSTSIV].contains(id)
      ? (.preventsRanging, "One end leaves it to its chip, which has a value of its own.")
      : (.notKnown, "One end leaves it to its chip.")
  }

  /// Why the ends may disagree; nil where they may not.
  private func disagreement(_ id: AppConfigID, _ other: SessionPeerConfiguration) -> Verdict? {
    if let sentence = unused(id, other) { return (.doesNotMatter, sentence) }
    if id == .resultReportConfig {
      return (
        .doesNotMatter, "The ends report different things; distances are measured all the same."
      )
    }
    return isAgreed(id) ? nil : (.doesNotMatter, "Each end has its own.")
  }

  private func isAgreed(_ id: AppConfigID) -> Bool {
    switch id {
    case .hoppingMode, .blockStrideLength: true
    // A controller has those of all its controlees elsewhere.
    case .subSessionID, .subSessionKey: parameters.isSet(id) && parameters.isController != true
    default: parameters.row(id)?.scope == .equalOnBothPeers
    }
  }

  /// Why neither end uses it; nil where one does.
  private func unused(_ id: AppConfigID, _ other: SessionPeerConfiguration) -> String? {
    let configs = [self, other].map { $0.parameters.number(.stsConfig) ?? 0 }
    switch id {
    case .vendorID, .staticSTSIV:
      return configs.contains { $0 != 0 } ? "Only a static STS uses it." : nil
    case .sessionKey, .subSessionKey, .subSessionID, .keyRotation, .keyRotationRate:
      if configs.contains(0) { return "A static STS does not use it." }
      let rotates = [self, other].contains { $0.parameters.number(.keyRotation) == 1 }
      return id == .keyRotationRate && !rotates ? "Keys do not rotate." : nil
    default: return nil
    }
  }

  /// The same bytes in reverse order: numbers written as bytes, or the opposite.
  private func swapped(_ id: AppConfigID, _ other: SessionPeerConfiguration) -> Verdict? {
    guard id == .vendorID || id.isSecret, let a = parameters[id], let b = other.parameters[id]
    else { return nil }
    if a == b.reversed() {
      return (
        .preventsRanging,
        "The bytes are the same in the other order: on the wire the number 0x0708 is 08 07."
      )
    }
    let whole = [self, other].map {
      ($0.parameters[.vendorID] ?? []) + ($0.parameters[.staticSTSIV] ?? [])
    }
    guard [.vendorID, .staticSTSIV].contains(id), whole[0] == whole[1].reversed() else {
      return nil
    }
    return (
      .preventsRanging,
      "The eight bytes of VENDOR_ID and STATIC_STS_IV are the same in the other order."
    )
  }

  private static func isBlank(_ value: [UInt8]?) -> Bool { value?.allSatisfy { $0 == 0 } ?? false }

  private static func why(_ id: AppConfigID) -> String { reasons[id] ?? "Both ends need the same." }

  private static let reasons: [AppConfigID: String] = [
    .channelNumber: "The ends listen on different frequencies.",
    .preambleCodeIndex: "An end does not recognise the other's preamble.",
    .preambleDuration: "The frames have preambles of different lengths.",
    .sfdID: "An end does not recognise where the other's frames begin.",
    .rframeConfig: "The frames have their parts in different positions.",
    .prfMode: "The pulses come at different rates.",
    .psduDataRate: "An end cannot read the other's payload.",
    .bprfPHRDataRate: "An end cannot read the other's header.",
    .stsConfig: "The timestamp sequences come from different keys.",
    .vendorID: "It is a part of the static STS: the timestamp sequences differ.",
    .staticSTSIV: "It is a part of the static STS: the timestamp sequences differ.",
    .sessionKey: "The timestamp sequences come from different keys.",
    .subSessionKey: "The timestamp sequences come from different keys.",
    .stsIndex: "The timestamp sequences begin at different positions.",
    .stsLength: "The frames have different lengths.",
    .numberOfSTSSegments: "The frames have different lengths.",
    .slotDuration: "Answers come when the other end does not listen.",
    .slotsPerRR: "The rounds have different lengths.",
    .rangingDuration: "The ends wake at different times.",
    .rangingRoundUsage: "The ends wait for different frames.",
    .rangingRoundControl: "The ends wait for different frames.",
    .scheduleMode: "The ends send by different rules.",
    .multiNodeMode: "The ends wait for different numbers of peers.",
    .macAddressMode: "The frames have addresses of different lengths.",
    .macFCSType: "An end takes the other's frames for damaged.",
    .hoppingMode: "One end changes its round from block to block, the other in another way.",
    .blockStrideLength: "One end skips blocks in which the other ranges.",
    .keyRotation: "The keys of the ends change at different times.",
    .keyRotationRate: "The keys of the ends change at different times.",
  ]
}
