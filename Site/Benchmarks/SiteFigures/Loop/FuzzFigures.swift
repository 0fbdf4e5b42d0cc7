// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SiteScenarios
import UWBSite

/// Damaged input, in numbers that tests have no time for.
struct FuzzFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fuzz",
    abstract: "Damaged lines of JSON, tables and PANS, up to the places; site files; histories.")

  @Option(help: "Lines of each format, site files, and files of a history.")
  var count = 1_000_000

  @Option(help: "The seed of the changes.")
  var seed: UInt64 = 1

  /// Reads damaged files of a history; returns whether a refusal does not name its file.
  private func damagedHistories() throws -> Bool {
    let folder = FileManager.default.temporaryDirectory.path() + "/fuzz-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var fuzz = try HistoryFuzz(folder: folder, seed: seed)
    let result = try fuzz.run(count)
    print(
      "history: \(result.files) files, \(result.refused) refused with their name, "
        + "\(result.places) places")
    for sentence in result.wrong { print("  WRONG: \(sentence)") }
    return !result.wrong.isEmpty
  }

  func run() throws {
    var isWrong = false
    // The names of the lines' seeds.
    let text = """
      {"version": 1, "gauge": {"kind": "measured"}, "anchors": [
        {"id": "A0", "addresses": ["0x0a00"], "position_m": [0, 0, 2], "position_sd_m": [0, 0, 0]},
        {"id": "A1", "addresses": ["0x0a01"], "position_m": [9, 0, 3], "position_sd_m": [0, 0, 0]},
        {"id": "A2", "position_m": [9, 8, 2], "position_sd_m": [0, 0, 0]}],
       "tags": [{"id": "T", "height_m": 1}, {"id": "U", "height_m": 1}],
       "zones": [{"id": "Z", "polygon_m": [[1, 1], [5, 1], [5, 5]]}]}
      """
    let site = try Site(json: Array(text.utf8))
    for format in InputFuzz.Format.allCases {
      var fuzz = try InputFuzz(format, site, seed: seed)
      let result = try fuzz.run(count)
      print(
        "\(format.rawValue): \(result.lines) lines, \(result.measurements) measurements, "
          + "\(result.bad) bad lines with their field, \(result.places) places")
      for sentence in result.wrong { print("  WRONG: \(sentence)") }
      isWrong = isWrong || !result.wrong.isEmpty
    }
    var fuzz = SiteFileFuzz(seed: seed)
    let files = fuzz.run(count)
    print(
      "site: \(files.files) files, \(files.readable) readable, \(files.problems) problems, "
        + "\(files.named) with their field")
    for sentence in files.wrong { print("  WRONG: \(sentence)") }
    isWrong = try damagedHistories() || isWrong
    if isWrong || !files.wrong.isEmpty { throw ExitCode.failure }
  }
}
