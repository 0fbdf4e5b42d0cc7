// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import UWB

@testable import uwbctl

@Suite struct CalibrationTests {
  private static let backup = CalibrationBackup(
    format: CalibrationBackup.format, created: nil,
    device: .init(family: "Qorvo QM33", chipID: "0102", firmware: "1.1.0", uci: "2.0.0"),
    values: [.init(name: "xtal_trim", hex: "2e", text: "46")])

  @Test func aBackupIsAFile() throws {
    let path = "/tmp/uwbctl-test-\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try BackupFile.write(Self.backup, to: path)
    #expect(try BackupFile.read(path) == Self.backup)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains("\"chip_id\" : \"0102\""))
    try text.replacingOccurrences(of: "calibration 1", with: "calibration 2")
      .write(toFile: path, atomically: true, encoding: .utf8)
    #expect(throws: BackupFile.NoBackup.self) { try BackupFile.read(path) }
    try "[]".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(throws: DecodingError.self) { try BackupFile.read(path) }
    #expect(throws: CaptureError.self) { try BackupFile.read(path + ".missing") }
  }

  @Test func withoutAskingNothingIsWritten() async throws {
    // Standard input is no terminal here.
    let command = try CalibrationCommand.SetValues.parse(["xtal_trim=1"])
    let error = await #expect(throws: ExitCode.self) { try await command.run() }
    #expect(error?.rawValue == uwbctl.ExitStatus.usage.rawValue)
    let consenting = try CalibrationCommand.SetValues.parse(["xtal_trim=1", "--yes"])
    try await consenting.run()
  }

  @Test func aBackupOfAnotherFamilyIsRefused() async throws {
    let path = "/tmp/uwbctl-test-\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try BackupFile.write(Self.backup, to: path)
    let other = try CalibrationCommand.Restore.parse(
      [path, "--yes", "--sim-chip", "sr250", "--chip", "nxp"])
    let error = await #expect(throws: ExitCode.self) { try await other.run() }
    #expect(error?.rawValue == uwbctl.ExitStatus.configuration.rawValue)
    try await CalibrationCommand.Restore.parse([path, "--yes"]).run()
  }

  @Test func eachFailureHasItsStatus() {
    #expect(uwbctl.ExitStatus(CalibrationError.unknownName("", nearest: [])) == .usage)
    #expect(
      uwbctl.ExitStatus(CalibrationError.notKept(name: "", wrote: [], read: [])) == .deviceFailure)
    #expect(uwbctl.ExitStatus(CalibrationError.device(.closed)) == .deviceFailure)
  }
}
