// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The identity of a device in one session. Apps send it to the other device as `data`, or as an
/// archive of `NSKeyedArchiver`. It is random for each session, and useless afterwards.
///
/// - Important: Decode bytes from unknown senders only with `init(data:)`, which checks every
///   byte. A hostile archive can end the process of its unarchiver.
open class NIDiscoveryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: immutable.

  enum Kind: Int, Sendable {
    /// A token for a peer, which ranges with the sender.
    case peer = 0
    /// A token that identifies an accessory within this process.
    case accessory = 1
  }

  let kind: Kind
  let bytes: [UInt8]

  init(_ kind: Kind, _ bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
    super.init()
  }

  static func accessory() -> NIDiscoveryToken {
    var source = SystemRandomNumberGenerator()
    return NIDiscoveryToken(.accessory, (0..<16).map { _ in source.next() })
  }

  /// The capabilities of the device that created the token. An accessory only counts as measuring
  /// distances.
  open var deviceCapabilities: any NIDeviceCapability { capabilities }

  /// Always true.
  open class var supportsSecureCoding: Bool { true }

  /// Decodes an archived instance.
  public required init?(coder: NSCoder) {
    guard coder.containsValue(forKey: "kind"),
      let kind = Kind(rawValue: coder.decodeInteger(forKey: "kind")),
      let data = coder.decodeObject(of: NSData.self, forKey: "octets")
    else { return nil }
    let bytes = [UInt8](Data(referencing: data))
    guard Self.isValid(kind, bytes) else { return nil }
    self.kind = kind
    self.bytes = bytes
    super.init()
  }

  /// Encodes the instance.
  open func encode(with coder: NSCoder) {
    coder.encode(kind.rawValue, forKey: "kind")
    coder.encode(NSData(data: Data(bytes)), forKey: "octets")
  }

  /// Returns the instance itself, which is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Compares the contents.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NIDiscoveryToken else { return false }
    return kind == other.kind && bytes == other.bytes
  }

  /// A hash of the contents.
  open override var hash: Int { bytes.hashValue }

  /// The last bytes of the token, to distinguish tokens in logs.
  open override var description: String {
    let start = bytes.suffix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    return "<NIDiscoveryToken …\(start.joined())>"
  }
}
