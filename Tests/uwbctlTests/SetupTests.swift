// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import SystemPackage
import Testing
import UWBTestSupport

@testable import uwbctl

@Suite struct SetupTests {
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

  @Test(arguments: [
    ("spidev0.0", true), ("gpiochip4", true), ("ttyAMA0", true), ("spidev*", false),
    ("sda", false), ("tty", false), ("gpiochip0\", RUN+=\"x", false), ("", false),
  ])
  func nodeNamesAreChecked(_ name: String, _ isNode: Bool) {
    #expect(Setup.isNode(name) == isNode)
    let arguments = ["--node", "/dev/" + name]
    #expect(((try? Setup.parse(arguments)) != nil) == isNode)
  }

  @Test func aNodeRuleNamesOnlyThatNode() {
    let text = UdevRules.text(forNodes: ["gpiochip0", "spidev0.0"])
    #expect(text.contains("KERNEL==\"spidev0.0\", MODE=\"0660\", GROUP=\"dialout\""))
    #expect(text.split(separator: "\n").count { $0.hasPrefix("KERNEL==") } == 2)
  }
}
