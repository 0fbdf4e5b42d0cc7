// SPDX-License-Identifier: Apache-2.0

import UCI

/// One end of a session, as far as it is known.
package struct SessionPeerConfiguration: Hashable, Sendable {
  /// The id, which both ends have to share; nil where it is unknown.
  package var sessionID: UInt32?
  /// The parameters of this end.
  package var parameters: SessionParameters
  /// Whether the parameters were read from a chip: a missing parameter is then unknown. Otherwise
  /// the host did not set it, and its default counts.
  package var isReadBack: Bool

  /// Creates an end from its parts.
  package init(sessionID: UInt32?, parameters: SessionParameters, isReadBack: Bool = false) {
    self.sessionID = sessionID
    self.parameters = parameters
    self.isReadBack = isReadBack
  }
}

/// A difference between two ends of a session.
package struct SessionDifference: Hashable, Sendable {
  /// The consequence of a difference.
  package enum Effect: Int, Hashable, Sendable, CaseIterable {
    /// The ends do not range with each other.
    case preventsRanging
    /// One of the values is hidden, or known only to a chip.
    case notKnown
    /// Each end may have its own value.
    case doesNotMatter
  }

  /// The consequence.
  package let effect: Effect
  /// A parameter's name, or `SESSION_ID` or `SESSION_TYPE`.
  package let name: String
  /// The value as users write it, `(hidden)` for secrets, `(default)` after a default; nil where it
  /// is unknown.
  package let first: String?
  /// The value of the other end.
  package let second: String?
  /// The reason of the consequence, in one sentence.
  package let reason: String

  /// Creates a difference from its parts.
  package init(_ effect: Effect, _ name: String, _ first: String?, _ second: String?, _ why: String)
  {
    self.effect = effect
    self.name = name
    self.first = first
    self.second = second
    reason = why
  }
}

extension SessionPeerConfiguration {
  /// Returns the differences of two ends, beginning with the differences that prevent ranging.
  ///
  /// Parameters that are not set count with their defaults.
  package func differences(from other: SessionPeerConfiguration) -> [SessionDifference] {
    var found = identity(other) + roles(other) + addresses(other)
    let ids = Set((parameters.list + other.parameters.list).map(\.id)).sorted().map {
      AppConfigID(rawValue: $0)
    }
    for id in ids where !Self.crossed.contains(id) {
      guard let verdict = verdict(id, other) else { continue }
      found.append(.init(verdict.effect, id.name, text(id), other.text(id), verdict.sentence))
    }
    return SessionDifference.Effect.allCases.flatMap { effect in
      found.filter { $0.effect == effect }
    }
  }

  // The parameters that are compared crosswise or together rather than one by one.
  private static let crossed: [AppConfigID] = [
    .deviceType, .deviceRole, .deviceMACAddress, .dstMACAddress,
  ]

  private func identity(_ other: SessionPeerConfiguration) -> [SessionDifference] {
    var found: [SessionDifference] = []
    if let a = sessionID, let b = other.sessionID, a != b {
      found.append(
        .init(
          .preventsRanging, "SESSION_ID", "\(a)", "\(b)",
          "The keys on the air are derived from it, and no error reports the mistake."))
    }
    let (a, b) = (parameters.type, other.parameters.type)
    if a != b {
      let bothRange = a.isRanging && b.isRanging
      found.append(
        .init(
          bothRange ? .doesNotMatter : .preventsRanging, "SESSION_TYPE", "\(a.rawValue)",
          "\(b.rawValue)",
          bothRange ? "Both kinds of session range." : "Only one of these kinds of session ranges.")
      )
    }
    return found
  }

