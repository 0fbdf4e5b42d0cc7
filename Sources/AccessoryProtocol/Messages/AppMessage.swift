// SPDX-License-Identifier: Apache-2.0

/// A message from the app to the accessory: one byte that says which, then its data.
///
/// The identifiers are a convention that began with Apple's sample application and that accessory
/// firmwares of Qorvo, NXP and others share.
public enum AppMessage: Sendable, Hashable {
  /// 0x0A: asks for the accessory's configuration data.
  case initialize
  /// 0x0B: shareable configuration data, with which the accessory is to begin. As it came: whether
  /// it can be used shows when it is decoded.
  case configureAndStart([UInt8])
  /// 0x0C: the accessory is to end ranging.
  case stop

  /// Reads a message.
  ///
  /// - Throws: `AccessoryProtocolError.emptyMessage` or `.unknownMessage`.
  public init(_ bytes: [UInt8]) throws(AccessoryProtocolError) {
    guard let id = bytes.first else { throw .emptyMessage }
    switch id {
    case 0x0A: self = .initialize
    case 0x0B: self = .configureAndStart(Array(bytes.dropFirst()))
    case 0x0C: self = .stop
    default: throw .unknownMessage(id)
    }
  }

  /// The bytes as they are sent.
  public var bytes: [UInt8] {
    switch self {
    case .initialize: [0x0A]
    case .configureAndStart(let data): [0x0B] + data
    case .stop: [0x0C]
    }
  }
}

extension AppMessage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Which message. Shareable data holds key material and is not shown.
  public var description: String {
    switch self {
    case .initialize: "initialize"
    case .configureAndStart(let data): "configureAndStart (\(data.count) bytes)"
    case .stop: "stop"
    }
  }
  /// The same.
  public var debugDescription: String { description }
  /// Has no children.
  public var customMirror: Mirror { Mirror(reflecting: description) }
}
