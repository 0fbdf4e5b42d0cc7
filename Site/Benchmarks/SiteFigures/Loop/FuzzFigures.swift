// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SiteScenarios
import UWBSite

/// Damaged input, in numbers that tests have no time for.
struct FuzzFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fuzz",
    abstract: """
      Damaged lines of JSON, tables and PANS, up to the places; site files; histories; states; calls of the \
      service; requests of pages and frames of WebSocket.
      """)

  enum Part: String, ExpressibleByArgument, CaseIterable {
    case lines, site, history, state, service, web
  }

  @Option(help: "A part of the input; may be repeated.")
  var only: [Part] = []

  @Option(help: "Lines of each format, site files, files of a history, calls, and requests.")
  var count = 1_000_000

  @Option(help: "The seed of the changes.")
  var seed: UInt64 = 1

  func run() throws {
    let wrong = try (only.isEmpty ? Part.allCases : only).flatMap { part in
      switch part {
      case .lines: try damagedLines()
      case .site: damagedSites()
      case .history: try damagedHistories()
      case .state: try damagedStates()
      case .service: try damagedCalls()
      case .web: try damagedRequests()
      }
    }
    for sentence in wrong { print("WRONG: \(sentence)") }
    if !wrong.isEmpty { throw ExitCode.failure }
  }

  // MARK: parts, which return the first wrong results

  private func damagedLines() throws -> [String] {
    var wrong: [String] = []
    for format in InputFuzz.Format.allCases {
      var fuzz = try InputFuzz(format, Self.site(), seed: seed)
      let result = try fuzz.run(count)
      print(
        "\(format.rawValue): \(result.lines) lines, \(result.measurements) measurements, "
          + "\(result.bad) bad lines with their field, \(result.places) places")
      wrong += result.wrong
    }
    return wrong
  }

  private func damagedSites() -> [String] {
    var fuzz = SiteFileFuzz(seed: seed)
    let files = fuzz.run(count)
    print(
      "site: \(files.files) files, \(files.readable) readable, \(files.problems) problems, "
        + "\(files.named) with their field")
    return files.wrong
  }

  private func damagedHistories() throws -> [String] {
    let folder = FileManager.default.temporaryDirectory.path() + "/fuzz-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var fuzz = try HistoryFuzz(folder: folder, seed: seed)
    let result = try fuzz.run(count)
    print(
      "history: \(result.files) files, \(result.refused) refused with their name, "
        + "\(result.places) places")
    return result.wrong
  }

  private func damagedStates() throws -> [String] {
    var fuzz = try StateFuzz(seed: seed)
    let result = try fuzz.run(count)
    print("state: \(result.states) states, \(result.resumed) continued, \(result.refused) refused")
    return result.wrong
  }

  private func damagedCalls() throws -> [String] {
    var fuzz = try ServiceFuzz(Self.site(), seed: seed)
    let result = try fuzz.run(count)
    print(
      "service: \(result.calls) calls, \(result.results) results, \(result.errors) errors with "
        + "their reason")
    return result.wrong
  }

  private func damagedRequests() throws -> [String] {
    var fuzz = try WebFuzz(Self.site(), seed: seed)
    let result = try fuzz.run(count)
    print(
      "web: \(result.requests) requests, \(result.accepted) answered, \(result.refused) refused "
        + "with a sentence, \(result.closed) connections closed")
    return result.wrong
  }

  /// Returns the site with the names of the seeds.
  private static func site() throws -> Site {
    let text = """
      {"version": 1, "gauge": {"kind": "measured"}, "anchors": [
        {"id": "A0", "addresses": ["0x0a00"], "position_m": [0, 0, 2], "position_sd_m": [0, 0, 0]},
        {"id": "A1", "addresses": ["0x0a01"], "position_m": [9, 0, 3], "position_sd_m": [0, 0, 0]},
        {"id": "A2", "position_m": [9, 8, 2], "position_sd_m": [0, 0, 0]}],
       "tags": [{"id": "T", "height_m": 1}, {"id": "U", "height_m": 1}],
       "zones": [{"id": "Z", "polygon_m": [[1, 1], [5, 1], [5, 5]]}]}
      """
    return try Site(json: Array(text.utf8))
  }
}
