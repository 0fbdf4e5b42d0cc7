// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ranging
import Testing
import UWBTestSupport

@testable import Formats
@testable import UWB

@Suite(.ownThreads) struct FileTests {
  @Test func aBackupIsAFile() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let backup = CalibrationBackup(
      format: CalibrationBackup.format, created: nil,
      device: .init(family: "Qorvo QM33", chipID: "0102", firmware: "1.1.0", uci: "2.0.0"),
      values: [.init(name: "xtal_trim", hex: "2e", text: "46")])
    let path = folder.path("backup.json")
    try backup.write(to: path)
    #expect(try CalibrationBackup(file: path) == backup)
    let text = try folder.read("backup.json")
    #expect(text.contains("\"chip_id\" : \"0102\""))
    for bad in [text.replacing("calibration 1", with: "calibration 2"), "[]"] {
      _ = try folder.write(bad, to: "backup.json")
      let error = #expect(throws: FormatError.self) { try CalibrationBackup(file: path) }
      #expect(error?.code == .badFile)
    }
    let missing = #expect(throws: FormatError.self) {
      try CalibrationBackup(file: path + ".missing")
    }
    #expect(missing?.code == .unreadable)
  }

  @Test func aCalibrationIsReadWithItsFormatAndVersion() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = try folder.write("{delay_m: 0.25, /* JSON5 */}", to: "board.json")
    #expect(try RangingCalibration.read(path).delay == 0.25)
    for bad in [
      #"{"format": "other"}"#, #"{"version": 2}"#, #"{"dellay_m": 1}"#, #"{"delay_m": 1e19}"#,
    ] {
      _ = try folder.write(bad, to: "board.json")
      let error = #expect(throws: FormatError.self) { try RangingCalibration.read(path) }
      #expect(error?.code == .badFile)
    }
    let missing = #expect(throws: FormatError.self) { try RangingCalibration.read(path + ".no") }
    #expect(missing?.code == .unreadable)
  }
}
