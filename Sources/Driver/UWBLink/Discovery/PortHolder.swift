// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import SystemPackage

/// A program that has a device open. The program chooses its name, so callers escape the name for
/// output.
package struct PortHolder: Sendable, Hashable {
  package var pid: Int32
  /// The name of the program, at most 15 bytes.
  package var name: String
}

/// The processes of this machine in /proc.
package struct ProcessTable: Sendable {
  /// The mount point of procfs.
  package var procfs: FilePath

  package init(procfs: FilePath = "/proc") { self.procfs = procfs }

  /// Returns the programs that have a device open.
  ///
  /// Excludes this program, and the program that simulates the chip at the other end of a
  /// pseudo-terminal.
  ///
  /// - Returns: The programs, and whether programs of other users are hidden from this user.
  package func holders(of path: FilePath) -> (holders: [PortHolder], someHidden: Bool) {
    let path = FileTree.resolved(path) ?? path
    var holders: [PortHolder] = []
    var someHidden = false
    // The host's procfs, seen in a container, has other process IDs than getpid(2) returns.
    let own = FileTree.target(of: procfs.appending("self"))?.lastComponent?.string
    for pid in pids where "\(pid)" != own {
      let folder = procfs.appending("\(pid)").appending("fd")
      let descriptors = FileTree.names(in: folder)
      // Kernel threads have no descriptors either; only the folders of other users are unreadable.
      if descriptors.isEmpty, unsafe access(folder.string, R_OK) != 0, errno == EACCES {
        someHidden = true
      }
      if descriptors.contains(where: { isOpen(path, as: folder.appending($0)) }),
        !isOtherEnd(pid, descriptors, of: path)
      {
        holders.append(PortHolder(pid: pid, name: name(of: pid)))
      }
    }
    return (holders, someHidden)
  }

  /// Reports whether the descriptor is the device at this path. Each container has pseudo-terminals
  /// of its own, with the same names.
  private func isOpen(_ path: FilePath, as descriptor: FilePath) -> Bool {
    guard FileTree.target(of: descriptor) == path else { return false }
    guard path.removingLastComponent().lastComponent == "pts" else { return true }
    return FileTree.fileSystem(of: descriptor) == FileTree.fileSystem(of: path)
  }

  /// Reports whether a program has the master of this pseudo-terminal. Source: tty-index in fdinfo,
  /// proc(5).
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

  /// Returns the processes with this name.
  package func running(_ name: String) -> [PortHolder] {
    pids.map { PortHolder(pid: $0, name: self.name(of: $0)) }.filter { $0.name == name }
  }

  private var pids: [Int32] { FileTree.names(in: procfs).compactMap { Int32($0) } }

  private func name(of pid: Int32) -> String {
    FileTree.text(procfs.appending("\(pid)").appending("comm")) ?? "?"
  }
}
