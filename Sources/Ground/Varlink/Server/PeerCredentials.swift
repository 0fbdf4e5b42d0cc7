// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The user and the process at the other end of a connection, as the kernel reports them.
package struct PeerCredentials: Sendable {
  package var uid: UInt32
  /// The process ID. For display only, because the kernel may reuse it.
  package var pid: Int32
  /// The group of the process, followed by its supplementary groups.
  package var groups: [UInt32]

  package init(uid: UInt32, pid: Int32, groups: [UInt32]) {
    (self.uid, self.pid, self.groups) = (uid, pid, groups)
  }

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
