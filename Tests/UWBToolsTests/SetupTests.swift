// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Glibc
import ProgramTestSupport
import SystemPackage
import Testing
import UWBTestSupport
import UWBTools

@Suite(.ownThreads) struct SetupTests {
  private func text(_ path: String) -> String? {
    guard let descriptor = try? FileDescriptor.open(FilePath(path), .readOnly) else { return nil }
    defer { try? descriptor.close() }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = (try? bytes.withUnsafeMutableBytes { try descriptor.read(into: $0) }) ?? 0
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  @Test func theRulesAreTheFileOfTheRepository() throws {
    let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let file = try #require(text("/\(folder)/udev/60-uwb.rules"))
    #expect(UdevRules.text == file)
  }

  @Test func installsOnceAndRemovesAll() throws {
    let machine = try FakeMachine()
    try machine.folder("etc")
    let root = FilePath(machine.root)
    let path = machine.root + "/etc/udev/rules.d/60-uwb.rules"
    let plan = SetupPlan(root: root, nodes: ["spidev0.0"])
    #expect(plan.files.map(\.state) == [.missing, .missing])
    #expect(text(path) == nil, "a plan changes nothing")
    #expect(try plan.carryOut().count == 2)
    #expect(text(path) == UdevRules.text)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o644)
    #expect(SetupPlan(root: root, nodes: ["spidev0.0"]).isDone)
    #expect(!SetupPlan(root: root, nodes: ["spidev1.0"]).isDone)
    #expect(SetupPlan(root: root, nodes: []).isDone, "nodes set up before stay")
    let removal = SetupPlan(removingFrom: root)
    #expect(!removal.isDone)
    #expect(try removal.carryOut().count == 2)
    #expect(text(path) == nil)
    #expect(SetupPlan(removingFrom: root).isDone)
  }

  @Test func changedFilesAreKept() throws {
    let machine = try FakeMachine()
    try machine.file("etc/udev/rules.d/60-uwb.rules", "# mine\n")
    let plan = SetupPlan(root: FilePath(machine.root), nodes: [])
    #expect(plan.files.map(\.state) == [.different])
    _ = try plan.carryOut()
    let path = machine.root + "/etc/udev/rules.d/60-uwb.rules"
    #expect(text(path) == UdevRules.text)
    #expect(text(path + ".old") == "# mine\n")
  }

  @Test func failuresNameTheFile() throws {
    let machine = try FakeMachine()
    try machine.file("etc/udev/rules.d", "a file where a folder should be")
    let plan = SetupPlan(root: FilePath(machine.root), nodes: [])
    #expect(throws: Failure.self) { _ = try plan.carryOut() }
  }

  /// Files and folders that other users have created where root is about to write.
  private static let traps: [(String, @Sendable (String) throws -> Void)] = [
    ("a link to a file", { try traps(at: $0 + "/60-uwb.rules") { symlink($1, $0) } }),
    ("a pipe", { try traps(at: $0 + "/60-uwb.rules") { path, _ in mkfifo(path, 0o600) } }),
    ("a folder", { try traps(at: $0 + "/60-uwb.rules") { path, _ in mkdir(path, 0o700) } }),
    (
      "a link as the copy of the former file",
      {
        try traps(at: $0 + "/60-uwb.rules.old") { symlink($1, $0) }
        try traps(at: $0 + "/60-uwb.rules") { path, _ in creat(path, 0o600) < 0 ? -1 : 0 }
      }
    ),
    (
      "a link as the folder",
      {
        rmdir($0); try traps(at: $0) { symlink($1 + "-folder", $0) }
      }
    ),
  ]

  private static func traps(at path: String, _ make: (String, String) -> Int32) throws {
    try #require(make(path, path.split(separator: "/etc/").map(String.init)[0] + "/victim") == 0)
  }

  /// Root must neither write through links nor wait for pipes, and must keep existing files.
  @Test(.timeLimit(.minutes(10)), arguments: traps.indices)
  func nothingButRegularFilesIsTouched(_ index: Int) throws {
    let machine = try FakeMachine()
    try machine.file("victim", "victim\n")
    try machine.file("victim-folder/kept", "")
    try machine.file("etc/udev/rules.d/x", "")
    unlink(machine.root + "/etc/udev/rules.d/x")
    let folder = machine.root + "/etc/udev/rules.d"
    try Self.traps[index].1(folder)
    for arguments in [["--install"], ["--remove"]] {
      let end = try ChildProcess.run(["setup"] + arguments + ["--root", machine.root])
      let status = end.status
      #expect(status == 0 || end.complaints.contains("  try: "), "\(end.complaints)")
      #expect(
        status == 73 || index >= 3 && arguments == ["--remove"], "\(Self.traps[index].0): \(status)"
      )
    }
    #expect(text(machine.root + "/victim") == "victim\n")
    #expect(text(machine.root + "/victim-folder/60-uwb.rules") == nil)
  }

  @Test func aLeftoverDraftIsNotWrittenTo() throws {
    let machine = try FakeMachine()
    try machine.file("victim", "victim\n")
    try machine.file("etc/udev/rules.d/x", "")
    let draft = machine.root + "/etc/udev/rules.d/60-uwb.rules.new"
    for make in [{ symlink(machine.root + "/victim", draft) }, { mkfifo(draft, 0o600) }] {
      #expect(make() == 0)
      unlink(machine.root + "/etc/udev/rules.d/60-uwb.rules")
      #expect(try SetupPlan(root: FilePath(machine.root), nodes: []).carryOut().count == 1)
      #expect(text(machine.root + "/victim") == "victim\n")
      #expect(text(machine.root + "/etc/udev/rules.d/60-uwb.rules") == UdevRules.text)
    }
  }

  @Test func aRootThatIsNoneIsATypingError() throws {
    let machine = try FakeMachine()
    for root in [machine.root + "/imgae", machine.root] {
      for arguments in [[], ["--install"], ["--remove"]] {
        #expect(try ChildProcess.run(["setup"] + arguments + ["--root", root]).status == 66)
      }
      #expect(access(root + "/etc", F_OK) != 0, "nothing was made")
    }
  }

  @Test(arguments: [
    ("spidev0.0", true), ("gpiochip4", true), ("ttyAMA0", true), ("spidev*", false),
    ("sda", false), ("tty", false), ("gpiochip0\", RUN+=\"x", false), ("", false),
  ])
  func nodeNamesAreChecked(_ name: String, _ isNode: Bool) {
    #expect(UdevRules.isNode(name) == isNode)
    #expect(UdevRules.name(of: "/dev/" + name) == name)
  }

  @Test func aNodeRuleNamesOnlyThatNode() {
    let text = UdevRules.text(forNodes: ["gpiochip0", "spidev0.0"])
    #expect(text.contains("KERNEL==\"spidev0.0\", MODE=\"0660\", GROUP=\"dialout\""))
    #expect(text.split(separator: "\n").count { $0.hasPrefix("KERNEL==") } == 2)
  }
}
