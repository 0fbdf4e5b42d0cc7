// SPDX-License-Identifier: Apache-2.0
import UCI

/// A message from the accessory to the app: an identifier of one byte, then its data.
public enum AccessoryMessage: Sendable, Hashable {
  /// 0x01: the accessory's configuration data, not decoded.
  case accessoryConfigurationData([UInt8])
  /// 0x02: the accessory ranges.
  case accessoryUwbDidStart
  /// 0x03: the accessory no longer ranges.
  case accessoryUwbDidStop
  /// 0x40, a message of this package only: the phone has entered, left or stayed in a region of the
  /// accessory.
  case regionChanged(RegionNotice)

  /// Decodes a message.
  ///
  /// - Throws: `AccessoryError` with the code `.invalidMessage`.
  public init(_ bytes: [UInt8]) throws(AccessoryError) {
    guard let id = bytes.first else { throw AccessoryError(.emptyMessage) }
    switch id {
    case 0x01: self = .accessoryConfigurationData(Array(bytes.dropFirst()))
    case 0x02: self = .accessoryUwbDidStart
    case 0x03: self = .accessoryUwbDidStop
    case RegionNotice.identifier: self = .regionChanged(try RegionNotice(bytes))
    default: throw AccessoryError(.unknownMessage(id))
    }
  }

  /// The encoded message.
  public var bytes: [UInt8] {
    switch self {
    case .accessoryConfigurationData(let data): [0x01] + data
    case .accessoryUwbDidStart: [0x02]
    case .accessoryUwbDidStop: [0x03]
    case .regionChanged(let notice): notice.bytes
    }
  }
}

/// A message from the app to the accessory: an identifier of one byte, then its data.
///
/// The identifiers are a convention that began with Apple's sample application. Accessory firmwares
/// of Qorvo, NXP and other vendors use it as well.
public enum AppMessage: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// 0x0A: requests the accessory's configuration data.
  case initialize
  /// 0x0B: the shareable configuration data for a new session, not decoded.
  case configureAndStart([UInt8])
  /// 0x0C: the accessory stops ranging.
  case stop

  /// Decodes a message.
  ///
  /// - Throws: `AccessoryError` with the code `.invalidMessage`.
  public init(_ bytes: [UInt8]) throws(AccessoryError) {
    guard let id = bytes.first else { throw AccessoryError(.emptyMessage) }
    switch id {
    case 0x0A: self = .initialize
    case 0x0B: self = .configureAndStart(Array(bytes.dropFirst()))
    case 0x0C: self = .stop
    default: throw AccessoryError(.unknownMessage(id))
    }
  }

  /// The encoded message.
  public var bytes: [UInt8] {
    switch self {
    case .initialize: [0x0A]
    case .configureAndStart(let data): [0x0B] + data
    case .stop: [0x0C]
    }
  }

  /// The name of the message. Shareable data holds key material and is not shown.
  public var description: String {
    switch self {
    case .initialize: "initialize"
    case .configureAndStart(let data): "configureAndStart (\(counted(data.count, "byte")))"
    case .stop: "stop"
    }
  }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(reflecting: description) }
}
