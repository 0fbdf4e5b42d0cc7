// SPDX-License-Identifier: Apache-2.0
public import UCI
public import UCIReference

/// One end of a session as a file: its id, its type and its parameters by name, with units.
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
  /// The same at both ends.
  public var sessionID: UInt32
  /// What the session is for.
  public var type: SessionType
  /// The parameters in the order in which they are sent.
  public var parameters: [TLV]

  /// A profile from its parts; the parameters are put into an order that strict parsers accept.
  public init(sessionID: UInt32, type: SessionType = .ranging, parameters: [TLV]) {
    self.sessionID = sessionID
    self.type = type
    self.parameters = Self.ordered(parameters)
  }

  /// The parameters for a chip that speaks like this.
  public func parameters(for dialect: Dialect) -> SessionParameters {
    SessionParameters(parameters, dialect: dialect, type: type)
  }

  /// What is written first: who this is, and what others are read by.
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
  /// The words that a profile has for session types.
  static let names: [(name: String, type: SessionType)] = [
    ("ranging", .ranging), ("ranging with data", .rangingWithInBandData),
    ("data transfer", .dataTransfer), ("device test", .deviceTest),
  ]
}
