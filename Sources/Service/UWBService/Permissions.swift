// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Glibc
import UCI
import Varlink

extension PeerCredentials {
  /// The user as clients see it.
  var shown: Chips.User { Chips.User(uid: uid, pid: pid) }
}

/// The limits and rights of users.
package struct Permissions: Sendable {
  /// The group whose members may start sessions; nil if each connected user may.
  var group: (name: String, id: UInt32)?
  var connections = ConnectionLimits()
  /// The greatest numbers of bytes of measurements that wait for the programs of all users, and of
  /// one user. All connections have equal shares.
  var mostWaiting = (ofAll: 128 << 20, ofUser: 32 << 20)
  /// Returns the user for whom a program acts; tests choose others.
  var user: @Sendable (PeerCredentials) -> PeerCredentials = { $0 }

  /// Checks that a user may start sessions.
  ///
  /// - Throws: `ServiceError`.
  func checkStart(_ user: PeerCredentials) throws(ServiceError) {
    guard let group, !isMember(user) else { return }
    throw .denied(
      "Only members of the group \(group.name) may start sessions.",
      advice: Self.advice(to: group.name))
  }

  /// Checks that a user may end a session for all programs that hold it.
  ///
  /// - Parameter uid: The user who has started the session.
  /// - Throws: `ServiceError`.
  func checkEnd(_ user: PeerCredentials, sessionOf uid: UInt32) throws(ServiceError) {
    guard user.uid != uid, !isMember(user) else { return }
    let members = group.map { ", members of the group \($0.name)," } ?? ""
    throw .denied(
      "Only the user who has started the session\(members) and root may end it.",
      advice: group.map { Self.advice(to: $0.name) }
        ?? "Ask user \(uid), or an administrator; uwbd --group NAME names a group who may.")
  }

  /// Checks that a user may change the users of a session.
  ///
  /// - Parameter uid: The user who has started the session.
  /// - Throws: `ServiceError`.
  func checkShare(_ user: PeerCredentials, sessionOf uid: UInt32) throws(ServiceError) {
    guard !Audience.user(uid).includes(user) else { return }
    throw .denied(
      "Only the user who has started the session and root may change its share.",
      advice: "Ask user \(uid), or an administrator.")
  }

  /// Returns whether a user is root, the user of the service, or a member of the group.
  private func isMember(_ user: PeerCredentials) -> Bool {
    user.uid == 0 || user.uid == geteuid() || group.map { user.groups.contains($0.id) } ?? false
  }

  private static func advice(to group: String) -> String {
    "Ask an administrator: usermod -aG \(group) USER. The change takes effect at the next login."
  }

  /// Returns the error for a user whose connection would exceed a limit, or nil.
  ///
  /// - Parameters:
  ///   - connections: The number of present connections.
  ///   - ofUser: The number of present connections by user ID.
  func refusal(
    of user: PeerCredentials, _ connections: Int, _ ofUser: [UInt32: Int]
  ) -> ServiceError? {
    let limits = self.connections
    switch limits.reached(connections, ofUser: ofUser[user.uid, default: 0], user.uid) {
    case nil: return nil
    case .all:
      return .limitReached(
        .connections, most: limits.all,
        "uwbd serves at most \(counted(limits.all, "connection")), and has as many.",
        advice: "End idle programs that are connected, or try again later.")
    case .ofUser:
      return .limitReached(
        .connectionsOfUser, most: limits.ofUser,
        "uwbd serves at most \(counted(limits.ofUser, "connection")) of a user, and user "
          + "\(user.uid) has as many.",
        advice: "End idle programs of this user, or try again later.")
    }
  }

  /// Returns the greatest number of bytes of measurements that may wait for one connection.
  ///
  /// - Parameters:
  ///   - connections: The number of all connections.
  ///   - ofUser: The number of connections of the same user.
  func room(_ connections: Int, _ ofUser: Int) -> Int {
    min(mostWaiting.ofAll / max(1, connections), mostWaiting.ofUser / max(1, ofUser))
  }
}

extension Permissions {
  /// - Parameter group: The group whose members may start sessions; nil if every connected user
  ///   may.
  package init(group: (name: String, id: UInt32)?) {
    self.init()
    self.group = group
  }
}
