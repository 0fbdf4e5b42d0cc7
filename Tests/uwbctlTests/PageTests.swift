// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Formats
import Foundation
import Testing
import UWBTestSupport

@testable import UWBLink
import UWBTools
import uwbctl

/// The reference pages of the documentation agree with the code.
@Suite(.ownThreads) struct PageTests {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Documentation/swift-uwb.docc")

  private static func page(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  /// The cells of the table below a heading.
  private static func table(_ heading: String, of name: String) throws -> [[String]] {
    let lines = try page(name).components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: heading), "\(name): \(heading)")
    let rows = lines[start...].drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
    return rows.dropFirst(2).map { row in
      row.components(separatedBy: " | ").map { $0.trimmingCharacters(in: ["|", " "]) }
    }
  }

  /// The text between backticks.
  private static func code(_ cell: String) -> [String] {
    cell.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
  }

  // MARK: exit codes

  @Test func everyStatusIsListedAndNoOther() throws {
    let listed = try Self.table("## Statuses", of: "ExitCodes.md").compactMap { Int32($0[0]) }
    #expect(listed == listed.sorted())
    // 141 is SIGPIPE's, as a shell counts it.
    #expect(listed == ExitStatus.allCases.map(\.rawValue) + [128 + SIGPIPE])
  }

  // MARK: JSON

  /// The expected text of the page. `UWB_PAGES=write swift test --filter PageTests` writes it.
  private static var keys: String {
    // Two hyphens in prose would become a dash.
    func escaped(_ text: String) -> String {
      text.replacingOccurrences(of: "|", with: "\\|")
        .replacingOccurrences(of: "--[a-z-]+", with: "`$0`", options: .regularExpression)
    }
    var text = """
      # JSON keys

      The output of each command with `--format json`.

      ## Overview

      Commands with `--format json` print one object a line. Keys end with their units: `_s`, `_us` and
      `_ns` are seconds, micro- and nanoseconds, `_m` and `_cm` metres and centimetres, `_deg` degrees,
      `_dbm` and `_db` decibels, `_ppm` parts per million. Keys never change their names and meanings,
      but new ones may be added. Unknown values are null. `uwbctl json COMMAND` prints the same tables.

      """
    for entry in JSONCatalog.all {
      text += "\n## \(escaped(entry.command))\n\nOne object for each \(entry.each).\n\n"
      text += "| key | meaning |\n|---|---|\n"
      for key in entry.keys {
        let missing = key.isOptional ? "; may be missing" : ""
        text += "| `\(key.path)` | \(escaped(key.meaning))\(missing) |\n"
      }
      if entry.hasMore { text += "| … | the fields of the message |\n" }
    }
    return text
  }

  @Test func everyKeyIsListed() throws {
    if ProcessInfo.processInfo.environment["UWB_PAGES"] == "write" {
      let file = Self.folder.appending(path: "JSONKeys.md")
      try Self.keys.write(to: file, atomically: true, encoding: .utf8)
    }
    let agrees = try Self.page("JSONKeys.md") == Self.keys
    #expect(agrees, "JSONKeys.md is old: UWB_PAGES=write swift test --filter PageTests")
  }

  // MARK: devices

  /// The forms on the page, without the form that only the shell supports.
  private static func forms() throws -> [String] {
    try table("## Forms", of: "DeviceNames.md").flatMap { code($0[0]) }
      .filter { $0 != DeviceOptions.simulated }
  }

  @Test func everyFormIsADevice() throws {
    for form in try Self.forms() { _ = try LinkEndpoint(form) }
    let schemes = try Set(Self.forms().compactMap { try EndpointText($0).scheme })
    #expect(schemes == Set(LinkEndpoint.schemes))
  }

  @Test func everyChipIsListed() throws {
    let row = try #require(
      Self.table("## Options", of: "DeviceNames.md").first { $0[0] == "`chip=`" })
    #expect(Set(Self.code(row[2])) == Set(SPIEndpoint.Chip.allCases.map(\.rawValue)))
  }

  @Test func everyOptionIsListedAndNoOther() throws {
    let listed = try Self.table("## Options", of: "DeviceNames.md").flatMap { Self.code($0[0]) }
    var known: Set<String> = []
    for form in try Self.forms() where !form.hasPrefix("tcp:") {
      // The error names the available options.
      let error = #expect(throws: LinkError.self) {
        try LinkEndpoint(form + (form.contains("?") ? "&" : "?") + "nonsense")
      }
      let detail = try #require(error?.detail)
      let list = try #require(detail.components(separatedBy: "is not an option; ").last)
      for option in list.components(separatedBy: ", ") {
        known.insert(
          option.replacingOccurrences(of: " are", with: "").replacingOccurrences(of: "…", with: ""))
      }
    }
    #expect(Set(listed) == known)
    #expect(Set(listed).count == listed.count)
  }
}
