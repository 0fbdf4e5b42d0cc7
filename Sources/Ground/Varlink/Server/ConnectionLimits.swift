// SPDX-License-Identifier: Apache-2.0

/// The greatest numbers of connections of a service.
package struct ConnectionLimits: Sendable {
  package var all: Int
  /// The greatest number of one user, except root. No user can lock out the others.
  package var ofUser: Int

  package init(all: Int = 1_000, ofUser: Int = 250) { (self.all, self.ofUser) = (all, ofUser) }

  package enum Reached: Sendable { case all, ofUser }

  /// Returns the limit that a further connection of a user would exceed, or nil.
  ///
  /// - Parameters:
  ///   - connections: The number of present connections.
  ///   - ofUser: The number of present connections of the same user.
  package func reached(_ connections: Int, ofUser: Int, _ uid: UInt32) -> Reached? {
    if connections >= all { return .all }
    return uid != 0 && ofUser >= self.ofUser ? .ofUser : nil
  }

  /// Returns the greatest number of connections of a user.
  func most(of uid: UInt32) -> Int { uid == 0 ? all : min(all, ofUser) }
}
