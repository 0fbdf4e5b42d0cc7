// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Foundation
import Testing
import UWBTestSupport

@testable import UWB
@testable import uwbctl

@Suite(.ownThreads) struct CalibrationTests {
  private static let backup = CalibrationBackup(
    format: CalibrationBackup.format, created: nil,
    device: .init(family: "Qorvo QM33", chipID: "0102", firmware: "1.1.0", uci: "2.0.0"),
    values: [.init(name: "xtal_trim", hex: "2e", text: "46")])

  @Test func nothingIsWrittenWithoutConfirmation() async throws {
    // Standard input is no terminal here.
    let command = try ChipCalibration.SetValues.parse(["xtal_trim=1"])
    let error = await #expect(throws: ExitCode.self) { try await command.run() }
    #expect(error?.rawValue == CommandSupport.ExitStatus.usage.rawValue)
    let consenting = try ChipCalibration.SetValues.parse(["xtal_trim=1", "--yes"])
    try await consenting.run()
  }

  @Test func aBackupOfAnotherFamilyIsRefused() async throws {
    let path = "/tmp/uwbctl-test-\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Self.backup.write(to: path)
    let other = try ChipCalibration.Restore.parse(
      [path, "--yes", "--sim-chip", "sr250", "--chip", "nxp"])
    let error = await #expect(throws: ExitCode.self) { try await other.run() }
    #expect(error?.rawValue == CommandSupport.ExitStatus.configuration.rawValue)
    try await ChipCalibration.Restore.parse([path, "--yes"]).run()
  }

  @Test func eachFailureHasItsStatus() {
    #expect(CommandSupport.ExitStatus(CalibrationError.unknownName("", nearest: [])) == .usage)
    #expect(
      CommandSupport.ExitStatus(CalibrationError.notKept(name: "", wrote: [], read: []))
        == .deviceFailure)
    #expect(CommandSupport.ExitStatus(CalibrationError.device(.closed)) == .deviceFailure)
  }
}
