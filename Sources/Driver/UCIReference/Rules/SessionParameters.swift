// SPDX-License-Identifier: Apache-2.0

public import UCI

/// The parameters of one end of a session as they go on the wire, with the defaults of those that
/// are not set.
public struct SessionParameters: Hashable, Sendable {
  /// As they are sent, in their order.
  public var list: [TLV]
  /// How the chip that gets them speaks.
  public var dialect: Dialect
  /// What the session is for.
  public var type: SessionType

  /// The parameters of one or more SESSION_SET_APP_CONFIG.
  public init(_ list: [TLV], dialect: Dialect = .assumed, type: SessionType = .ranging) {
    self.list = list
    self.dialect = dialect
    self.type = type
  }

  /// The value that was set, the last one where there are several; nil where none was.
  package subscript(id: AppConfigID) -> [UInt8]? { list.last { $0.id == id.rawValue }?.value }

  /// Whether the host gives a value.
  package func isSet(_ id: AppConfigID) -> Bool { self[id] != nil }

  /// What is known of a parameter for this chip.
  package func row(_ id: AppConfigID) -> AppConfigParameter? {
    id.parameter(in: dialect, length: self[id]?.count)
  }

  /// The value as a number, or the default; nil where there is neither, or no number.
  package func number(_ id: AppConfigID) -> UInt64? {
    if let value = self[id] { return TLV(id, value).integer }
    return defaultNumber(id)
  }

  /// What the chip assumes when the host says nothing; nil where there is no default.
  package func defaultNumber(_ id: AppConfigID) -> UInt64? {
    // Contention: measurement by control message only, no control phase.
    if id == .rangingRoundControl, number(.scheduleMode) == 0 { return 6 }
    return row(id)?.defaultValue
  }

  package var addressLength: Int { number(.macAddressMode) == 2 ? 8 : 2 }

  /// The peers, as far as DST_MAC_ADDRESS holds whole addresses.
  package var destinations: [MACAddress] { addresses(self[.dstMACAddress] ?? []) }

  /// This device; nil where DEVICE_MAC_ADDRESS is missing or of another length.
  package var address: MACAddress? { self[.deviceMACAddress].flatMap { MACAddress(bytes: $0) } }

  private func addresses(_ bytes: [UInt8]) -> [MACAddress] {
    bytes.chunks(of: addressLength)?.compactMap { MACAddress(bytes: $0) } ?? []
  }

  /// Controller (true) or controlee; nil where the host does not say.
  package var isController: Bool? { self[.deviceType].flatMap(\.first).map { $0 == 1 } }

  /// How a round measures, as RANGING_ROUND_USAGE.
  var usage: UInt64 { number(.rangingRoundUsage) ?? 2 }
  /// Distances by frames in both directions.
  var isTwoWay: Bool { [1, 2, 3, 4, 7, 8].contains(usage) }
  /// Responders are addressed one by one rather than answering when they like.
  var isScheduled: Bool { number(.scheduleMode) == 1 }

  /// How many controlees take part: as many as the controller says, or as its addresses name.
  var controlees: Int {
    if isController == false { return 1 }
    return Int(clamping: self[.numberOfControlees].flatMap(\.first) ?? 0).nonZero ?? destinations
      .count.nonZero ?? 1
  }
}

extension Int { fileprivate var nonZero: Int? { self == 0 ? nil : self } }
