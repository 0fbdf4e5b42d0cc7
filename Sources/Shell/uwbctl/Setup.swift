// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Glibc
import System
import SystemPackage
import UWBLink

struct Setup: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show, install or remove the udev rules for UWB devices.",
    discussion: """
      Without --install or --remove, prints what would change. The rules give access to UWB boards to \
      the logged-in user and to the group \(UdevRules.group), create stable names below /dev/uwb, and \
      make ModemManager ignore the boards.

      udev cannot recognise the device on a spidev, a GPIO chip or a UART: name the nodes of a UWB \
      chip with --node. The exit status is 77 when root is needed.
      """)

  @Flag(help: "Install the rules and make udev apply them; needs root.") var install = false
  @Flag(help: "Remove the rules; needs root.") var remove = false
  @Option(
    name: .customLong("node"),
    help: "Also give access to this node, such as spidev0.0 or gpiochip0; repeatable.")
  var nodes: [String] = []
  @Option(
    help: "The root folder of the system, to set up one that is not running.",
    completion: .directory)
  var root = "/"

  func validate() throws {
    try require(!(install && remove), "Give either --install or --remove.")
    try require(nodes.isEmpty || !remove, "--remove takes no --node.")
    for node in nodes where !Self.isNode(Self.name(node)) {
      throw ValidationError(
        "'\(printable(node))' is not a node: spidevB.C, gpiochipN or a tty, without wildcards.")
    }
  }

  func execute() throws {
    let folder = FilePath(root)
    try SetupPlan.checkRoot(folder)
    let plan =
      remove
      ? SetupPlan(removingFrom: folder)
      : SetupPlan(root: folder, nodes: nodes.map(Self.name).sorted())
    guard install || remove else { return show(plan) }
    if plan.isDone {
      standardOutput.write(remove ? "There is nothing to remove.\n" : "Already installed.\n")
      return
    }
    for line in try plan.carryOut() { standardOutput.write(printable(line) + "\n") }
    if folder == "/" { apply() }
    if install { standardOutput.write(groupAdvice) }
  }

  // MARK: the plan

  private func show(_ plan: SetupPlan) {
    for file in plan.files {
      switch file.state {
      case .same: standardOutput.write("\(printable(file.path.string)): installed\n")
      case .obstructed:
        standardOutput.write("\(printable(file.path.string)): not a regular file; not replaced\n")
      case .missing: standardOutput.write("Would write \(printable(file.path.string)):\n")
      case .different:
        standardOutput.write(
          "Would write \(printable(file.path.string)), keeping the present one as .old:\n")
      }
      guard file.state == .missing || file.state == .different, let text = file.text else {
        continue
      }
      standardOutput.write(
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
          .map { $0.isEmpty ? "\n" : "  \($0)\n" }.joined())
    }
    standardOutput.write(groupAdvice)
    if plan.isDone {
      standardOutput.write("Nothing to do. To remove the rules: sudo uwbctl setup --remove\n")
    } else {
      let all = (["--install"] + nodes.map { "--node \($0)" }).joined(separator: " ")
      standardOutput.write(
        "Then: udevadm control --reload, udevadm trigger\n"
          + "Nothing was changed. To install: sudo uwbctl setup \(printable(all))\n")
    }
  }

  /// The advice for users without a local login, who need the group.
  private var groupAdvice: String {
    guard root == "/" else { return "" }
    guard getgrnam(UdevRules.group) != nil else {
      return "There is no group \(UdevRules.group) here: nodes keep their group.\n"
    }
    return "Access over SSH and for services needs the group: "
      + "sudo usermod -aG \(UdevRules.group) USER, then log in again.\n"
  }

  // MARK: helpers

  /// Makes udev read the rules and apply them to present devices.
  private func apply() {
    let commands = ["tty", "usb", "spidev", "gpio", "misc"].map {
      ["trigger", "--subsystem-match=\($0)"]
    }
    for command in [["control", "--reload"]] + commands + [["settle"]]
    where !Self.succeeds(["udevadm"] + command) {
      note(
        "udevadm \(command.joined(separator: " ")) failed; is udev running?",
        try: "Replug the board, or restart the machine.")
      return
    }
    standardOutput.write("udev has applied the change to present devices.\n")
  }

  private static func succeeds(_ arguments: [String]) -> Bool {
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var pid = pid_t()
    guard posix_spawnp(&pid, arguments[0], nil, nil, &words, environ) == 0 else { return false }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 { guard errno == EINTR else { return false } }
    return status == 0
  }

  static func name(_ node: String) -> String {
    node.hasPrefix("/dev/") ? String(node.dropFirst(5)) : node
  }

  /// Reports whether a name is safe in a rule: without quotes and patterns.
  static func isNode(_ name: String) -> Bool {
    ["spidev", "gpiochip", "tty"].contains { name.hasPrefix($0) && name.count > $0.count }
      && name.utf8.allSatisfy { byte in
        byte == UInt8(ascii: ".") || (0x30...0x39).contains(byte)
          || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      }
  }
}

