// SPDX-License-Identifier: Apache-2.0

/// A message from the accessory to the app: an identifier of one byte, then its data.
public enum AccessoryMessage: Sendable, Hashable {
  /// 0x01: the accessory's configuration data, not decoded.
  case accessoryConfigurationData([UInt8])
  /// 0x02: the accessory ranges.
  case accessoryUwbDidStart
  /// 0x03: the accessory no longer ranges.
  case accessoryUwbDidStop

  /// Decodes a message.
  ///
  /// - Throws: `AccessoryError` with the code `.invalidMessage`.
  public init(_ bytes: [UInt8]) throws(AccessoryError) {
    guard let id = bytes.first else { throw AccessoryError(.emptyMessage) }
    switch id {
    case 0x01: self = .accessoryConfigurationData(Array(bytes.dropFirst()))
    case 0x02: self = .accessoryUwbDidStart
    case 0x03: self = .accessoryUwbDidStop
    default: throw AccessoryError(.unknownMessage(id))
    }
  }

  /// The encoded message.
  public var bytes: [UInt8] {
    switch self {
    case .accessoryConfigurationData(let data): [0x01] + data
    case .accessoryUwbDidStart: [0x02]
    case .accessoryUwbDidStop: [0x03]
    }
  }
}
