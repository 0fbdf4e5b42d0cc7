// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWBSite

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check a site file.",
    discussion: """
      Prints the number of anchors, tags, zones, doors and floors, and the anchors without a place.

      Each problem of the file is a line with its field on standard error, and the status is 65. If \
      the file cannot be read, the status is 66.
      """)

  @Argument(help: "The site file.", completion: .file(extensions: ["json"]))
  var file: String

  func run() throws {
    try Terminal.run { () throws(CommandFailure) in
      try Terminal.write(Self.summary(SiteFiles.read(file)))
    }
  }

  /// Returns the lines about a file without problems.
  static func summary(_ site: Site) -> String {
    let counts = [
      (site.anchors.count, "anchor"), (site.tags.count, "tag"), (site.zones.count, "zone"),
      (site.doors.count, "door"), (site.floors.count, "floor"),
    ]
    let words = counts.map { "\($0) \($1)\($0 == 1 ? "" : "s")" }
    var lines = [words.joined(separator: ", ")]
    lines.append("gauge: \(site.gauge.kind.rawValue)")
    let unplaced = site.anchors.filter { $0.place == nil }.map(\.id)
    if !unplaced.isEmpty {
      lines.append("without a place: \(unplaced.joined(separator: ", "))")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
