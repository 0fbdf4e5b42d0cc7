// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import JSON

/// The configuration of a session. Only its subclasses can be created: `NINearbyPeerConfiguration`,
/// `NINearbyAccessoryConfiguration` and `NIDLTDOAConfiguration`.
open class NIConfiguration: NSObject, NSCopying, NSSecureCoding {
  init(kind: Void) { super.init() }

  /// Decodes an archived instance.
  public required init?(coder: NSCoder) { super.init() }

  /// Always true.
  open class var supportsSecureCoding: Bool { true }

  /// Encodes the instance.
  open func encode(with coder: NSCoder) {}

  /// Returns an independent copy. A subclass that does not override this cannot be run, and returns
  /// the instance itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

extension NSCoder {
  /// Encodes a value as JSON; omits a value with a number that is not finite.
  func encode(json value: some Encodable, forKey key: String) {
    guard let json = try? JSON(encoding: value) else { return }
    encode(NSData(data: Data(json.description.utf8)), forKey: key)
  }

  /// Decodes a value from JSON; nil if it is missing or is not such a value.
  func decode<T: Decodable>(json type: T.Type, forKey key: String) -> T? {
    guard let data = decodeObject(of: NSData.self, forKey: key) else { return nil }
    return try? JSONNode(Array(Data(referencing: data)), .strict)
      .decode(type, ignoresUnknown: true)
  }
}
