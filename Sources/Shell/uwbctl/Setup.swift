// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Glibc
import System
import SystemPackage
import UWBLink
import UWBTools

struct Setup: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show, install or remove the udev rules for devices.",
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
    for node in nodes where !UdevRules.isNode(UdevRules.name(of: node)) {
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
      : SetupPlan(root: folder, nodes: nodes.map(UdevRules.name(of:)).sorted())
    guard install || remove else { return show(plan) }
    if plan.isDone {
      standardOutput.write(remove ? "There is nothing to remove.\n" : "Already installed.\n")
      return
    }
    for line in try plan.carryOut() { standardOutput.write(lines: printable(line) + "\n") }
    if folder == "/" { apply() }
    if install { standardOutput.write(lines: groupAdvice) }
  }

  // MARK: the plan

  private func show(_ plan: SetupPlan) {
    for file in plan.files {
      switch file.state {
      case .same: standardOutput.write(lines: "\(printable(file.path.string)): installed\n")
      case .obstructed:
        standardOutput.write(
          lines: "\(printable(file.path.string)): not a regular file; not replaced\n")
      case .missing: standardOutput.write(lines: "Would write \(printable(file.path.string)):\n")
      case .different:
        standardOutput.write(
          lines: "Would write \(printable(file.path.string)), keeping the present one as .old:\n")
      }
      guard file.state == .missing || file.state == .different, let text = file.text else {
        continue
      }
      standardOutput.write(
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
          .map { $0.isEmpty ? "\n" : "  \($0)\n" }.joined())
    }
    standardOutput.write(lines: groupAdvice)
    if plan.isDone {
      standardOutput.write(
        lines: "Nothing to do. To remove the rules: sudo uwbctl setup --remove\n")
    } else {
      let all = (["--install"] + nodes.map { "--node \($0)" }).joined(separator: " ")
      standardOutput.write(
        lines: "Then: udevadm control --reload, udevadm trigger\n"
          + "Nothing was changed. To install: sudo uwbctl setup \(printable(all))\n")
    }
  }

  /// The advice for users without a local login, who need the group.
  private var groupAdvice: String {
    guard root == "/" else { return "" }
    guard unsafe getgrnam(UdevRules.group) != nil else {
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
    standardOutput.write(lines: "udev has applied the change to present devices.\n")
  }

  private static func succeeds(_ arguments: [String]) -> Bool {
    var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var pid = pid_t()
    guard unsafe posix_spawnp(&pid, arguments[0], nil, nil, &words, environ) == 0 else {
      return false
    }
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0 { guard errno == EINTR else { return false } }
    return status == 0
  }
}
