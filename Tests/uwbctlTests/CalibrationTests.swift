// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Formats
import Foundation
import Glibc
import ProgramTestSupport
import Testing
import UWBSimulator
import UWBTestSupport

@testable import UWB
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct CalibrationTests {
  private static let backup = CalibrationBackup(
    format: CalibrationBackup.format, created: nil,
    device: .init(family: "Qorvo QM33", chipID: "0102", firmware: "1.1.0", uci: "2.0.0"),
    values: [.init(name: "xtal_trim", hex: "2e", text: "46")])

  @Test func nothingIsWrittenWithoutConfirmation() throws {
    // Standard input is not a terminal here.
    let refused = try ChildProcess.run(["calibrate", "set", "xtal_trim=1"])
    #expect(refused.status == 64 && refused.complaints.contains("--yes"))
    #expect(try ChildProcess.run(["calibrate", "set", "xtal_trim=1", "--yes"]).status == 0)
  }

  @Test func aBackupOfAnotherFamilyIsRefused() throws {
    let path = "/tmp/uwbctl-test-\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Self.backup.write(to: path)
    let restore = ["calibrate", "restore", path, "--yes"]
    let refused = try ChildProcess.run(restore + ["--sim-chip", "sr250", "--chip", "nxp"])
    #expect(refused.status == 78 && refused.complaints.contains("Qorvo QM33"))
    #expect(try ChildProcess.run(restore).status == 0)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, nil])
  func anEndAtTheQuestionWritesNothing(_ signal: Int32?) throws {
    let bench = SimulatedBench(scene: Scene(seed: 8))
    let chip = try bench.add(profile: .qm33, at: SIMD3(0, 0, 1))
    bench.start()
    defer { bench.stop() }
    let set = ["calibrate", "set", "xtal_trim=1", "--device", chip.path]
    let session = try TerminalSession(set)
    try session.expect("? [y/N] ")
    if let signal { session.signal(signal) } else { session.answer("n") }
    #expect(try session.status() == ExitStatus.unfinished.rawValue)
    #expect(session.seen.contains("Nothing was written."))
    let present = try ChildProcess.run(["calibrate", "get", "xtal_trim", "--device", chip.path])
    #expect(present.status == 0 && !present.output.hasSuffix(" 1\n"), "\(present.output)")
  }

  /// A signal ends each command that waits for a chip in order.
  @Test(arguments: [["info"], ["calibrate", "get"], ["calibrate", "backup", "-"]])
  func aSignalEndsACommandThatWaits(_ command: [String]) throws {
    let isAsked = DispatchSemaphore(value: 0)
    let silent = try ScriptedTerminal { _ in
      isAsked.signal()
      return []
    }
    let child = try ChildProcess(command + ["--device", silent.path])
    #expect(isAsked.wait(timeout: .now() + 600) == .success)
    let end = child.interrupt()
    silent.hangUp()
    let status = command[0] == "info" ? ExitStatus.success : .unfinished
    #expect(end.status == status.rawValue, "\(end.complaints)")
  }

  @Test func sentencesFitANarrowTerminal() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = folder.path("b.json")
    for command in [
      ["calibrate", "backup", file], ["calibrate", "restore", file],
      ["monitor", "--reset", "--only", "data", "-t", "0.1"],
    ] {
      let session = try TerminalSession(command, columns: 40)
      #expect(try session.status() == 0, "\(session.seen)")
      #expect(session.screen.wraps == 0, "\(session.screen.lines)")
    }
  }
}
