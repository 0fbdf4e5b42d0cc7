// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import CommandSupport
import Formats
import Glibc
import System
package import SystemPackage
import UWBLink

/// The files that give users access to UWB devices, compared with the installed ones.
package struct SetupPlan {
  package struct File: Equatable {
    package enum State: Equatable {
      case missing, same, different
      /// The path is not a regular file.
      case obstructed
    }

    package var path: FilePath
    /// The text; nil to remove the file.
    package var text: String?
    package var state: State
  }

  /// The folder of local udev rules, below the root.
  private static let parts = ["etc", "udev", "rules.d"]
  private let root: FilePath
  private let folder: FilePath
  package private(set) var files: [File]

  /// Plans the installation.
  ///
  /// - Parameters:
  ///   - root: The root of the system: `/`, or the folder of an image.
  ///   - nodes: The kernel names of nodes to make accessible; empty keeps the installed list.
  package init(root: FilePath, nodes: [String]) {
    self.root = root
    folder = Self.parts.reduce(root) { $0.appending($1) }
    files = [Self.file(folder.appending(UdevRules.name), UdevRules.text)]
    if !nodes.isEmpty {
      let path = folder.appending(UdevRules.nodesName)
      files.append(Self.file(path, UdevRules.text(forNodes: nodes)))
    }
  }

  /// Plans the removal of all files that `setup` installs.
  package init(removingFrom root: FilePath) {
    self.root = root
    folder = Self.parts.reduce(root) { $0.appending($1) }
    let paths = [UdevRules.name, UdevRules.nodesName].map(folder.appending)
    files = paths.map { Self.file($0, nil) }.filter { $0.state != .missing }
  }

  package var isDone: Bool {
    files.allSatisfy { $0.text == nil ? $0.state == .missing : $0.state == .same }
  }

  private static func file(_ path: FilePath, _ text: String?) -> File {
    // The file is opened without following links or waiting for pipes, because root reads files
    // that other users may have created.
    var status = stat()
    guard unsafe lstat(path.string, &status) == 0 else {
      return File(path: path, text: text, state: .missing)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      return File(path: path, text: text, state: .obstructed)
    }
    let bytes = try? InputFile.bytes(of: path.string, limit: 1 << 20)
    let isSame = text.map { Array($0.utf8) == bytes } ?? false
    return File(path: path, text: text, state: isSame ? .same : .different)
  }

  /// Checks the root before the plan is shown or carried out.
  ///
  /// - Throws: `Failure` if the folder is not the root of a system.
  package static func checkRoot(_ root: FilePath) throws(Failure) {
    var status = stat()
    guard unsafe stat(root.appending(parts[0]).string, &status) == 0,
      status.st_mode & S_IFMT == S_IFDIR
    else {
      throw Failure(
        .noInput, "\(root) is not the root folder of a system: it has no folder etc.",
        try: "Give the folder in which the system is mounted.")
    }
  }

  // MARK: execution

  /// Writes missing and different files, and removes files without a text.
  ///
  /// A different file is kept as `.old`, which udev does not read. Only regular files are replaced
  /// or removed, and symbolic links are not followed.
  ///
  /// - Returns: A sentence for each change.
  package func carryOut() throws(Failure) -> [String] {
    if let file = files.first(where: { $0.state == .obstructed }) {
      throw Self.obstructed(file.path)
    }
    let folder = try openFolder()
    defer { try? folder.close() }
    var done: [String] = []
    for file in files where file.state != .same {
      guard let name = file.path.lastComponent?.string else { continue }
      guard let text = file.text else {
        guard unsafe unlinkat(folder.rawValue, name, 0) == 0 || errno == ENOENT else {
          throw failure(file.path)
        }
        done.append("Removed \(file.path).")
        continue
      }
      if file.state == .different {
        let old = FilePath(file.path.string + ".old")
        try rename(name, name + ".old", in: folder)
        done.append("Kept the former \(file.path) as \(old).")
      }
      try write(text, to: name, in: folder)
      done.append("Wrote \(file.path).")
    }
    return done
  }

  /// Writes a file completely or not at all, by renaming it.
  private func write(
    _ text: String, to name: String, in folder: FileDescriptor
  ) throws(Failure) {
    let draft = name + ".new"
    // A draft that already exists is from a killed run or from another user, so it is removed.
    unsafe unlinkat(folder.rawValue, draft, 0)
    let number = unsafe openat(
      folder.rawValue, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw failure(self.folder.appending(draft)) }
    let descriptor = FileDescriptor(rawValue: number)
    do {
      defer { try? descriptor.close() }
      try descriptor.writeAll(text.utf8)
      // Sets the mode independently of the umask.
      guard fchmod(number, 0o644) == 0 else { throw Errno(rawValue: errno) }
    } catch {
      unsafe unlinkat(folder.rawValue, draft, 0)
      throw failure(self.folder.appending(name), error as? Errno ?? .ioError)
    }
    try rename(draft, name, in: folder)
  }

  private func rename(
    _ name: String, _ new: String, in folder: FileDescriptor
  ) throws(Failure) {
    var status = stat()
    let number = folder.rawValue
    if unsafe fstatat(number, new, &status, AT_SYMLINK_NOFOLLOW) == 0,
      status.st_mode & S_IFMT != S_IFREG
    {
      throw Self.obstructed(self.folder.appending(new))
    }
    guard unsafe renameat(number, name, number, new) == 0 else {
      throw failure(self.folder.appending(new))
    }
  }

  /// Opens the folder of the rules, and creates missing folders below the root of a system.
  private func openFolder() throws(Failure) -> FileDescriptor {
    try Self.checkRoot(root)
    var path = root
    var number = unsafe open(root.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else {
      throw Failure(
        .noInput, "The root folder \(root) cannot be opened: \(Errno(rawValue: errno)).",
        try: "Give the folder in which the system is mounted.")
    }
    for name in Self.parts {
      path.append(name)
      unsafe mkdirat(number, name, 0o755)
      let next = unsafe openat(number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      let error = Errno(rawValue: errno)
      close(number)
      guard next >= 0 else { throw folderFailure(path, error) }
      number = next
    }
    return FileDescriptor(rawValue: number)
  }

  private func folderFailure(_ path: FilePath, _ error: Errno) -> Failure {
    switch error {
    case .tooManySymbolicLinkLevels, .notDirectory:
      Failure(
        .cannotCreate, "\(path) is not a folder but a link or a file, which is not followed.",
        try: "Give the folder of the system to which it belongs as --root.")
    case .noSuchFileOrDirectory: failure(path, .permissionDenied)
    default: failure(path, error)
    }
  }

  private static func obstructed(_ path: FilePath) -> Failure {
    Failure(
      .cannotCreate, "\(path) is not a regular file: it is neither read nor replaced.",
      try: "Look at it with ls -l, and remove it.")
  }

  private func failure(_ path: FilePath, _ cause: Errno = Errno(rawValue: errno)) -> Failure {
    guard cause == .permissionDenied || cause == .notPermitted else {
      return Failure(
        cause == .noSuchFileOrDirectory ? .cannotCreate : .system, "Cannot write \(path): \(cause)."
      )
    }
    let isRemoval = files.contains { $0.text == nil }
    return Failure(
      .permission, "Only root can change \(path).",
      try: "sudo uwbctl setup " + (isRemoval ? "--remove" : "--install"))
  }
}

/// The udev rules that `setup` installs.
package enum UdevRules {
  /// The name of the file. It sorts after 60-serial.rules and before 73, where systemd applies the
  /// tag uaccess.
  package static let name = "60-uwb.rules"
  /// The name of the file for nodes named by the user.
  static let nodesName = "61-uwb-nodes.rules"
  /// The group that has access without a local login.
  package static let group = "dialout"

  /// Returns rules for nodes that udev cannot recognise: a spidev, GPIO lines, a UART.
  ///
  /// - Parameter nodes: The kernel names, such as `spidev0.0`.
  package static func text(forNodes nodes: [String]) -> String {
    let head = """
      # SPDX-License-Identifier: Apache-2.0
      #
      # Written by uwbctl setup --node: nodes on this machine that lead to a UWB chip.

      """
    return nodes.reduce(into: head) { text, node in
      text +=
        "KERNEL==\"\(node)\", MODE=\"0660\", GROUP=\"\(group)\", TAG+=\"uaccess\", "
        + "SYMLINK+=\"uwb/$kernel\"\n"
    }
  }

  /// Returns the kernel name of a node below /dev.
  package static func name(of node: String) -> String {
    node.hasPrefix("/dev/") ? String(node.dropFirst(5)) : node
  }

  /// Reports whether a name is safe in a rule: without quotes and patterns.
  package static func isNode(_ name: String) -> Bool {
    ["spidev", "gpiochip", "tty"].contains { name.hasPrefix($0) && name.count > $0.count }
      && name.utf8.allSatisfy { byte in
        byte == UInt8(ascii: ".") || (0x30...0x39).contains(byte)
          || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      }
  }

  /// The contents of udev/60-uwb.rules, the target of the resource's link.
  package static let text = String(decoding: PackageResources.uwb_rules, as: UTF8.self)
}
