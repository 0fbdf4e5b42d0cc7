// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Glibc
import UCI

/// The user and the process at the other end of a connection, as the kernel reports them.
struct PeerCredentials: Sendable {
  var uid: UInt32
  /// The process ID. For display only, because the kernel may reuse it.
  var pid: Int32
  /// The group of the process, followed by its supplementary groups.
  var groups: [UInt32]

  /// The user as clients see it.
  var shown: Chips.User { Chips.User(uid: uid, pid: pid) }
}

extension PeerCredentials {
  /// Reads the credentials from a socket; nil if the other end has disconnected.
  init?(of socket: Int32) {
    // The members of struct ucred: pid, uid, gid.
    var credentials: [UInt32] = [0, 0, 0]
    var length = socklen_t(12)
    guard unsafe getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
      return nil
    }
    (pid, uid) = (Int32(bitPattern: credentials[0]), credentials[1])
    var groups = [UInt32](repeating: 0, count: 1_024)
    length = socklen_t(groups.count * 4)
    // SO_PEERGROUPS, which exists since Linux 4.13.
    let known = unsafe getsockopt(socket, SOL_SOCKET, 59, &groups, &length) == 0
    self.groups = [credentials[2]] + (known ? groups.prefix(Int(length) / 4) : [])
  }
}

/// The limits and rights of users.
package struct Permissions: Sendable {
  /// The group whose members may start sessions; nil if each connected user may.
  var group: (name: String, id: UInt32)?
  /// The greatest number of connections.
  var mostClients = 1_000
  /// The greatest number of connections of one user, except root. No user can lock out the others.
  var mostClientsOfUser = 250
  /// The greatest numbers of bytes of measurements that wait for the programs of all users, and of
  /// one user. All connections have equal shares.
  var mostWaiting = (ofAll: 128 << 20, ofUser: 32 << 20)
  /// Returns the credentials of the other end of a socket.
  var user: @Sendable (Int32) -> PeerCredentials? = { PeerCredentials(of: $0) }

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
    if connections >= mostClients {
      return .limitReached(
        .connections, most: mostClients,
        "uwbd serves at most \(counted(mostClients, "connection")), and has as many.",
        advice: "End idle programs that are connected, or try again later.")
    }
    guard user.uid != 0, ofUser[user.uid, default: 0] >= mostClientsOfUser else { return nil }
    return .limitReached(
      .connectionsOfUser, most: mostClientsOfUser,
      "uwbd serves at most \(counted(mostClientsOfUser, "connection")) of a user, and user "
        + "\(user.uid) has as many.",
      advice: "End idle programs of this user, or try again later.")
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
