// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import ProgramTestSupport
import Testing
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
}
