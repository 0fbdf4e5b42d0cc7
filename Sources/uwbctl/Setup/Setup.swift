// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import Glibc
import SystemPackage

/// `uwbctl setup`: access to boards for ordinary users, through udev.
struct Setup: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show, install or remove the udev rules for UWB devices.",
    discussion: """
      Without --install or --remove nothing is changed: what would be is printed. The rules give the \
      logged-in user access to UWB boards, and the group \(UdevRules.group) on machines where nobody \
      logs in; they make names below /dev/uwb that stay the same, and keep ModemManager away.

      A spidev, a GPIO chip or a UART says nothing of what is wired to it: name those that lead to a \
      UWB chip with --node. Ends with 77 when it is not root who installs or removes.
      """)

  @Flag(help: "Write the rules, and let udev apply them. As root.") var install = false
  @Flag(help: "Remove what was installed. As root.") var remove = false
  @Option(
    name: .customLong("node"),
    help: "Also give access to this node, such as spidev0.0 or gpiochip0; may be repeated.")
  var nodes: [String] = []
  @Option(help: "The root folder of the system, for one that does not run.", completion: .directory)
  var root = "/"

  func validate() throws {
    guard !(install && remove) else { throw ValidationError("Give --install or --remove.") }
    guard nodes.isEmpty || !remove else { throw ValidationError("--remove takes no --node.") }
    for node in nodes where !Self.isNode(Self.name(node)) {
      throw ValidationError(
        "'\(printable(node))' is not a node: spidevB.C, gpiochipN or a tty, without wildcards.")
    }
  }

  func run() throws {
    let folder = FilePath(root)
    let plan =
      remove
      ? SetupPlan(removingFrom: folder)
      : SetupPlan(root: folder, nodes: nodes.map(Self.name).sorted())
    guard install || remove else { return show(plan) }
    if plan.isDone {
      standardOutput.write(remove ? "There is nothing to remove.\n" : "Installed already.\n")
      return
    }
    do throws(SetupPlan.Failure) {
      for line in try plan.carryOut() { standardOutput.write(printable(line) + "\n") }
    } catch .refused(let path, let errno) {
      throw Self.fail(path, errno, "sudo uwbctl setup " + (remove ? "--remove" : "--install"))
    }
    if folder == "/" { apply() }
    if install { standardOutput.write(groupAdvice) }
  }

  // MARK: what would be done

  private func show(_ plan: SetupPlan) {
    for file in plan.files {
      switch file.state {
      case .same: standardOutput.write("\(printable(file.path.string)): installed\n")
      case .missing: standardOutput.write("Would write \(printable(file.path.string)):\n")
      case .different:
        standardOutput.write(
          "Would write \(printable(file.path.string)), keeping the one that is there as .old:\n")
      }
      guard file.state != .same, let text = file.text else { continue }
      standardOutput.write(
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
          .map { $0.isEmpty ? "\n" : "  \($0)\n" }.joined())
    }
    standardOutput.write(groupAdvice)
    if plan.isDone {
      standardOutput.write("Nothing is left to do. To undo it: sudo uwbctl setup --remove\n")
    } else {
      let all = (["--install"] + nodes.map { "--node \($0)" }).joined(separator: " ")
      standardOutput.write(
        "Then: udevadm control --reload, udevadm trigger\n"
          + "Nothing was changed. To do it: sudo uwbctl setup \(printable(all))\n")
    }
  }

  /// On a machine where nobody sits at a seat, the group is what counts.
  private var groupAdvice: String {
    guard root == "/" else { return "" }
    guard getgrnam(UdevRules.group) != nil else {
      return "There is no group \(UdevRules.group) here: nodes keep the group they have.\n"
    }
    return "Over SSH, and for services, access needs the group: "
      + "sudo usermod -aG \(UdevRules.group) USER, then log in again.\n"
  }

  // MARK: helpers

  /// Lets udev read the rules and apply them to what is plugged in.
  private func apply() {
    let commands = [["control", "--reload"], ["trigger", "--subsystem-match=tty"]]
    let more = [
      ["trigger", "--subsystem-match=usb"], ["trigger", "--subsystem-match=spidev"],
      ["trigger", "--subsystem-match=gpio"], ["trigger", "--subsystem-match=misc"], ["settle"],
    ]
    for command in commands + more where !Self.succeeds(["udevadm"] + command) {
      standardError.write(
        "uwbctl: udevadm \(command.joined(separator: " ")) failed; does udev run here?\n"
          + "  try: replug the board, or restart the machine\n")
      return
    }
    standardOutput.write("udev has applied it to what is plugged in.\n")
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

  private static func fail(_ path: FilePath, _ errno: Errno, _ again: String) -> ExitCode {
    let isPermission = errno == .permissionDenied || errno == .notPermitted
    standardError.write(
      isPermission
        ? "uwbctl: Only root may change \(printable(path.string)).\n  try: \(again)\n"
        : "uwbctl: \(printable(path.string)) cannot be written: \(errno).\n")
    return ExitCode(
      (isPermission
        ? ExitStatus.permission
        : errno == .noSuchFileOrDirectory
          ? .cannotCreate : .system).rawValue)
  }

  /// A path or a name as the kernel's name.
  static func name(_ node: String) -> String {
    node.hasPrefix("/dev/") ? String(node.dropFirst(5)) : node
  }

  /// What goes into a rule: no quotes, no patterns.
  static func isNode(_ name: String) -> Bool {
    ["spidev", "gpiochip", "tty"].contains { name.hasPrefix($0) && name.count > $0.count }
      && name.utf8.allSatisfy { byte in
        byte == UInt8(ascii: ".") || (0x30...0x39).contains(byte)
          || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      }
  }
}
