// SPDX-License-Identifier: Apache-2.0

/// A message from the app to the accessory: one octet that says which, then its data.
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
  public init(_ octets: [UInt8]) throws(AccessoryProtocolError) {
    guard let id = octets.first else { throw .emptyMessage }
    switch id {
    case 0x0A: self = .initialize
    case 0x0B: self = .configureAndStart(Array(octets.dropFirst()))
    case 0x0C: self = .stop
    default: throw .unknownMessage(id)
    }
  }

  /// The octets as they are sent.
  public var octets: [UInt8] {
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
    case .configureAndStart(let data): "configureAndStart (\(data.count) octets)"
    case .stop: "stop"
    }
  }
  /// The same.
  public var debugDescription: String { description }
  /// Has no children.
  public var customMirror: Mirror { Mirror(reflecting: description) }
}
