// SPDX-License-Identifier: Apache-2.0
import Glibc
import UWBLab

/// Who is at the other end of a connection, as the kernel says it.
struct PeerCredentials: Sendable {
  var uid: UInt32
  /// A number that another process may have later: to be told, not to decide by.
  var pid: Int32
  /// The group of the process and its supplementary groups.
  var groups: [UInt32]

  var json: JSONLine { ["uid": Int64(uid), "pid": pid] }
}

extension PeerCredentials {
  /// nil: the other end has gone already.
  init?(of socket: Int32) {
    // struct ucred: pid, uid, gid.
    var credentials: [UInt32] = [0, 0, 0]
    var length = socklen_t(12)
    guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
      return nil
    }
    (pid, uid) = (Int32(bitPattern: credentials[0]), credentials[1])
    var groups = [UInt32](repeating: 0, count: 1_024)
    length = socklen_t(groups.count * 4)
    // SO_PEERGROUPS; the kernel has it since Linux 4.13.
    let known = getsockopt(socket, SOL_SOCKET, 59, &groups, &length) == 0
    self.groups = [credentials[2]] + (known ? groups.prefix(Int(length) / 4) : [])
  }
}

/// Which users may do what.
struct Permissions: Sendable {
  /// Members may start sessions; nil: everybody who may connect.
  var group: (name: String, id: UInt32)?
  /// Connections at the same time.
  var mostClients = 1_000
  /// Those of a user, so that nobody keeps others out. Root may have all.
  var mostClientsOfUser = 250
  /// Who is at the other end of a socket.
  var user: @Sendable (Int32) -> PeerCredentials? = { PeerCredentials(of: $0) }

  /// - Throws: `Refusal`.
  func checkStart(_ user: PeerCredentials) throws(Refusal) {
    guard let group, user.uid != 0, user.uid != geteuid(), !user.groups.contains(group.id) else {
      return
    }
    throw .denied(
      "Only members of the group \(group.name) may start sessions.",
      "An administrator can add a user: usermod -aG \(group.name) USER. It holds from the next login "
        + "on.")
  }
}
