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

/// Files that are not what a command reads, and the reports about them.
@Suite struct BadFileTests {
  private struct Scene: Codable, Equatable {
    var name: String?
    var walls: [[Double]]?
  }

  /// The first number beyond 1e12, wherever it stands, and the place of a mistake.
  @Test(arguments: [
    ("{walls: [[1, 1e12]]}", nil), ("{walls: [[1e12, -1e12], [0]]}", nil), ("{}", nil),
    ("{walls: [[1, 1.1e12]]}", "a number is out of range"),
    ("{walls: [[1, -1e13], [1e14]]}", "a number is out of range"),
    ("{walls: [[1e999]]}", ""), ("{walls: [[1, 2]}", ""), ("{wals: []}", "wals"),
    ("{walls: [1]}", ""), ("{walls: {}}", ""), ("{name: 7}", ""), ("[]", ""), ("", ""),
    ("{name: 'a', name: 'b'}", ""), ("{name: 'a'} {}", ""), ("\u{0}", ""), ("nul", ""),
  ]) func mistakesNameTheFileAndItsKind(_ text: String, _ part: String?) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = try folder.write(text, to: "scene.json")
    guard let part else {
      let _: Scene = try JSONFile.read(path, as: "a scene")
      return
    }
    let error = #expect(throws: FormatError.self) {
      let _: Scene = try JSONFile.read(path, as: "a scene")
    }
    #expect(error?.code == .badFile)
    #expect(error?.description.hasPrefix("\(path): not a scene: ") == true)
    #expect(error?.description.contains(part.isEmpty ? ":" : part) == true, "\(error!)")
    #expect(error?.description.hasSuffix(".") == true && error?.recoverySuggestion == nil)
  }

  @Test func nestedValuesAreWrittenAndReadAgain() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let scene = Scene(name: "a \"b\"\n\u{1B} 距离 \\", walls: [[], [-0.1, 1e-9], [1e12]])
    try JSONFile.write(scene, to: folder.path("scene.json"))
    let long = String(repeating: "x", count: 4 << 20)
    let refusal = #expect(throws: FormatError.self) {
      try JSONFile.write([long], to: folder.path("long.json"))
    }
    #expect(refusal?.description.hasSuffix("it is longer than 4 MiB.") == true)
    let absence = #expect(throws: FormatError.self) {
      let _: Scene = try JSONFile.read(folder.path("long.json"), as: "a scene")
    }
    #expect(absence?.description.contains("there is no such file") == true)
    #expect(try JSONFile.read(folder.path("scene.json"), as: "a scene") == scene)
    let error = #expect(throws: FormatError.self) {
      try JSONFile.write(scene, to: folder.path("none/scene.json"))
    }
    #expect(error?.code == .notCreated)
    #expect(error?.description.contains("there is no such file") == true)
  }

  @Test func aFileHasALimit() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = try folder.write("0123456789", to: "file")
    #expect(try contents(ofFile: path, limit: 10).count == 10)
    let error = #expect(throws: FormatError.self) { try contents(ofFile: path, limit: 9) }
    #expect(error?.description == "Cannot read \(path): it is longer than 9 bytes.")
    #expect(error?.recoverySuggestion == "Split it into several files.")
    for (other, cause) in [
      (folder.path(""), "it is a folder"), (folder.path("none"), "there is no such file"),
    ] {
      let error = #expect(throws: FormatError.self) { try contents(ofFile: other, limit: 9) }
      #expect(error?.description == "Cannot read \(other): \(cause).")
      #expect(error?.recoverySuggestion == nil && error?.code == .unreadable)
    }
  }
}
