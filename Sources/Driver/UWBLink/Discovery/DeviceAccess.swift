// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// The owner and permissions of a device node, and the access of this process.
package struct DeviceAccess: Sendable, Hashable {
  /// The owner's name, or the number of an owner without a name.
  package var owner: String
  /// The group's name, or the number of a group without a name.
  package var group: String
  /// The permission bits, such as 0o660.
  package var mode: UInt16
  /// Whether this process may read and write the node. Includes access lists, such as logind's
  /// uaccess.
  package var isAllowed: Bool
  /// Whether the user has joined the group after this login, so that the rights begin at the next
  /// login.
  package var needsNewLogin = false
  /// Whether the node is a memory device, such as /dev/null, which most programs have open.
  package var isMemory = false
}

extension DeviceAccess {
  /// The group that a user should join for access to the node.
  ///
  /// Nil if the group may not open the node, or if its members are as powerful as root.
  package var joinableGroup: String? {
    let powerful = ["root", "0", "wheel", "sudo", "adm", "disk", "kmem", "shadow"]
    return mode & 0o060 == 0o060 && !powerful.contains(group) ? group : nil
  }

  /// Reads the access of a node; nil if there is no node.
  package init?(of path: FilePath) {
    var status = stat()
    guard unsafe stat(path.string, &status) == 0 else { return nil }
    owner = Self.userName(status.st_uid) ?? "\(status.st_uid)"
    group = Self.groupName(status.st_gid) ?? "\(status.st_gid)"
    mode = UInt16(truncatingIfNeeded: status.st_mode & 0o7777)
    isAllowed = unsafe faccessat(AT_FDCWD, path.string, R_OK | W_OK, AT_EACCESS) == 0
    isMemory = status.st_mode & S_IFMT == S_IFCHR && (status.st_rdev >> 8) & 0xFFF == 1
    needsNewLogin =
      !isAllowed && status.st_mode & 0o060 == 0o060
      && Self.isMember(of: status.st_gid) && !Self.hasNow(status.st_gid)
  }

  // MARK: names

  /// Returns the name of a user, or nil for an unknown number.
  package static func userName(_ id: UInt32) -> String? {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    guard unsafe getpwuid_r(id, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil
    else {
      return nil
    }
    return unsafe String(cString: entry.pw_name)
  }

  private static func groupName(_ id: gid_t) -> String? {
    var entry = unsafe Glibc.group()
    var found: UnsafeMutablePointer<Glibc.group>?
    var buffer = [CChar](repeating: 0, count: 65_536)
    guard unsafe getgrgid_r(id, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil
    else {
      return nil
    }
    return unsafe String(cString: entry.gr_name)
  }

  /// Reports whether the user database lists the user as a member of the group.
  private static func isMember(of group: gid_t) -> Bool {
    guard let name = userName(geteuid()) else { return false }
    var count: Int32 = 256
    var groups = [gid_t](repeating: 0, count: Int(count))
    guard unsafe getgrouplist(name, getegid(), &groups, &count) >= 0 else { return false }
    return groups.prefix(Int(count)).contains(group)
  }

  /// Reports whether this process has the group.
  private static func hasNow(_ group: gid_t) -> Bool {
    if getegid() == group { return true }
    var groups = [gid_t](repeating: 0, count: 65_536)
    let count = unsafe getgroups(Int32(groups.count), &groups)
    return count > 0 && groups.prefix(Int(count)).contains(group)
  }
}

extension DeviceAccess: CustomStringConvertible {
  /// The access as `ls` formats it: `rw-rw---- root:dialout`.
  package var description: String {
    let bits = (0..<9).map { bit in
      mode & (0o400 >> UInt16(bit)) == 0 ? "-" : ["r", "w", "x"][bit % 3]
    }
    return bits.joined() + " \(owner):\(group)"
  }
}
