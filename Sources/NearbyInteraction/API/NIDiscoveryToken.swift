// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Names a device in one session. Sent to the other device as an archive made with
/// `NSKeyedArchiver`, or as `data`. Random for each session, and of no use after it.
open class NIDiscoveryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sound: nothing in it changes.

  /// What a token is for.
  enum Kind: Int, Sendable {
    /// Sent to a peer, which ranges with whoever made it.
    case peer = 0
    /// Names an accessory within this process.
    case accessory = 1
  }

  let kind: Kind
  let bytes: [UInt8]

  init(_ kind: Kind, _ bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
    super.init()
  }

  /// A name for an accessory, at random.
  static func accessory() -> NIDiscoveryToken {
    var source = SystemRandomNumberGenerator()
    return NIDiscoveryToken(.accessory, (0..<16).map { _ in source.next() })
  }

  /// What the device that made the token can do. Of an accessory nothing more is known than that it
  /// measures distances.
  open var deviceCapabilities: any NIDeviceCapability { capabilities }

  /// Always so.
  open class var supportsSecureCoding: Bool { true }

  /// Reads what `encode(with:)` wrote.
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

  /// Writes what `init(coder:)` reads.
  open func encode(with coder: NSCoder) {
    coder.encode(kind.rawValue, forKey: "kind")
    coder.encode(NSData(data: Data(bytes)), forKey: "octets")
  }

  /// Itself: it does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Tokens with the same contents are equal.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NIDiscoveryToken else { return false }
    return kind == other.kind && bytes == other.bytes
  }

  /// Equal for equal tokens.
  open override var hash: Int { bytes.hashValue }

  /// For people: its first bytes, enough to tell tokens apart.
  open override var description: String {
    let start = bytes.suffix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    return "<NIDiscoveryToken …\(start.joined())>"
  }
}
