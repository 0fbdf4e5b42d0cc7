// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Identifies a device in one session. Sent to the other device as `data`, or as an archive made with
/// `NSKeyedArchiver`. Random for each session, and useless after it.
///
/// - Important: Decode bytes that anybody could have sent with `init(data:)` only, which checks every one
///   of them. Unarchivers are not made for hostile archives, which can end the process.
open class NIDiscoveryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: immutable.

  enum Kind: Int, Sendable {
    /// Sent to a peer, which ranges with the sender.
    case peer = 0
    /// Identifies an accessory within this process.
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

  /// The capabilities of the device that made the token. Of an accessory only that it measures
  /// distances is known.
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

  /// Its last bytes, to distinguish tokens in logs.
  open override var description: String {
    let start = bytes.suffix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    return "<NIDiscoveryToken …\(start.joined())>"
  }
}
