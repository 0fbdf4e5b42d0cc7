// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import Glibc
import SystemPackage

struct Setup: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show, install or remove the udev rules for UWB devices.",
    discussion: """
      Without --install or --remove, prints what would change. The rules give access to UWB boards to \
      the logged-in user and to the group \(UdevRules.group), create stable names below /dev/uwb, and \
      make ModemManager ignore the boards.

      The system cannot tell what a spidev, a GPIO chip or a UART is wired to: name those of a UWB \
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
    guard !(install && remove) else { throw ValidationError("Give either --install or --remove.") }
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
      standardOutput.write(remove ? "There is nothing to remove.\n" : "Already installed.\n")
      return
    }
    try reporting {
      do throws(SetupPlan.Failure) {
        for line in try plan.carryOut() { standardOutput.write(printable(line) + "\n") }
      } catch .refused(let path, let errno) {
        throw failure(path, errno)
      }
    }
    if folder == "/" { apply() }
    if install { standardOutput.write(groupAdvice) }
  }

  // MARK: the plan

  private func show(_ plan: SetupPlan) {
    for file in plan.files {
      switch file.state {
      case .same: standardOutput.write("\(printable(file.path.string)): installed\n")
      case .missing: standardOutput.write("Would write \(printable(file.path.string)):\n")
      case .different:
        standardOutput.write(
          "Would write \(printable(file.path.string)), keeping the present one as .old:\n")
      }
      guard file.state != .same, let text = file.text else { continue }
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

  /// Without a local login, only the group gives access.
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
    let commands = [["control", "--reload"], ["trigger", "--subsystem-match=tty"]]
    let more = [
      ["trigger", "--subsystem-match=usb"], ["trigger", "--subsystem-match=spidev"],
      ["trigger", "--subsystem-match=gpio"], ["trigger", "--subsystem-match=misc"], ["settle"],
    ]
    for command in commands + more where !Self.succeeds(["udevadm"] + command) {
      standardError.write(
        "uwbctl: udevadm \(command.joined(separator: " ")) failed; is udev running?\n"
          + "  try: Replug the board, or restart the machine.\n")
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

  private func failure(_ path: FilePath, _ errno: Errno) -> Failure {
    if errno == .permissionDenied || errno == .notPermitted {
      return Failure(
        .permission, "Only root can change \(path).",
        try: "sudo uwbctl setup " + (remove ? "--remove" : "--install"))
    }
    return Failure(
      errno == .noSuchFileOrDirectory ? .cannotCreate : .system, "Cannot write \(path): \(errno).")
  }

  /// The kernel's name of a path or name.
  static func name(_ node: String) -> String {
    node.hasPrefix("/dev/") ? String(node.dropFirst(5)) : node
  }

  /// Whether a name is safe in a rule: without quotes and patterns.
  static func isNode(_ name: String) -> Bool {
    ["spidev", "gpiochip", "tty"].contains { name.hasPrefix($0) && name.count > $0.count }
      && name.utf8.allSatisfy { byte in
        byte == UInt8(ascii: ".") || (0x30...0x39).contains(byte)
          || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      }
  }
}
