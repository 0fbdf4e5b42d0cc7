// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// A program that has a device open. Its name is whatever the program calls itself: to be escaped
/// when printed.
package struct PortHolder: Sendable, Hashable {
  package var pid: Int32
  /// Its name, at most 15 bytes of it.
  package var name: String
}

/// What /proc says of other programs.
package struct ProcessTable: Sendable {
  /// Where procfs is mounted.
  package var procfs: FilePath

  package init(procfs: FilePath = "/proc") { self.procfs = procfs }

  /// The programs that have a device open, except this one and the one that plays the chip at the
  /// other end of a pseudo-terminal.
  ///
  /// - Returns: also whether there are programs of other users, whose open files only root can see.
  package func holders(of path: FilePath) -> (holders: [PortHolder], someHidden: Bool) {
    let path = FileTree.resolved(path) ?? path
    var holders: [PortHolder] = []
    var someHidden = false
    // Its number there, which in a container is another one than the kernel tells.
    let own = FileTree.target(of: procfs.appending("self"))?.lastComponent?.string
    for pid in pids where "\(pid)" != own {
      let folder = procfs.appending("\(pid)").appending("fd")
      let descriptors = FileTree.names(in: folder)
      // A kernel thread has none as well, but folders of other users cannot be read at all.
      if descriptors.isEmpty, unsafe access(folder.string, R_OK) != 0, errno == EACCES {
        someHidden = true
      }
      if descriptors.contains(where: { FileTree.target(of: folder.appending($0)) == path }),
        !isOtherEnd(pid, descriptors, of: path)
      {
        holders.append(PortHolder(pid: pid, name: name(of: pid)))
      }
    }
    return (holders, someHidden)
  }

  /// Whether a program has the master of this pseudo-terminal. Source: proc(5), tty-index in fdinfo.
  private func isOtherEnd(_ pid: Int32, _ descriptors: [String], of path: FilePath) -> Bool {
    guard path.removingLastComponent().lastComponent == "pts",
      let index = path.lastComponent?.string
    else { return false }
    let folder = procfs.appending("\(pid)")
    return descriptors.contains { name in
      FileTree.target(of: folder.appending("fd").appending(name))?.lastComponent == "ptmx"
        && FileTree.text(folder.appending("fdinfo").appending(name))?
          .split(separator: "\n").contains("tty-index:\t\(index)") == true
    }
  }

  /// The processes with this name.
  package func running(_ name: String) -> [PortHolder] {
    pids.map { PortHolder(pid: $0, name: self.name(of: $0)) }.filter { $0.name == name }
  }

  private var pids: [Int32] { FileTree.names(in: procfs).compactMap { Int32($0) } }

  private func name(of pid: Int32) -> String {
    FileTree.text(procfs.appending("\(pid)").appending("comm")) ?? "?"
  }
}
