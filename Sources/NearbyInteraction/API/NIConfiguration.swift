// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What a session is run with. Only its subclasses are made: `NINearbyPeerConfiguration`,
/// `NINearbyAccessoryConfiguration` and `NIDLTDOAConfiguration`.
open class NIConfiguration: NSObject, NSCopying, NSSecureCoding {
  init(kind: Void) { super.init() }

  /// Reads what `encode(with:)` wrote.
  public required init?(coder: NSCoder) { super.init() }

  /// Always so.
  open class var supportsSecureCoding: Bool { true }

  /// Writes what `init(coder:)` reads.
  open func encode(with coder: NSCoder) {}

  /// A copy that does not change with this one. Of a class that does not say how it is copied, itself:
  /// it cannot be run either.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}
