// SPDX-License-Identifier: Apache-2.0
public import UCI
package import UCIReference

/// One end of a session in a file: the id, the type, and the parameters by name, with units.
///
/// The file is JSON; comments, trailing commas and unquoted names (JSON5) are allowed:
///
/// ```
/// {
///   "session_id": 42,
///   "parameters": {
///     "DEVICE_TYPE": "controller",
///     "SLOT_DURATION": "2ms",  // or 2400
///   }
/// }
/// ```
public struct SessionProfile: Hashable, Sendable {
  /// The id of the session, equal at both ends.
  public var sessionID: UInt32
  /// The type of the session.
  public var type: SessionType
  /// The parameters in the order in which they are sent.
  public var parameters: [TLV]
  /// The ranging rounds of an anchor or a tag of downlink TDoA, which are not parameters. A tag
  /// only receives, so their `part` has no effect on it.
  public var rounds: [SessionConfiguration.DownlinkAnchor.Round]

  /// Creates a profile from its parts. Sorts the parameters into an order that strict parsers
  /// accept.
  public init(
    sessionID: UInt32, type: SessionType = .ranging, parameters: [TLV],
    rounds: [SessionConfiguration.DownlinkAnchor.Round] = []
  ) {
    self.sessionID = sessionID
    self.type = type
    self.parameters = Self.ordered(parameters)
    self.rounds = rounds
  }

  /// Creates the profile of a configuration.
  package init(_ configuration: SessionConfiguration) {
    let rounds: [SessionConfiguration.DownlinkAnchor.Round] =
      switch configuration.role {
      case .downlinkAnchor(let anchor): anchor.rounds
      case .downlinkTag(let tag): tag.rounds.map { .init($0, .responder) }
      default: []
      }
    self.init(
      sessionID: configuration.sessionID, type: configuration.type,
      parameters: configuration.parameters(for: Dialect.assumed.generation), rounds: rounds)
  }

  /// Whether several controlees share each ranging round (MULTI_NODE_MODE); equal at all ends.
  public var isOneToMany: Bool {
    get { parameters.contains(TLV(.multiNodeMode, [1])) }
    set {
      parameters.removeAll { $0.id == AppConfigID.multiNodeMode.rawValue }
      parameters = Self.ordered(parameters + [TLV(.multiNodeMode, [newValue ? 1 : 0])])
    }
  }

  /// Returns the parameters for chips with this dialect.
  package func parameters(for dialect: Dialect) -> SessionParameters {
    SessionParameters(parameters, dialect: dialect, type: type)
  }

  /// The first parameters in a file: the ends, and the parameters that determine the format of
  /// others.
  static let first: [AppConfigID] = [
    .deviceType, .deviceRole, .multiNodeMode, .rangingRoundUsage, .scheduleMode, .macAddressMode,
    .deviceMACAddress, .numberOfControlees, .dstMACAddress, .channelNumber, .preambleCodeIndex,
    .sfdID, .rframeConfig, .slotDuration, .slotsPerRR, .rangingDuration, .stsConfig, .vendorID,
    .staticSTSIV,
  ]

  static func ordered(_ parameters: [TLV]) -> [TLV] {
    func rank(_ tlv: TLV) -> (Int, UInt8) {
      (first.firstIndex(of: AppConfigID(rawValue: tlv.id)) ?? first.count, tlv.id)
    }
    return parameters.sorted { rank($0) < rank($1) }
  }
}

extension SessionType {
  /// The names of session types in profiles.
  static let names: [(name: String, type: SessionType)] = [
    ("ranging", .ranging), ("ranging with data", .rangingWithInBandData),
    ("data transfer", .dataTransfer), ("device test", .deviceTest),
  ]
}