  private func roles(_ other: SessionPeerConfiguration) -> [SessionDifference] {
    var found: [SessionDifference] = []
    for (id, words) in [
      (AppConfigID.deviceType, "One end has to be the controller, the other a controlee"),
      (.deviceRole, "One end has to be the initiator, the other a responder"),
    ] {
      let (a, b) = (parameters.number(id), other.parameters.number(id))
      guard let known = a ?? b, a != b || known <= 1 else { continue }
      let effect: SessionDifference.Effect =
        a == nil || b == nil ? .notKnown : a == b ? .preventsRanging : .doesNotMatter
      let end =
        switch effect {
        case .preventsRanging: ": both are the same."
        case .notKnown: ": of one it is not known."
        case .doesNotMatter: "."
        }
      found.append(.init(effect, id.name, text(id), other.text(id), words + end))
    }
    return found
  }

  /// Checks that each end is among the peers of the other.
  private func addresses(_ other: SessionPeerConfiguration) -> [SessionDifference] {
    func check(_ a: SessionPeerConfiguration, _ b: SessionPeerConfiguration, _ isSwapped: Bool)
      -> SessionDifference?
    {
      guard let own = a.parameters.address, b.parameters.isSet(.dstMACAddress),
        !b.parameters.destinations.contains(own)
      else { return nil }
      let turned = MACAddress(bytes: own.bytes.reversed())
      let isTurned = turned.map { b.parameters.destinations.contains($0) } ?? false
      let (mine, theirs) = ("own \(own)", "peers \(b.text(.dstMACAddress) ?? "")")
      return .init(
        .preventsRanging, AppConfigID.dstMACAddress.name, isSwapped ? theirs : mine,
        isSwapped ? mine : theirs,
        isTurned
          ? "The address is the same with its bytes in the other order: UCI wants the lowest first."
          : "An end has to be among the peers of the other.")
    }
    var found = [check(self, other, false), check(other, self, true)].compactMap(\.self)
    if let a = parameters.address, let b = other.parameters.address {
      let (first, second) = ("own \(a)", "own \(b)")
      if a == b {
        found.append(
          .init(
            .preventsRanging, AppConfigID.deviceMACAddress.name, first, second,
            "Both ends have the same address."))
      } else if found.isEmpty {
        found.append(
          .init(
            .doesNotMatter, AppConfigID.deviceMACAddress.name, first, second,
            "Each end needs an address of its own."))
      }
    }
    return found
  }

  /// Returns the value as text; nil where there is no value and no default.
  func text(_ id: AppConfigID) -> String? {
    if let value = parameters[id] { return id.isSecret ? "(hidden)" : id.form().text(value) }
    guard !isReadBack, let number = parameters.defaultNumber(id) else { return nil }
    let lengths = id.form().lengths
    let length = lengths.first { $0 >= 8 || number >> (8 * UInt64($0)) == 0 } ?? 8
    return id.form().text(
      (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) })
      + " (default)"
  }
}

// The consequence of a difference in one parameter, and the reason.
//
// Sources: FiRa UCI as published in AOSP and pica; public reports of boards that did not range with
// phones (sasodoma/uwb-ranging, dustedrob/multi-platform-uwb).
extension SessionPeerConfiguration {
  typealias Verdict = (effect: SessionDifference.Effect, sentence: String)

  /// Returns the verdict; nil where the ends agree.
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
      return (.notKnown, "The chip does not report it.")
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

  /// Returns the reason why the ends may disagree; nil if they may not.
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
    // A controller keeps the sub-sessions of all its controlees in its multicast list.
    case .subSessionID, .subSessionKey: parameters.isSet(id) && parameters.isController != true
    default: parameters.row(id)?.scope == .equalOnBothPeers
    }
  }

  /// Returns the reason why neither end uses a parameter; nil if an end uses it.
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

  /// Detects the same bytes in reverse order: numbers written as bytes, or the opposite.
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
    .multiNodeMode:
      "The ends wait for different numbers of peers: where several controlees share the round, all "
      + "need one to many (--one-to-many).",
    .macAddressMode: "The frames have addresses of different lengths.",
    .macFCSType: "An end takes the other's frames for damaged.",
    .hoppingMode: "One end changes its round from block to block, the other in another way.",
    .blockStrideLength: "One end skips blocks in which the other ranges.",
    .keyRotation: "The keys of the ends change at different times.",
    .keyRotationRate: "The keys of the ends change at different times.",
  ]
}
