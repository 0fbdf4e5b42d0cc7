// SPDX-License-Identifier: Apache-2.0

public import UCI

/// The parameters of one end of a session in the order of the wire, with defaults for missing ones.
public struct SessionParameters: Hashable, Sendable {
  /// The parameters in the order of sending.
  public var list: [TLV]
  /// The dialect of the receiving chip.
  public var dialect: Dialect
  /// The type of the session.
  public var type: SessionType

  /// Creates a value from the parameters of one or more SESSION_SET_APP_CONFIG.
  public init(_ list: [TLV], dialect: Dialect = .assumed, type: SessionType = .ranging) {
    self.list = list
    self.dialect = dialect
    self.type = type
  }

  /// Returns the value that was set; the last value if there are several; nil if there is none.
  package subscript(id: AppConfigID) -> [UInt8]? { list.last { $0.id == id.rawValue }?.value }

  /// Returns whether the host sets a value.
  package func isSet(_ id: AppConfigID) -> Bool { self[id] != nil }

  /// Returns the description of a parameter for this chip.
  package func row(_ id: AppConfigID) -> AppConfigParameter? {
    id.parameter(in: dialect, length: self[id]?.count)
  }

  /// Returns the value as a number, or the default; nil without either, or if the value is not a
  /// number.
  package func number(_ id: AppConfigID) -> UInt64? {
    if let value = self[id] { return TLV(id, value).integer }
    return defaultNumber(id)
  }

  /// Returns the default when the host sends no value; nil if there is none.
  package func defaultNumber(_ id: AppConfigID) -> UInt64? {
    // Contention: measurement by control message only, no control phase.
    if id == .rangingRoundControl, number(.scheduleMode) == 0 { return 6 }
    return row(id)?.defaultValue
  }

  package var addressLength: Int { number(.macAddressMode) == 2 ? 8 : 2 }

  /// The addresses of the peers, as far as DST_MAC_ADDRESS holds whole addresses.
  package var destinations: [MACAddress] { addresses(self[.dstMACAddress] ?? []) }

  /// The address of this device; nil if DEVICE_MAC_ADDRESS is missing or has another length.
  package var address: MACAddress? { self[.deviceMACAddress].flatMap { MACAddress(bytes: $0) } }

  private func addresses(_ bytes: [UInt8]) -> [MACAddress] {
    bytes.chunks(of: addressLength)?.compactMap { MACAddress(bytes: $0) } ?? []
  }

  /// Whether this end is the controller; nil if the host does not set it.
  package var isController: Bool? { self[.deviceType].flatMap(\.first).map { $0 == 1 } }

  /// The method of measuring in a round, as RANGING_ROUND_USAGE.
  var usage: UInt64 { number(.rangingRoundUsage) ?? 2 }
  /// Whether distances are measured by frames in both directions.
  var isTwoWay: Bool { [1, 2, 3, 4, 7, 8].contains(usage) }
  /// Whether responders are addressed one by one, rather than choosing their slots.
  var isScheduled: Bool { number(.scheduleMode) == 1 }

  /// The number of controlees: the controller's number, or the number of its addresses.
  var controlees: Int {
    if isController == false { return 1 }
    return Int(clamping: self[.numberOfControlees].flatMap(\.first) ?? 0).nonZero ?? destinations
      .count.nonZero ?? 1
  }
}

extension Int { fileprivate var nonZero: Int? { self == 0 ? nil : self } }
