// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import ProgramTestSupport
import Testing
import UWBTestSupport
import UWBTools
import uwbctl

/// The documented keys equal the printed keys.
@Suite(.ownThreads) struct JSONTests {
  private static func lines(_ arguments: [String]) throws -> [[String: Any]] {
    try ChildProcess.run(arguments).objects()
  }

  /// `receivers[].antenna` and so on.
  private static func paths(_ object: [String: Any], _ prefix: String = "") -> Set<String> {
    var found: Set<String> = []
    for (key, value) in object {
      found.insert(prefix + key)
      if let list = value as? [[String: Any]] {
        for entry in list { found.formUnion(paths(entry, prefix + key + "[].")) }
      } else if let inner = value as? [String: Any] {
        found.formUnion(paths(inner, prefix + key + "."))
      }
    }
    return found
  }

  private static let short = ["-n", "20", "--gap", "500"]

  static let runs: [(command: String, arguments: [String])] = [
    ("doctor", ["doctor", "sim"]), ("info", ["info"]),
    ("simulate", ["simulate", "--duration", "0"]),
    ("range", ["range", "-n", "2"]), ("range", ["range", "-n", "2", "--diagnostics"]),
    ("range --role dl-tdoa-tag", ["range", "-n", "1", "--role", "dl-tdoa-tag"]),
    ("range --role dl-tdoa-tag", ["range", "-n", "2", "--role", "ul-tdoa-anchor"]),
    ("range --role dl-tdoa-tag", ["range", "-n", "1", "--role", "aoa-observer"]),
    ("test per-rx", ["test", "per-rx"] + short),
    (
      "test per-rx",
      ["test", "per-rx", "--sim-chip", "sr250", "--chip", "nxp"] + short
    ),
    ("test periodic-tx", ["test", "periodic-tx"] + short), ("test rx", ["test", "rx"] + short),
    ("test loopback", ["test", "loopback", "--sim-chip", "fira1"]),
    ("test ss-twr", ["test", "ss-twr"]),
    ("test sr-rx", ["test", "sr-rx", "--sim-chip", "sr250", "--chip", "nxp"] + short),
    ("calibrate list", ["calibrate", "list"]), ("calibrate get", ["calibrate", "get"]),
    ("calibrate set", ["calibrate", "set", "xtal_trim=1", "--yes"]),
    ("caps", ["caps"]), ("config get", ["config", "get"]), ("config list", ["config", "list"]),
    ("config set", ["config", "set", "LOW_POWER_MODE=1"]), ("reset", ["reset"]),
    ("send", ["send", "20", "02", "00", "00"]), ("explain", ["explain", "0x21"]),
    ("decode", ["decode", "6001000101"]),
    ("accessory", ["accessory", "-n", "1", "--listen", "tcp:0"]),
    (
      "accessory",
      ["accessory", "-n", "9", "--listen", "tcp:0", "--region", "near=9", "--on-enter", "true"]
    ),
    ("find", ["find", "-n", "2"]), ("peer", ["peer", "-n", "2"]),
  ]

  @Test(arguments: runs.indices)
  func documentedKeysMatchTheOutput(_ index: Int) throws {
    let run = Self.runs[index]
    try Self.check(run.command, Self.lines(run.arguments + ["--format", "json"]))
  }

  private static func check(_ command: String, _ lines: [[String: Any]]) throws {
    let entry = try #require(JSONCatalog.all.first { $0.command == command })
    let known = Set(entry.keys.map(\.path))
    let needed = Set(entry.keys.filter { !$0.isOptional }.map(\.path))
    #expect(!lines.isEmpty, "\(command) printed nothing")
    for line in lines {
      let printed = paths(line)
      if !entry.hasMore {
        #expect(printed.subtracting(known).isEmpty, "\(command): not documented")
      }
      #expect(needed.subtracting(printed).isEmpty, "\(command): documented, not printed")
    }
  }

  @Test func replayPrintsTheMeasurementsOfACapture() throws {
    let file = "/tmp/uwbctl-test-\(UUID().uuidString).pcapng"
    defer { try? FileManager.default.removeItem(atPath: file) }
    _ = try Self.lines(["range", "-n", "1", "--capture", file, "--format", "json"])
    try Self.check("replay", Self.lines(["replay", file, "--format", "json"]))
    try Self.check(
      "replay --as-device",
      Self.lines(["replay", file, "--as-device", "--duration", "0.01", "--format", "json"]))
  }

  @Test func problemsOfAProfile() throws {
    let file = "/tmp/uwbctl-test-\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: file) }
    let profile = #"{"session_id": 1, "parameters": {"SLOTS_PER_RR": 1, "CHANNEL_NUMBER": 9}}"#
    try profile.write(toFile: file, atomically: true, encoding: .utf8)
    try Self.check(
      "profile check", Self.lines(["profile", "check", file, "--format", "json"]))
  }

  @Test func aComparison() throws {
    let files = (0..<2).map { _ in "/tmp/uwbctl-test-\(UUID().uuidString)" }
    defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
    // A session's id, then one parameter.
    for (file, id) in zip(files, ["01", "02"]) {
      try "21 00 00 05 \(id) 00 00 00 00\n41 00 00 01 00\n21 03 00 08 \(id) 00 00 00 01 04 01 09\n"
        .write(toFile: file, atomically: false, encoding: .utf8)
    }
    try Self.check("diff", Self.lines(["diff"] + files + ["--format", "json"]))
  }

  @Test func eachCommandThatPrintsJSONIsDocumented() {
    let documented = Set(JSONCatalog.all.map(\.command))
    #expect(documented.count == JSONCatalog.all.count, "a command has two entries")
    for (path, command) in ShellTests.commands
    where command.arguments?.contains(where: { $0.preferredName?.name == "format" }) == true {
      let name = path.dropFirst().joined(separator: " ")
      #expect(documented.contains(name), "\(name) has no entry in JSONCatalog")
    }
  }

  @Test func documentedCommandsExist() {
    let names = Set(ShellTests.commands.map { $0.path.dropFirst().joined(separator: " ") })
    for entry in JSONCatalog.all where !entry.command.contains("--") {
      #expect(names.contains(entry.command), "\(entry.command)")
    }
  }
}
