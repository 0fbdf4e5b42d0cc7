// SPDX-License-Identifier: Apache-2.0

import UCI

/// One end of a session, as far as it is known.
public struct SessionPeerConfiguration: Hashable, Sendable {
  /// The id that both ends have to share; nil where it is not known.
  public var sessionID: UInt32?
  /// Its parameters.
  public var parameters: SessionParameters
  /// Read from a chip: a parameter that is not there was not told. Otherwise the host did not set
  /// it, and its default counts.
  public var isReadBack: Bool

  /// An end from its parts.
  public init(sessionID: UInt32?, parameters: SessionParameters, isReadBack: Bool = false) {
    self.sessionID = sessionID
    self.parameters = parameters
    self.isReadBack = isReadBack
  }
}

/// Something in which two ends of a session differ.
public struct SessionDifference: Hashable, Sendable {
  /// What it leads to.
  public enum Effect: Int, Hashable, Sendable, CaseIterable {
    /// The ends do not range with each other.
    case preventsRanging
    /// One of the values is hidden, or known only to a chip.
    case notKnown
    /// Each end may have its own value.
    case doesNotMatter
  }

  /// What it leads to.
  public let effect: Effect
  /// A parameter's name, or `SESSION_ID` or `SESSION_TYPE`.
  public let name: String
  /// The value as people write it, `(hidden)` for secrets, `(default)` after one that is not set;
  /// nil where nothing is known.
  public let first: String?
  /// The value of the other end.
  public let second: String?
  /// Why it matters, or does not: one sentence.
  public let reason: String

  /// A difference from its parts.
  public init(_ effect: Effect, _ name: String, _ first: String?, _ second: String?, _ why: String)
  {
    self.effect = effect
    self.name = name
    self.first = first
    self.second = second
    reason = why
  }
}

extension SessionPeerConfiguration {
  /// In what two ends differ, what prevents ranging first.
  ///
  /// Parameters that are not set count with their defaults.
  public func differences(from other: SessionPeerConfiguration) -> [SessionDifference] {
    var found = identity(other) + roles(other) + addresses(other)
    let ids = Set((parameters.list + other.parameters.list).map(\.id)).sorted().map {
      AppConfigID(rawValue: $0)
    }
    for id in ids where !Self.crossed.contains(id) {
      guard let verdict = verdict(id, other) else { continue }
      found.add(verdict.effect, id.name, text(id), other.text(id), verdict.sentence)
    }
    return SessionDifference.Effect.allCases.flatMap { effect in
      found.filter { $0.effect == effect }
    }
  }

  // What is compared crosswise or together rather than for itself.
  private static let crossed: [AppConfigID] = [
    .deviceType, .deviceRole, .deviceMACAddress, .dstMACAddress,
  ]

  private func identity(_ other: SessionPeerConfiguration) -> [SessionDifference] {
    var found: [SessionDifference] = []
    if let a = sessionID, let b = other.sessionID, a != b {
      found.add(
        .preventsRanging, "SESSION_ID", "\(a)", "\(b)",
        "The keys on the air are derived from it, and no error tells of the mistake.")
    }
    let (a, b) = (parameters.type, other.parameters.type)
    if a != b {
      let bothRange = a.isRanging && b.isRanging
      found.add(
        bothRange ? .doesNotMatter : .preventsRanging, "SESSION_TYPE", "\(a.rawValue)",
        "\(b.rawValue)",
        bothRange ? "Both kinds of session range." : "Only one of these kinds of session ranges.")
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
      found.add(effect, id.name, text(id), other.text(id), words + end)
    }
    return found
  }

  /// Each end has to be among the peers of the other.
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
        found.add(
          .preventsRanging, AppConfigID.deviceMACAddress.name, first, second,
          "Both ends have the same address.")
      } else if found.isEmpty {
        found.add(
          .doesNotMatter, AppConfigID.deviceMACAddress.name, first, second,
          "Each end needs an address of its own.")
      }
    }
    return found
  }

  /// The value as text; nil where there is no value and no default.
  func text(_ id: AppConfigID) -> String? {
    if let value = parameters[id] { return id.isSecret ? "(hidden)" : id.form.text(value) }
    guard !isReadBack, let number = parameters.defaultNumber(id) else { return nil }
    let lengths = id.form.lengths
    let length = lengths.first { $0 >= 8 || number >> (8 * UInt64($0)) == 0 } ?? 8
    return id.form.text((0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) })
      + " (default)"
  }
}

extension [SessionDifference] {
  fileprivate mutating func add(
    _ effect: SessionDifference.Effect, _ name: String, _ first: String?, _ second: String?,
    _ why: String
  ) { append(.init(effect, name, first, second, why)) }
}
