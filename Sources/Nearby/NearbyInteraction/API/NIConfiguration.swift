// SPDX-License-Identifier: Apache-2.0
public import Foundation

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
