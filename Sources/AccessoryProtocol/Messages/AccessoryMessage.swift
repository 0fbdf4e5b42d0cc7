// SPDX-License-Identifier: Apache-2.0

/// A message from the accessory to the app: one byte that says which, then its data.
public enum AccessoryMessage: Sendable, Hashable {
  /// 0x01: the accessory's configuration data, as it came.
  case accessoryConfigurationData([UInt8])
  /// 0x02: the accessory ranges.
  case accessoryUwbDidStart
  /// 0x03: the accessory ranges no more.
  case accessoryUwbDidStop

  /// Reads a message.
  ///
  /// - Throws: `AccessoryProtocolError.emptyMessage` or `.unknownMessage`.
  public init(_ bytes: [UInt8]) throws(AccessoryProtocolError) {
    guard let id = bytes.first else { throw .emptyMessage }
    switch id {
    case 0x01: self = .accessoryConfigurationData(Array(bytes.dropFirst()))
    case 0x02: self = .accessoryUwbDidStart
    case 0x03: self = .accessoryUwbDidStop
    default: throw .unknownMessage(id)
    }
  }

  /// The bytes as they are sent.
  public var bytes: [UInt8] {
    switch self {
    case .accessoryConfigurationData(let data): [0x01] + data
    case .accessoryUwbDidStart: [0x02]
    case .accessoryUwbDidStop: [0x03]
    }
  }
}