/// The files that give users access to UWB devices, compared with the installed ones.
struct SetupPlan {
  struct File: Equatable {
    enum State: Equatable {
      case missing, same, different
      /// The path is not a regular file.
      case obstructed
    }

    var path: FilePath
    /// The text; nil to remove the file.
    var text: String?
    var state: State
  }

  /// The folder of local udev rules, below the root.
  private static let parts = ["etc", "udev", "rules.d"]
  private let root: FilePath
  private let folder: FilePath
  private(set) var files: [File]

  /// Plans the installation.
  ///
  /// - Parameters:
  ///   - root: The root of the system: `/`, or the folder of an image.
  ///   - nodes: The kernel names of nodes to make accessible; empty keeps the installed list.
  init(root: FilePath, nodes: [String]) {
    self.root = root
    folder = Self.parts.reduce(root) { $0.appending($1) }
    files = [Self.file(folder.appending(UdevRules.name), UdevRules.text)]
    if !nodes.isEmpty {
      let path = folder.appending(UdevRules.nodesName)
      files.append(Self.file(path, UdevRules.text(forNodes: nodes)))
    }
  }

  /// Plans the removal of all files that `setup` installs.
  init(removingFrom root: FilePath) {
    self.root = root
    folder = Self.parts.reduce(root) { $0.appending($1) }
    let paths = [UdevRules.name, UdevRules.nodesName].map(folder.appending)
    files = paths.map { Self.file($0, nil) }.filter { $0.state != .missing }
  }

  var isDone: Bool {
    files.allSatisfy { $0.text == nil ? $0.state == .missing : $0.state == .same }
  }

  private static func file(_ path: FilePath, _ text: String?) -> File {
    // Follows no links and waits for no pipes, because root reads files that other users may have
    // created.
    var status = stat()
    guard lstat(path.string, &status) == 0 else {
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
  static func checkRoot(_ root: FilePath) throws(Failure) {
    var status = stat()
    guard stat(root.appending(parts[0]).string, &status) == 0, status.st_mode & S_IFMT == S_IFDIR
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
  func carryOut() throws(Failure) -> [String] {
    if let file = files.first(where: { $0.state == .obstructed }) {
      throw Self.obstructed(file.path)
    }
    let folder = try openFolder()
    defer { try? folder.close() }
    var done: [String] = []
    for file in files where file.state != .same {
      guard let name = file.path.lastComponent?.string else { continue }
      guard let text = file.text else {
        guard unlinkat(folder.rawValue, name, 0) == 0 || errno == ENOENT else {
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
    // An existing draft is from a killed run or another user, so it must not be written to.
    unlinkat(folder.rawValue, draft, 0)
    let number = openat(
      folder.rawValue, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw failure(self.folder.appending(draft)) }
    let descriptor = FileDescriptor(rawValue: number)
    do {
      defer { try? descriptor.close() }
      try descriptor.writeAll(text.utf8)
      // Sets the mode independently of the umask.
      guard fchmod(number, 0o644) == 0 else { throw Errno(rawValue: errno) }
    } catch {
      unlinkat(folder.rawValue, draft, 0)
      throw failure(self.folder.appending(name), error as? Errno ?? .ioError)
    }
    try rename(draft, name, in: folder)
  }

  private func rename(
    _ name: String, _ new: String, in folder: FileDescriptor
  ) throws(Failure) {
    var status = stat()
    let number = folder.rawValue
    if fstatat(number, new, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw Self.obstructed(self.folder.appending(new))
    }
    guard renameat(number, name, number, new) == 0 else {
      throw failure(self.folder.appending(new))
    }
  }

  /// Opens the folder of the rules, and creates missing folders below the root of a system.
  private func openFolder() throws(Failure) -> FileDescriptor {
    try Self.checkRoot(root)
    var path = root
    var number = open(root.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else {
      throw Failure(
        .noInput, "The root folder \(root) cannot be opened: \(Errno(rawValue: errno)).",
        try: "Give the folder in which the system is mounted.")
    }
    for name in Self.parts {
      path.append(name)
      mkdirat(number, name, 0o755)
      let next = openat(number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
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
enum UdevRules {
  /// The name of the file. It sorts after 60-serial.rules and before 73, where systemd applies the
  /// tag uaccess.
  static let name = "60-uwb.rules"
  /// The name of the file for nodes named by the user.
  static let nodesName = "61-uwb-nodes.rules"
  /// The group that has access without a local login.
  static let group = "dialout"

  /// Returns rules for nodes that udev cannot recognise: a spidev, GPIO lines, a UART.
  ///
  /// - Parameter nodes: The kernel names, such as `spidev0.0`.
  static func text(forNodes nodes: [String]) -> String {
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

  /// The contents of udev/60-uwb.rules, the target of the resource's link.
  static let text = String(decoding: PackageResources.uwb_rules, as: UTF8.self)
}
